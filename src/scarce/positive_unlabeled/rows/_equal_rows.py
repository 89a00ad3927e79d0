"""Which rows are equal, and an order of the different ones that only their values decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels import row_bits
from scarce.positive_unlabeled.rows._row_source import RowSource


def row_keys(rows: RowSource, indices: Array | None = None) -> Array:
    """Return a number per row that equal rows share, and by which different rows are in order.

    The order is that along a fixed direction: scale, offset, and constant columns at the end leave
    it as it is. Equality is that of 64 mixed bits: should two different rows share them, a row of
    no importance is treated as its twin.

    ``rows``: the rows; dense and sparse rows of the same values have the same keys. ``indices``:
    which rows; all by default. Their order does not depend on the others. Returned: the keys, 0 to
    the number of different rows less one.
    """
    indices = np.arange(rows.shape[0]) if indices is None else indices
    if not _are_numbers(rows):
        return indices
    marks = rows.each(indices, _marks)
    bits, places = marks[:, 0], marks[:, 1].view(np.float64)
    _, first, which = np.unique(bits, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.intp)
    rank[np.lexsort((bits[first], places[first]))] = np.arange(first.size)
    return np.asarray(rank[which])


def row_codes(rows: RowSource, few: Array, many: Array) -> Array:
    """Return a number per row that equal rows share: the bits that `row_keys` compares.

    ``few``: numbers of some of the rows that are asked about. Returned: the codes, of all other
    rows 0; of rows that are not of numbers, each its own.
    """
    if not _are_numbers(rows):
        return np.arange(rows.shape[0])
    codes = np.zeros(rows.shape[0], np.uint64)
    codes[few] = rows.each(few, row_bits)
    codes[many] = rows.each(many, row_bits)
    return codes


def are_among(codes: Array, some: Array) -> Array:
    """Return which codes are among some others, few as a rule."""
    if some.size == 0:
        return np.zeros(codes.size, bool)
    wanted = np.unique(some)
    places = np.minimum(np.searchsorted(wanted, codes), wanted.size - 1)
    return np.asarray(wanted[places] == codes)


def _are_numbers(rows: RowSource) -> bool:
    """Say whether rows are of numbers; of a callable kernel they may be of any kind."""
    return bool(rows.gather(np.zeros(1, np.intp)).dtype.kind in "fiub")


def _marks(block: Any) -> Array:
    """Return the bits of every row, and those of its place along the direction."""
    if not sparse.issparse(block):
        block = block.reshape(block.shape[0], -1)
    direction = np.random.default_rng(1).uniform(0.5, 1.5, size=block.shape[1])
    places = np.asarray(block @ direction, dtype=np.float64)
    return np.column_stack([row_bits(block), places.view(np.uint64)])
