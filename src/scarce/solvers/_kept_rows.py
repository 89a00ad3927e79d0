"""The matrix of a small program: rows computed when they are first asked for, and kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._core import gather_block
from scarce.parallel import KEPT
from scarce.solvers._operator import DenseMatrix, SymmetricOperator
from scarce.solvers._step_data import NO_INDEX, Source

Array = NDArray[Any]

LARGEST = 2048  # variables of a program whose matrix may be kept
BATCH_VALUES = 1 << 16  # kernel values computed at a time: below, the call costs more than they do
SMALLEST_BATCH = 16  # rows
MIRRORED = 1 << 20  # values of a matrix of which half are copied in less time than they take
SPREAD = 16  # one of so many rows is computed before it is asked which others are needed


class KeptRows(SymmetricOperator):
    """Rows of a matrix, variables sorted by group.

    Positions in that order are called *places*. Operators that can compute single rows
    (`write_rows`) are asked for those that the solver needs, in batches; others for the whole. What
    is stored anyway is used where it is.

    Parameters
    ----------
    kernel : operator
        The matrix ``K``.
    order : ndarray of int of shape (n,), optional
        The variable at every place; by default places are the variables themselves.
    space : ndarray of shape (n, n)
        Memory for the rows.
    lazily : bool
        Whether single rows will do.
    """

    def __init__(
        self,
        kernel: SymmetricOperator,
        order: Array | None,
        space: Array,
        *,
        lazily: bool = True,
    ) -> None:
        self.n, self.definite, self.name = kernel.n, kernel.definite, kernel.name
        self._sorted = order is None or bool((order[1:] > order[:-1]).all())
        self.order = np.arange(self.n) if order is None else order
        self.kernel = kernel
        self.lazily = lazily and kernel.writes_rows
        self.values: Array
        self.where: Array  # the line of every place, -1 for none
        self.columns: Array = NO_INDEX  # of every place in a line, if not the places themselves
        if kernel.shares_values:  # a part of a matrix that is stored
            self.values, self.columns = kernel.values, kernel.index[self.order]
            self.where, self.count = self.columns, self.n
            return
        self._source = kernel if self._sorted else kernel.subset(self.order)
        self.values = space
        self.where = np.full(self.n, -1)
        self.count = 0
        if not self.lazily or self.n**2 <= KEPT:
            self._keep_all()

    @property
    def batch(self) -> int:
        """How many rows to compute at a time: more, the more have been needed."""
        return min(max(SMALLEST_BATCH, BATCH_VALUES // self.n, self.count // 2), self.n)

    @property
    def is_sorted(self) -> bool:
        """Whether places are the variables themselves."""
        return self._sorted

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """One, the most accurate."""
        return (np.float64,)

    def diagonal(self) -> Array:
        """Return the diagonal of the kernel."""
        return self.kernel.diagonal()

    def own_values(self) -> Array:
        """Return the diagonal by place, as the rows have it."""
        if self.count < self.n:
            return self.diagonal()[self.order]
        columns = self.columns if self.columns.size else np.arange(self.n)
        return np.asarray(self.values[self.where, columns])

    def source(self, signs: Array) -> Source:
        """Return what steps copy rows from; it follows what is kept."""
        return Source(self.values, self.where, self.columns, signs)

    def keep(self, places: Array) -> None:
        """Compute the rows of these places, unless they are kept already."""
        absent = places[self.where[places] < 0]
        if absent.size == 0:
            return
        if 2 * absent.size > self.n:
            self._keep_all()  # of which symmetry saves half
            return
        end = self.count + absent.size
        self._source.write_rows(absent, self.values[self.count : end])
        self.where[absent] = np.arange(self.count, end)
        self.count = end

    def keep_some(self) -> None:
        """Compute the rows of a batch that is evenly spread over all places."""
        self.keep(np.arange(0, self.n, self.n // max(self.batch, self.n // SPREAD)))

    def keep_next(self, places: Array, wanted: int) -> None:
        """Compute the rows of a batch of these places, the first; of all, if most are wanted."""
        every_row = 2 * wanted > self.n and self.n**2 <= MIRRORED
        self.keep(places if every_row else places[: self.batch])

    def _keep_all(self) -> None:
        if isinstance(self._source, DenseMatrix) and self._source.values.dtype == np.float64:
            self.values = np.ascontiguousarray(self._source.values)
        else:
            self._source.write_block(self.order if self._sorted else np.arange(self.n), self.values)
        self.where[:] = np.arange(self.n)
        self.count = self.n

    def block(self, indices: Array) -> Array:
        """Return ``K[i, j]`` of some variables."""
        places = self._places(indices)
        self.keep(places)
        lines, columns = self.where[places], self.columns[places] if self.columns.size else places
        block = np.empty((indices.size, indices.size))
        gather_block(self.values, lines, columns, block)  # several times faster than indexing
        return block

    def subset(self, indices: Array) -> SymmetricOperator:
        """Return the operator of some of the rows, without what is kept."""
        return self.kernel.subset(indices)

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``."""
        out[...] = self.block(indices)

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means."""
        return self.kernel.reference(rows, columns)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""
        places = self._places(columns)
        self.keep(places)
        rows = self.values[self.where[places]]
        sums = weights @ (rows[:, self.columns] if self.columns.size else rows)
        added = sums[0] if len(sums) == 1 else sums[groups[self.order], np.arange(self.n)]
        if self._sorted:
            out += added
        else:
            out[self.order] += added

    def error_bound(self, accumulated: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        return self.kernel.error_bound(accumulated, precision)

    def _places(self, indices: Array) -> Array:
        return indices if self._sorted else self._place[indices]

    @cached_property
    def _place(self) -> Array:
        return np.argsort(self.order)
