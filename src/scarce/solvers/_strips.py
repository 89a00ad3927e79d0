"""Values of rows that come and go, in memory with room for more."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from scarce._arrays import Array

ROOM = 0.25  # for rows to come, as a share of those that are there
LEAST_ROOM = 64


class Strip:
    """Values of rows, one after the other, in memory that has room for more.

    Strips that come from one another may share memory: `moved` never writes what another one has.

    ``order``: that of the memory; in "F" every column is contiguous.
    """

    def __init__(self, values: Any, order: Literal["C", "F"] = "C") -> None:
        self.values, self._order = values, order
        self._memory: Any = values
        self._first = 0
        self._taken = [values.shape[0]]  # rows of the memory that any strip uses

    def moved(self, gone: int, new: Any) -> Strip:
        """Return the strip without its first rows, and with others at its end."""
        if sparse.issparse(self.values):
            return Strip(sparse.vstack([self.values[gone:], new], format="csr"))
        first, end = self._first + gone, self._first + self.values.shape[0]
        last = end + new.shape[0]
        strip = Strip(new[:0], self._order)
        fits = last <= self._memory.shape[0] and self._memory.dtype == new.dtype
        if self._taken[0] == end and fits:
            strip._memory, strip._first, strip._taken = self._memory, first, self._taken
        else:
            dtype: Any = np.promote_types(self.values.dtype, new.dtype)
            size = last - first
            room = size + max(LEAST_ROOM, int(ROOM * size))
            memory: Array = np.empty((room, *new.shape[1:]), dtype, self._order)
            memory[: end - first] = self.values[gone:]
            strip._memory, strip._first, strip._taken = memory, 0, [0]
            end, last = end - first, size
        strip._memory[end:last] = new
        strip._taken[0] = last
        strip.values = strip._memory[strip._first : last]
        return strip
