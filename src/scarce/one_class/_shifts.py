"""Where the rows most likely were: steps towards acceptance inside their radii."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array
from scarce.kernels import Kernel, score_gradients, weighted_scores

NO_DIRECTION = 1e-12  # a gradient shorter than this points nowhere
HALVINGS = 20


def proposed_shifts(
    X: Array, tasks: Array, radii: Array, support: Array, weights: Array, kernel: Kernel
) -> Array:
    """Return the step to the edge of each row's ball along the gradient of its score.

    It is exact for a linear kernel and of first order for others. The gradient is taken at the
    recorded row; the expansion is that of the moved rows.
    """
    gradients = score_gradients(X, support, weights, kernel, tasks)
    lengths = np.linalg.norm(gradients, axis=1)
    scale = np.divide(radii, lengths, out=np.zeros_like(radii), where=lengths > NO_DIRECTION)
    return np.asarray(scale[:, None] * gradients)


def guarded_shifts(
    X: Array,
    tasks: Array,
    old: Array,
    new: Array,
    old_scores: Array,
    support: Array,
    weights: Array,
    kernel: Kernel,
) -> tuple[Array, int]:
    """Return shifts that lower no row's score, and how many halvings that took.

    A step that loses against the shift in force is halved; after too many halvings the old shift
    stays. Every slack is then no larger than before, and so is the objective.
    """
    shifts = new.copy()
    open_rows = np.flatnonzero((new != old).any(axis=1))
    halvings = 0
    for attempt in range(HALVINGS + 1):
        if open_rows.size == 0:
            break
        points = X[open_rows] + shifts[open_rows]
        scores = weighted_scores(points, support, weights, kernel, tasks[open_rows])
        open_rows = open_rows[scores < old_scores[open_rows]]
        if attempt < HALVINGS:
            shifts[open_rows] *= 0.5
            halvings += open_rows.size
    shifts[open_rows] = old[open_rows]
    return shifts, halvings
