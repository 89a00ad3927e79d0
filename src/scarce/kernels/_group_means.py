"""Kernels between means of groups of rows, streamed: the full matrix never exists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.kernels._kernel import Kernel
from scarce.kernels._operator import center_of
from scarce.kernels._rows import Rows, as_rows
from scarce.kernels._sums import Scored, effort, scratch_tile
from scarce.kernels._threads import TILE_ROWS, tile_runner

Array = NDArray[Any]


def group_mean_kernel(X: Any, codes: Array, kernel: Kernel, n_groups: int) -> Array:
    """Return ``mean over i in g, j in h of k(x_i, x_j)`` for all pairs of groups.

    It is the kernel matrix of the groups' means in feature space. Memory is that of the result, of
    the rows sorted by group and of one tile per thread.

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
    kernel.require_formula()
    codes = np.asarray(codes)
    order = np.argsort(codes, kind="stable")
    order = order[np.searchsorted(codes[order], 0) :]
    codes = codes[order]
    counts = np.bincount(codes, minlength=n_groups)
    if counts.size > n_groups or (counts == 0).any():
        raise ValueError(
            f"codes must use every group 0 .. {n_groups - 1} at least once, got counts {counts}"
        )
    X = X[order]
    if kernel.name == "linear":
        columns = np.arange(codes.size)
        selection = sparse.csr_array((1.0 / counts[codes], (codes, columns)))
        means = selection @ X
        values = (means @ means.T).toarray() if sparse.issparse(X) else means @ means.T
        return np.asarray(0.5 * (values + values.T))  # alike to the last digit
    return _sums(as_rows(X, center_of(X, kernel)), codes, kernel, n_groups) / np.outer(
        counts, counts
    )


def _sums(rows: Rows, codes: Array, kernel: Kernel, n_groups: int) -> Array:
    """Return the sums of the kernel values between groups, for rows sorted by group."""
    from scarce.kernels._compiled import add_group_sums

    norms = rows.squared_norms()
    largest = float(norms.max())
    if kernel.without_cancellation(largest) is not kernel:
        raise ValueError(
            f"gamma={kernel.gamma:g} is too narrow for rows of squared norm {largest:g}: their "
            "distances are lost in rounding; use a smaller gamma or scale the rows"
        )
    if rows.dtype == np.float32 and not kernel.accurate_in_single_precision(largest):
        rows = rows.cast(np.float64)
    scored = Scored(rows, kernel, norms)
    sums = np.zeros((n_groups, n_groups))
    slices = [slice(first, min(rows.n, first + TILE_ROWS)) for first in range(0, rows.n, TILE_ROWS)]
    parts = [scored.take(np.arange(some.start, some.stop)) for some in slices]
    right = [
        (some, part.rows.panel(), part.terms) for some, part in zip(slices, parts, strict=True)
    ]
    # Whole groups together, about a tile of rows, so that no two threads add to the same sums.
    starts = np.searchsorted(codes, np.arange(n_groups + 1))
    firsts = np.unique(np.searchsorted(starts, np.arange(0, rows.n, TILE_ROWS), side="right") - 1)
    borders = [*starts[firsts].tolist(), rows.n]

    def work(which: int, _: int) -> None:
        for start in range(borders[which], borders[which + 1], TILE_ROWS):
            stop = min(borders[which + 1], start + TILE_ROWS)
            for some, panel, terms in right[start // TILE_ROWS :]:
                tile = scratch_tile((stop - start, some.stop - some.start), rows.dtype)
                scored.write(start, stop, panel, terms, tile)
                add_group_sums(tile, start, some.start, codes, sums)

    with tile_runner(effort(rows, rows.n) // 2) as run:
        run(len(borders) - 1, work, 1)
    return np.asarray(sums + sums.T)
