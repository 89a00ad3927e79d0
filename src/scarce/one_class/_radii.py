"""Bounds on how far each recorded row may be off its true position."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels import Kernel, gradient_names

SHARE = 0.1  # neighbours counted, as a share of the target's rows


def neighbour_radii(X: Any, tasks: Array, weights: Array, n_neighbors: int | None = None) -> Array:
    """Return each row's mean distance to its nearest others of the same task.

    The number of neighbours is a tenth of the target's rows (task 0) by default, at least one, and
    at most all others of the task; the only row of a task has radius 0. Rows are counted by their
    weights, so that a row of weight 2 is its own nearest neighbour, as if it were given twice.
    """
    from sklearn.neighbors import NearestNeighbors  # loads half of scikit-learn

    # Rounded twice, lest a sum of fractions fall just short of a half.
    share = round(round(SHARE * float(weights[tasks == 0].sum()), 9))
    wanted = max(1, share) if n_neighbors is None else n_neighbors
    radii = np.zeros(X.shape[0])
    for task in np.unique(tasks):
        members = np.flatnonzero(tasks == task)
        own = weights[members]
        count = min(float(wanted), float(own.sum()) - 1.0)
        if count <= 0:
            continue
        # As many as are needed if all of them were the lightest; the row itself comes first.
        enough = int(np.searchsorted(np.cumsum(np.sort(own)), 1.0 + count)) + 1
        search = NearestNeighbors(n_neighbors=min(enough, members.size)).fit(X[members])
        distances, near = search.kneighbors(X[members])
        # The mean over the weight that comes after a first unit, which is the row itself.
        reached = np.clip(np.cumsum(own[near], axis=1), 1.0, 1.0 + count)
        counted = np.diff(reached, axis=1, prepend=1.0)
        radii[members] = (counted * distances).sum(axis=1) / count
    return radii


def checked_radii(sample_radius: Any, n_rows: int) -> Array:
    """Return one radius per row, as given."""
    radii = np.asarray(sample_radius, dtype=np.float64)
    if radii.shape != (n_rows,):
        raise ValueError(
            f"sample_radius must have one value per row, {n_rows}, got shape {radii.shape}"
        )
    wrong = radii[~(np.isfinite(radii) & (radii >= 0))]
    if wrong.size:
        raise ValueError(f"sample_radius must be finite and not negative, got {wrong[0]}")
    return radii


def check_movable(X: Any, kernel: Any, kind: type[Kernel]) -> None:
    """Refuse positive radii where rows cannot be moved."""
    if not kind.has_gradient:
        raise ValueError(
            "a positive radius moves rows along the kernel's gradient, which kernel="
            f"{kernel!r} does not have; use {', '.join(gradient_names())}, or radius=0"
        )
    if sparse.issparse(X) and not kind.explicit:
        raise ValueError(
            "a positive radius moves rows in every feature, which would make sparse rows "
            'dense; give a dense X, or kernel="linear", or radius=0'
        )
