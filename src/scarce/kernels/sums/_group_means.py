"""Kernels between means of groups of rows, streamed: the full matrix never exists."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce._core import add_group_sums, add_row_sums
from scarce.kernels.functions._kernel import Kernel
from scarce.kernels.rows._prepared import Prepared, prepare, prepare_pair
from scarce.kernels.sums._sums import scratch_tile
from scarce.parallel import TILE_ROWS


def group_mean_kernel(
    X: Any, codes: Array, kernel: Kernel, n_groups: int, weights: Array | None = None
) -> Array:
    """Return ``mean over i in g, j in h of k(x_i, x_j)`` for all pairs of groups.

    It is the kernel matrix of the groups' means in feature space. Memory is that of the result, of
    the rows sorted by group and of one tile per thread.

    ``X``: the rows; the matrix of kernel values for a precomputed kernel. ``codes``: group of each
    row, ``0 .. n_groups - 1``; a row with a negative code belongs to none. ``n_groups``: number of
    groups; each must have a row. ``weights``: positive weights of the rows in their group's mean;
    equal by default. Returned: in float64, and so is the arithmetic of the kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import group_mean_kernel, make_kernel
    >>> X = np.array([[1.0], [3.0], [5.0]])
    >>> group_mean_kernel(X, np.array([0, 0, 1]), make_kernel("linear"), 2)
    array([[ 4., 10.],
           [10., 25.]])
    """
    order, codes, shares = _sorted_groups(codes, n_groups, weights)
    if kernel.pairwise:
        averages = sparse.csr_array((shares, (codes, order)), shape=(n_groups, X.shape[0]))
        return _alike((averages @ X) @ averages.T)
    if kernel.explicit:
        means = group_means(X, codes, n_groups, shares, order)
        return _alike((means @ means.T).toarray() if sparse.issparse(X) else means @ means.T)
    X = X[order]
    # In float64 whatever the rows: what is solved with this matrix is certified against it.
    return _sums(prepare(kernel, X, exact=True).cast(np.float64), codes, shares, n_groups)


def group_means(
    X: Any, codes: Array, n_groups: int, weights: Array | None = None, order: Array | None = None
) -> Any:
    """Return the weighted mean of the rows of every group, in float64; CSR stays CSR.

    ``order``: the rows that `codes` and `weights` speak of, the latter summing to one in every
    group; all rows by default, and any weights.
    """
    if order is None:
        order, codes, weights = _sorted_groups(codes, n_groups, weights)
    averages = sparse.csr_array((weights, (codes, order)), shape=(n_groups, X.shape[0]))
    means = averages @ X
    return sparse.csr_array(means) if sparse.issparse(X) else np.asarray(means)


def group_mean_values(
    X: Any,
    codes: Array,
    kernel: Kernel,
    n_groups: int,
    landmarks: Any,
    weights: Array | None = None,
) -> Array:
    """Return ``mean over i in g of k(x_i, z_j)`` for all groups and landmarks.

    ``X``, ``codes``, ``kernel``, ``n_groups``: as for `group_mean_kernel`, but not for a
    precomputed kernel. ``landmarks``: the landmarks, dense or sparse like `X`. ``weights``: as for
    `group_mean_kernel`.
    """
    if kernel.pairwise:
        kernel.require_formula()
    order, codes, shares = _sorted_groups(codes, n_groups, weights)
    sides = prepare_pair(kernel, X[order], landmarks, exact=True)
    left, right = (side.cast(np.float64) for side in sides)
    panels = list(right.panels())
    means = np.zeros((n_groups, right.n))
    borders = _group_borders(codes, n_groups)

    def work(which: int, _: int) -> None:
        for start in range(borders[which], borders[which + 1], TILE_ROWS):
            stop = min(borders[which + 1], start + TILE_ROWS)
            for panel in panels:
                tile = scratch_tile((stop - start, panel.n), left.rows.dtype)
                left.write(start, stop, panel, tile)
                columns = slice(panel.first, panel.first + panel.n)
                add_row_sums(tile, codes[start:stop], shares[start:stop], means[:, columns])

    with left.runner(left.effort(right.n)) as run:
        run(len(borders) - 1, work, 1)
    return means


def _sorted_groups(
    codes: Array, n_groups: int, weights: Array | None
) -> tuple[Array, Array, Array]:
    """Return the rows that have a group in its order, their codes, and their proportions of it."""
    codes = np.asarray(codes)
    order = np.argsort(codes, kind="stable")
    order = order[np.searchsorted(codes[order], 0) :]
    codes = codes[order]
    counts = np.bincount(codes, minlength=n_groups)
    if counts.size > n_groups or (counts == 0).any():
        raise ValueError(
            f"codes must use every group 0 .. {n_groups - 1} at least once, got counts {counts}"
        )
    masses = np.ones(order.size) if weights is None else np.asarray(weights)[order]
    totals = np.bincount(codes, masses, minlength=n_groups)
    return order, codes, masses / totals[codes]


def _alike(values: Any) -> Array:
    """Return a matrix that is symmetric to the last digit."""
    return np.asarray(0.5 * (values + values.T), dtype=np.float64)


def _group_borders(codes: Array, n_groups: int) -> list[int]:
    """Cut sorted rows into whole groups, about a tile of rows together.

    No two threads then add to the same sums.
    """
    starts = np.searchsorted(codes, np.arange(n_groups + 1))
    tiles = np.arange(0, codes.size, TILE_ROWS)
    firsts = np.unique(np.searchsorted(starts, tiles, side="right") - 1)
    return [*starts[firsts].tolist(), codes.size]


def _sums(rows: Prepared, codes: Array, shares: Array, n_groups: int) -> Array:
    """Return the sums of the weighted kernel values between groups, for rows sorted by group."""
    sums = np.zeros((n_groups, n_groups))
    panels = list(rows.panels())
    borders = _group_borders(codes, n_groups)

    def work(which: int, _: int) -> None:
        buffer = np.empty(TILE_ROWS)
        for start in range(borders[which], borders[which + 1], TILE_ROWS):
            stop = min(borders[which + 1], start + TILE_ROWS)
            for panel in panels[start // TILE_ROWS :]:
                tile = scratch_tile((stop - start, panel.n), rows.rows.dtype)
                rows.write(start, stop, panel, tile)
                add_group_sums(tile, start, panel.first, codes, shares, buffer, sums)

    with rows.runner(rows.effort(rows.n) // 2) as run:
        run(len(borders) - 1, work, 1)
    # Rows were sorted, so that only cells right of the diagonal have values; no second matrix.
    for start in range(0, n_groups, 1024):
        stop = min(n_groups, start + 1024)
        square = sums[start:stop, start:stop]
        square += square.T.copy()
        sums[stop:, start:stop] = sums[start:stop, stop:].T
    return sums
