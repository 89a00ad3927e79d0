"""Gradients of scores with respect to the scored points, as matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels.functions._kernel import Kernel, gradient_names
from scarce.kernels.rows._prepared import prepare_pair

_ROWS = 256  # points per tile


def score_gradients(
    X: Any, support: Any, weights: Array, kernel: Kernel, groups: Array | None = None
) -> Array:
    """Return the gradients of ``s(x) = sum_j weights[g, j] k(support_j, x)`` at many points.

    ``X``: the points. ``support``: rows of the expansion, dense or sparse like `X`. ``weights``:
    weights of the expansion, one row per group. ``kernel``: a kernel with a gradient: linear, rbf,
    poly or sigmoid. ``groups``: whose weights each point takes; those of group 0 by default.
    Returned: the gradients, in float64; the arithmetic is float32 when both sets of rows are and
    their range allows.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import make_kernel, score_gradients
    >>> score_gradients(np.zeros((1, 2)), np.eye(2), np.ones((1, 2)), make_kernel("linear"))
    array([[1., 1.]])
    """
    if not kernel.has_gradient:
        raise ValueError(
            f"kernel {kernel.name!r} has no gradient; use {', '.join(gradient_names())}"
        )
    n, d = X.shape
    groups = np.zeros(n, np.int64) if groups is None else groups
    if kernel.explicit:
        return np.asarray(weights @ support)[groups]
    left, right = prepare_pair(kernel.slope_kernel(), X, support)
    gradients = np.zeros((n, d))
    dtype = left.rows.dtype
    (panel,) = right.panels(right.n)
    # The rows as the tiles have them: shifted to the centre, if the kernel does not notice.
    plain, own = right.rows.panel().T, weights.astype(dtype)

    def work(start: int, stop: int) -> None:
        slopes = np.empty((stop - start, right.n), dtype)
        left.write(start, stop, panel, slopes)
        kernel.write_slopes(slopes)
        slopes *= own[groups[start:stop]]
        sums = np.asarray(slopes @ plain)  # of slope times support row
        if kernel.shift_invariant:  # the derivative points from x towards z
            points = left.rows.take(np.arange(start, stop)).panel().T
            points = points.toarray() if sparse.issparse(points) else points
            sums = sums - slopes.sum(axis=1, keepdims=True) * points
        gradients[start:stop] = sums

    with left.runner(2 * left.effort(right.n)) as run:
        run(n, work, _ROWS)
    return gradients
