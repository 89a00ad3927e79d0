"""Rows of a middling program's matrix in single precision, computed once and kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._core import add_rows, gather_block
from scarce.solvers._operator import SymmetricOperator

Array = NDArray[Any]

# Rows computed at a time: at least so many, and this part of those kept. With little overlap few
# are needed, with much of it nearly all.
SMALLEST_BATCH, GROWTH = 64, 4


class SingleRows(SymmetricOperator):
    """A kernel operator that keeps its single precision values, row by row.

    Every variable that ever moved needs its row against all others for the gradient; a block of the
    matrix is a part of those rows. Other precisions are the operator's own business.

    Parameters
    ----------
    kernel : SymmetricOperator
        The matrix.
    """

    writes_rows = True

    def __init__(self, kernel: SymmetricOperator) -> None:
        self.kernel = kernel
        self.n, self.name, self.definite = kernel.n, kernel.name, kernel.definite
        self.values = np.empty((self.n, self.n), np.float32)  # memory of the rows that are kept
        self.where: Array = np.full(self.n, -1)  # the line of every row, -1 for none
        self.count = 0

    @property
    def batch(self) -> int:
        """How many rows to compute at a time: more, the more have been needed."""
        return min(max(SMALLEST_BATCH, self.count // GROWTH), self.n)

    @property
    def nbytes(self) -> int:
        """Memory of the rows that are kept."""
        return self.count * self.n * self.values.itemsize

    def keep(self, rows: Array) -> None:
        """Compute these rows, unless they are kept already."""
        absent = rows[self.where[rows] < 0]
        if absent.size:
            end = self.count + absent.size
            self.kernel.write_rows(absent, self.values[self.count : end])
            self.where[absent] = np.arange(self.count, end)
            self.count = end

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``, in its precision."""
        if out.dtype != np.float32:
            self.kernel.write_block(indices, out)
            return
        self.keep(indices)
        gather_block(self.values, self.where[indices], indices, out)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""
        if precision != np.float32 or weights.shape[0] > 1:
            self.kernel.accumulate(columns, weights, groups, out, precision)
            return
        self.keep(columns)
        add_rows(self.values, self.where[columns], weights[0], out)

    # The rest is the operator's.

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer."""
        return self.kernel.precisions

    def subset(self, indices: Array) -> SymmetricOperator:
        """Return the operator of some of the rows, without what is kept."""
        return self.kernel.subset(indices)

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return self.kernel.diagonal()

    def sums(
        self, rows: Array, columns: Array, weights: Array, groups: Array, precision: Any
    ) -> Array:
        """Return ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]``."""
        return self.kernel.sums(rows, columns, weights, groups, precision)

    def error_bound(self, accumulated: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        return self.kernel.error_bound(accumulated, precision)

    def write_rows(self, indices: Array, out: Array) -> None:
        """Write the values of the given rows with all rows to ``out``, in its precision."""
        self.kernel.write_rows(indices, out)

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means."""
        return self.kernel.reference(rows, columns)

    def reference_sums(self, rows: Array, columns: Array, weights: Array, groups: Array) -> Array:
        """Return ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]`` from such values."""
        return self.kernel.reference_sums(rows, columns, weights, groups)
