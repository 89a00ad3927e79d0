"""Rows of a program's matrix: computed when they are first asked for, and kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import add_rows, gather_block
from scarce.parallel import KEPT
from scarce.solvers._operator import DenseMatrix, SymmetricOperator
from scarce.solvers._step_data import NO_INDEX, Source

BATCH_VALUES = 1 << 16  # kernel values computed at a time: below, the call costs more than they do
SMALLEST_BATCH = 64  # rows
GROWTH = 3  # rows kept for each row of the next batch: the more were needed, the more will be
MIRRORED = 1 << 20  # values of a matrix of which half are copied in less time than they take
SPREAD = 16  # one of so many rows is computed before it is asked which others are needed


class RowCache(SymmetricOperator):
    """Rows of a matrix in one precision, variables sorted by group.

    Positions in that order are called *places*. Every variable that ever moved needs its row
    against all others for the gradient; a block of the matrix is a part of those rows. Operators
    that can compute single rows are asked for those that the solver needs, in batches; others for
    the whole. What is stored anyway is used where it is, and other precisions are the operator's
    own business.

    Parameters
    ----------
    kernel : SymmetricOperator
        The matrix ``K``.
    values : ndarray of shape (n, n)
        Memory for the rows, in the precision they are kept in.
    order : ndarray of int of shape (n,), optional
        The variable at every place; by default places are the variables themselves.
    lazily : bool
        Whether single rows will do.
    """

    writes_rows = True

    def __init__(
        self,
        kernel: SymmetricOperator,
        values: Array,
        order: Array | None = None,
        *,
        lazily: bool = True,
    ) -> None:
        self.n, self.definite, self.name = kernel.n, kernel.definite, kernel.name
        self.kernel, self.precision = kernel, values.dtype.type
        self.is_sorted = order is None or bool((order[1:] > order[:-1]).all())
        self.order = np.arange(self.n) if order is None else order
        self.lazily = lazily and kernel.writes_rows
        self.where: Array  # the row of memory of every place, -1 for none
        self.columns: Array = NO_INDEX  # of every place in such a row, if not the places themselves
        if kernel.shares_values:
            self.values, self.columns = kernel.values, kernel.index[self.order]
            self.where, self.count = self.columns, self.n
            return
        self._source = kernel if self.is_sorted else kernel.subset(self.order)
        self.values = values
        self.where = np.full(self.n, -1)
        self.count = 0
        if not self.lazily or self.n**2 <= KEPT:
            self._keep_all()

    @property
    def batch(self) -> int:
        """How many rows to compute at a time: more, the more have been needed."""
        return min(max(SMALLEST_BATCH, BATCH_VALUES // self.n, self.count // GROWTH), self.n)

    @property
    def nbytes(self) -> int:
        """Memory of the rows that are kept."""
        return self.count * self.n * self.values.itemsize

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer: its own, and what the operator has beyond."""
        return (np.float64,) if self.precision == np.float64 else self.kernel.precisions

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
        if isinstance(self._source, DenseMatrix) and self._source.values.dtype == self.precision:
            self.values = np.ascontiguousarray(self._source.values)
        else:
            self._source.write_block(np.arange(self.n), self.values)
        self.where[:] = np.arange(self.n)
        self.count = self.n

    def block(self, indices: Array) -> Array:
        """Return ``K[i, j]`` of some variables."""
        out = np.empty((indices.size, indices.size), self.precision)
        self.write_block(indices, out)
        return out

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``."""
        if out.dtype != self.precision:
            self.kernel.write_block(indices, out)
            return
        places = self._places(indices)
        self.keep(places)
        columns = self.columns[places] if self.columns.size else places
        gather_block(self.values, self.where[places], columns, out)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""
        plain = weights.shape[0] == 1 and self.is_sorted and not self.columns.size
        if precision != self.precision or not (plain or precision == np.float64):
            self.kernel.accumulate(columns, weights, groups, out, precision)
            return
        places = self._places(columns)
        self.keep(places)
        if plain:
            add_rows(self.values, self.where[places], np.ascontiguousarray(weights[0]), out)
            return
        rows = self.values[self.where[places]]
        sums = weights @ (rows[:, self.columns] if self.columns.size else rows)
        out[self.order] += sums[groups[self.order], np.arange(self.n)]

    def error_bound(self, accumulated: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        return self.kernel.error_bound(accumulated, precision)

    # The rest is the operator's.

    def subset(self, indices: Array) -> SymmetricOperator:
        """Return the operator of some of the rows, without what is kept."""
        return self.kernel.subset(indices)

    def sums(
        self, rows: Array, columns: Array, weights: Array, groups: Array, precision: Any
    ) -> Array:
        """Return ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]``."""
        return self.kernel.sums(rows, columns, weights, groups, precision)

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means."""
        return self.kernel.reference(rows, columns)

    def _places(self, indices: Array) -> Array:
        return indices if self.is_sorted else self._place[indices]

    @cached_property
    def _place(self) -> Array:
        return np.argsort(self.order)
