"""Bits that equal rows share, wherever the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array

SPREAD = np.uint64(0x9E3779B97F4A7C15)


def row_bits(X: Any) -> Array:
    """Return 64 mixed bits for every row.

    Rows of the same values have the same bits, dense or sparse, in float32 or float64, and with
    more columns of zeros at the end. Two different rows of a million share them about once in ten
    million data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels.rows._row_bits import row_bits
    >>> bits = row_bits(np.array([[1.0, -0.0], [2.0, 0.0], [1.0, 0.0]]))
    >>> bool(bits[0] == bits[2]), bool(bits[0] == bits[1])
    (True, False)
    """
    block = X if sparse.issparse(X) else X.reshape(X.shape[0], -1)
    random, largest = np.random.default_rng(0), np.iinfo(np.uint64).max
    factors = random.integers(largest, size=block.shape[1], dtype=np.uint64, endpoint=True)
    factors |= np.uint64(1)
    if sparse.issparse(block):
        return _sparse_bits(block, factors)
    return np.asarray(_mixed(block, factors).sum(axis=1))


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
