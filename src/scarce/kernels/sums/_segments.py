"""Sums of kernel values over segments of an expansion, with several rows of weights at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels.functions._kernel import SINGLE_RANGE, Kernel
from scarce.kernels.rows._prepared import prepare_pair
from scarce.kernels.sums._sums import scratch_tile


def segment_scores(X: Any, support: Any, weights: Array, ends: Array, kernel: Kernel) -> Array:
    """Return sums of kernel values over segments of the support, for several rows of weights.

    Every kernel value is computed once.

    ``X``, ``support``: new rows and those of the expansion, both dense or both sparse. ``weights``:
    weights of the expansion. ``ends``: where the segments of the support end, in increasing order
    up to m. ``kernel``: the kernel; not precomputed. Returned: ``sum over j in the segment of
    weights[l, j] k(x_i, support_j)``, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import make_kernel, segment_scores
    >>> weights, ends = np.array([[1.0, 10.0, 100.0]]), np.array([1, 3])
    >>> segment_scores(np.eye(2), np.ones((3, 2)), weights, ends, make_kernel("linear"))
    array([[[  1.,   1.]],
    <BLANKLINE>
           [[110., 110.]]])
    """
    sums = np.zeros((len(ends), weights.shape[0], X.shape[0]))
    if weights.size == 0 or X.shape[0] == 0:
        return sums
    left, right = prepare_pair(kernel, X, support)
    if not float(np.abs(weights).max()) < SINGLE_RANGE:
        left, right = left.cast(np.float64), right.cast(np.float64)
    panels = list(right.panels())
    weights = weights.astype(left.rows.dtype)
    starts = np.append(0, ends[:-1])

    def work(start: int, stop: int) -> None:
        for panel in panels:
            tile = scratch_tile((stop - start, panel.n), left.rows.dtype)
            left.write(start, stop, panel, tile)
            first, last = panel.first, panel.first + panel.n
            for which in np.flatnonzero((starts < last) & (ends > first)):
                a, b = max(starts[which], first), min(ends[which], last)
                sums[which, :, start:stop] += weights[:, a:b] @ tile[:, a - first : b - first].T

    with left.runner(left.effort(right.n)) as run:
        run(left.n, work)
    return sums
