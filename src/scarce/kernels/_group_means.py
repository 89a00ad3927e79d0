"""Kernels between means of groups of rows, streamed: the full matrix never exists."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.kernels._kernel import Kernel
from scarce.kernels._operator import center_of
from scarce.kernels._rows import as_rows
from scarce.kernels._sums import Scored, effort, scratch_tile
from scarce.kernels._threads import TILE_ROWS, tile_runner

Array = NDArray[Any]


def group_mean_kernel(X: Any, codes: Array, kernel: Kernel, n_groups: int) -> Array:
    """Return ``mean over i in g, j in h of k(x_i, x_j)`` for all pairs of groups.

    It is the kernel matrix of the groups' means in feature space. Memory is that of the result and
    of one tile per thread.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The rows.
    codes : ndarray of int of shape (n,)
        Group of each row, ``0 .. n_groups - 1``; a row with a negative code belongs to none.
    kernel : Kernel
        A kernel with a formula: not precomputed, not a callable.
    n_groups : int
        Number of groups; each must have a row.

    Returns
    -------
    ndarray of shape (n_groups, n_groups)
        In float64. The arithmetic of the kernel values is that of `X`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import Kernel, group_mean_kernel
    >>> X = np.array([[1.0], [3.0], [5.0]])
    >>> group_mean_kernel(X, np.array([0, 0, 1]), Kernel("linear"), 2)
    array([[ 4., 10.],
           [10., 25.]])
    """
    codes = np.asarray(codes)
    order = np.argsort(codes, kind="stable")
    order = order[np.searchsorted(codes[order], 0) :]
    codes = codes[order]
    counts = np.bincount(codes, minlength=n_groups)
    if counts.size > n_groups or (counts == 0).any():
        raise ValueError(
            f"codes must use every group 0 .. {n_groups - 1} at least once, got counts {counts}"
        )
    rows = as_rows(X[order], center_of(X, kernel))
    if kernel.name == "linear":
        selection = np.zeros((n_groups, rows.n))
        selection[codes, np.arange(rows.n)] = 1.0 / counts[codes]
        means = rows.combine(selection)
        return np.asarray(means @ means.T)
    from scarce.kernels._compiled import add_group_sums

    scored = Scored(rows, kernel)
    sums = np.zeros((n_groups, n_groups))
    lock = threading.Lock()
    panels = [
        np.arange(first, min(rows.n, first + TILE_ROWS)) for first in range(0, rows.n, TILE_ROWS)
    ]
    parts = [scored.take(some) for some in panels]
    right = [
        (some, part.rows.panel(), part.terms) for some, part in zip(panels, parts, strict=True)
    ]

    def work(start: int, stop: int) -> None:
        low, high = codes[start], codes[stop - 1] + 1
        local = np.zeros((high - low, n_groups))
        for some, panel, terms in right[start // TILE_ROWS :]:
            tile = scratch_tile((stop - start, some.size), rows.dtype)
            scored.write(start, stop, panel, terms, tile)
            # Tiles left of the diagonal are the mirror image of those right of it.
            weight = 0.5 if some[0] == start else 1.0
            add_group_sums(tile, codes[start:stop] - low, codes[some], weight, local)
        with lock:
            sums[low:high] += local

    with tile_runner(effort(rows, rows.n) // 2) as run:
        run(rows.n, work)
    return np.asarray((sums + sums.T) / np.outer(counts, counts))
