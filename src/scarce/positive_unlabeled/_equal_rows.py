"""Which rows are equal, and an order of the different ones that only their values decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.positive_unlabeled._rows import RowSource

SPREAD = np.uint64(0x9E3779B97F4A7C15)


def row_keys(rows: RowSource) -> Array:
    """Return a number per row that equal rows share, and by which different rows are in order.

    The order is that along a fixed direction: scale, offset, and constant columns at the end leave
    it as it is. Equality is that of 64 mixed bits: two different rows of a million share them about
    once in ten million data sets, and then a row of no importance is treated as its twin.

    Parameters
    ----------
    rows : RowSource
        The rows; dense and sparse rows of the same values have the same keys.

    Returns
    -------
    ndarray of int of shape (n,)
        The keys, 0 to the number of different rows less one.
    """
    n = rows.shape[0]
    bits, places = np.zeros(n, dtype=np.uint64), np.zeros(n)
    factors, direction = np.zeros(0, dtype=np.uint64), np.zeros(0)
    for part, block in rows.blocks(np.arange(n)):
        if block.dtype.kind not in "fiub":
            return np.arange(n)  # of a callable kernel: rows of any kind, taken to be different
        if not sparse.issparse(block):
            block = block.reshape(block.shape[0], -1)
        if factors.size == 0:
            d, largest = block.shape[1], np.iinfo(np.uint64).max
            random = np.random.default_rng(0)
            factors = random.integers(largest, size=d, dtype=np.uint64, endpoint=True)
            factors |= np.uint64(1)
            direction = np.random.default_rng(1).uniform(0.5, 1.5, size=d)  # more columns: the same
        if sparse.issparse(block):
            bits[part] = _sparse_bits(block, factors)
        else:
            bits[part] = _mixed(block, factors).sum(axis=1)
        places[part] = block @ direction
    _, first, which = np.unique(bits, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.intp)
    rank[np.lexsort((bits[first], places[first]))] = np.arange(first.size)
    return np.asarray(rank[which])


def _mixed(values: Array, factors: Array) -> Array:
    """Turn each value into random bits that depend on its column, and zeros into zero."""
    bits = np.add(values, 0.0, dtype=np.float64).view(np.uint64)  # no negative zeros
    bits = (bits ^ (bits >> np.uint64(32))) * factors
    return np.asarray((bits ^ (bits >> np.uint64(29))) * SPREAD)


def _sparse_bits(block: Any, factors: Array) -> Array:
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    mixed = np.append(_mixed(block.data, factors[block.indices]), np.uint64(0))
    starts, stops = block.indptr[:-1], block.indptr[1:]
    return np.where(starts < stops, np.add.reduceat(mixed, starts), np.uint64(0))
