"""A kernel matrix computed once, for several programs of some of its rows each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import gather_block
from scarce.kernels.operators._operator import KernelOperator
from scarce.solvers import SymmetricOperator, ValueErrors

LARGEST_SHARED = 1e100  # a largest kernel value beyond it, or below its inverse, is not shared
SHARED_PART = 0.5  # of the cache that a matrix shared by several programs may take


class StoredOperator(SymmetricOperator):
    """Some rows of a kernel operator whose values are kept.

    What is certified is still checked against the operator's plain values, with its bounds.

    ``base``: the matrix of all rows. ``values``: its values in float64, shared by all subsets.
    ``index``: the rows of this one.
    """

    shares_values = True
    needs_blas = False

    def __init__(self, base: KernelOperator, values: Array, index: Array) -> None:
        self.base, self.values, self.index = base, values, index
        self.n, self.name, self.definite = index.size, base.name, base.definite
        self.in_threads = base.in_threads
        self._diagonal, self._errors = base.diagonal(), base.value_errors()

    @classmethod
    def of(cls, base: KernelOperator) -> StoredOperator:
        """Compute and keep all values."""
        values, all_rows = np.empty((base.n, base.n)), np.arange(base.n)
        base.write_block(all_rows, values)
        return cls(base, values, all_rows)

    @classmethod
    def shared(
        cls, base: SymmetricOperator, sizes: Sequence[int], cache_size: float
    ) -> SymmetricOperator:
        """Keep all values if programs of these sizes would compute more, and they fit in memory."""
        values = float(base.n) ** 2
        fits = 8e-6 * values <= SHARED_PART * cache_size
        fewer = values < sum(float(size) ** 2 for size in sizes)
        if isinstance(base, KernelOperator) and base.kernel.has_formula and fits and fewer:
            # Products of coefficients and values far from 1 leave the range of numbers.
            if 1.0 / LARGEST_SHARED < float(base.diagonal().max(initial=0.0)) < LARGEST_SHARED:
                return cls.of(base)
        return base

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """That of the values."""
        return (np.float64,)

    def subset(self, indices: Array) -> StoredOperator:
        """Return the operator of some of the rows; nothing is copied."""
        part = object.__new__(StoredOperator)
        vars(part).update(vars(self))
        part.index, part.n = self.index[indices], indices.size
        return part

    def diagonal(self) -> Array:
        """Return ``k(x_i, x_i)``."""
        return np.asarray(self._diagonal[self.index])

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``."""
        index = self.index[indices]
        gather_block(self.values, index, index, out)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] k(x_i, x_columns[j])`` to ``out[i]`` for every row."""
        rows = self.values[np.ix_(self.index[columns], self.index)]
        out += (weights @ rows)[groups, np.arange(self.n)]

    def value_errors(self) -> ValueErrors:
        """Return the bounds of the operator, for these rows."""
        return ValueErrors(self._errors.codes[self.index], self._errors.errors)

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means."""
        return self.base.reference(self.index[rows], self.index[columns])

    def error_bound(self, absolute_weights: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        merged = np.bincount(self.index, absolute_weights, minlength=self.base.n)
        return np.asarray(self.base.error_bound(merged, np.float64)[self.index])
