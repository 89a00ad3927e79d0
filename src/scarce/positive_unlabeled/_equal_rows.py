"""Which rows are equal, by a key of 64 bits per row."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.positive_unlabeled._rows import RowSource

SPREAD = np.uint64(0x9E3779B97F4A7C15)


def row_keys(rows: RowSource) -> Array:
    """Return a number per row that equal rows share.

    Two different rows of a million share one about once in ten million data sets, and then a row
    of no importance is treated as its twin.

    Parameters
    ----------
    rows : RowSource
        The rows; dense and sparse rows of the same values have the same keys.

    Returns
    -------
    ndarray of uint64 of shape (n,)
        The keys.
    """
    n = rows.shape[0]
    keys = np.arange(n, dtype=np.uint64)
    factors: Array | None = None
    for part, block in rows.blocks(np.arange(n)):
        if block.dtype.kind not in "fiub":
            return keys  # of a callable kernel: rows of any kind, taken to be different
        if not sparse.issparse(block):
            block = block.reshape(block.shape[0], -1)
        if factors is None:
            factors = np.random.default_rng(0).integers(
                np.iinfo(np.uint64).max, size=block.shape[1], dtype=np.uint64, endpoint=True
            ) | np.uint64(1)
        if sparse.issparse(block):
            keys[part] = _sparse_keys(block, factors)
        else:
            keys[part] = _mixed(block, factors).sum(axis=1)
    return keys


def _mixed(values: Array, factors: Array) -> Array:
    """Turn each value into random bits that depend on its column, and zeros into zero."""
    bits = np.add(values, 0.0, dtype=np.float64).view(np.uint64)  # no negative zeros
    bits = (bits ^ (bits >> np.uint64(32))) * factors
    return np.asarray((bits ^ (bits >> np.uint64(29))) * SPREAD)


def _sparse_keys(block: Any, factors: Array) -> Array:
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    mixed = np.append(_mixed(block.data, factors[block.indices]), np.uint64(0))
    starts, stops = block.indptr[:-1], block.indptr[1:]
    return np.where(starts < stops, np.add.reduceat(mixed, starts), np.uint64(0))
