"""Kernel matrices as operators: blocks and sums on demand, no n x n array."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import copy_transposed
from scarce.kernels.functions._kernel import Kernel
from scarce.kernels.operators._rounding import ErrorTable, NormBins
from scarce.kernels.rows._prepared import Panel, Prepared
from scarce.kernels.sums._sums import add_sums, scratch_tile
from scarce.parallel import TILE_ROWS
from scarce.solvers import SymmetricOperator, ValueErrors

EXACT_UP_TO = 512  # rows up to which single precision saves nothing worth having
ROWS_AT_A_TIME = 64  # of all columns: what a thread computes between two looks at the queue


class KernelOperator(SymmetricOperator):
    """The matrix ``k(x_i, x_j)`` of one set of rows.

    Single precision is on offer first for larger problems; the solver checks what it gave against
    `reference` where `error_bound` says that it matters, and turns to float64 when single precision
    is not accurate enough.

    Parameters
    ----------
    prepared : Prepared
        The rows and their kernel.
    """

    writes_rows = True

    def __init__(self, prepared: Prepared) -> None:
        self._begin(prepared.kernel, prepared.n)
        self.prepared: Prepared = prepared

    def _begin(self, kernel: Kernel, n: int) -> None:
        self.kernel, self.name, self.definite = kernel, kernel.name, bool(kernel.definite)
        self.n, self.in_threads = n, kernel.has_formula
        self._cast: dict[Any, Prepared] = {}
        self._panels: dict[Any, Panel] = {}
        self._errors: dict[Any, ErrorTable] = {}

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer: float32 first where its range and the size allow."""
        if self.n <= EXACT_UP_TO or self.kernel.explicit:
            return (np.float64,)
        single = self.kernel.fits_single_precision(self.prepared.largest)
        return (np.float32, np.float64) if single else (np.float64,)

    def _in(self, precision: Any) -> Prepared:
        if precision not in self._cast:
            self._cast[precision] = self.prepared.cast(precision)
        return self._cast[precision]

    def subset(self, indices: Array) -> KernelOperator:
        """Return the operator of some of the rows."""
        return KernelOperator(self.prepared.take(indices))

    def diagonal(self) -> Array:
        """Return ``k(x_i, x_i)``."""
        return self._diagonal

    @cached_property
    def _diagonal(self) -> Array:
        if self.kernel.has_formula:
            return self.kernel.diagonal(self.prepared.norms)
        blocks = np.array_split(np.arange(self.n), max(1, self.n // 32))
        return np.concatenate([np.diagonal(self.reference(b, b)) for b in blocks])

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``; each value is computed once."""
        m = indices.size
        as_they_are = m == self.n and (indices[1:] > indices[:-1]).all()
        part = self._in(out.dtype.type)
        if not as_they_are:
            part = part.take(indices)
        panels = list(part.panels())
        if len(panels) == 1:
            part.write(0, m, panels[0], out)
            return

        def work(start: int, stop: int) -> None:
            for panel in panels[start // TILE_ROWS :]:
                first, width = panel.first, panel.n
                tile = scratch_tile((stop - start, width), out.dtype)
                part.write(start, stop, panel, tile)
                out[start:stop, first : first + width] = tile
                if first > start:
                    copy_transposed(tile, out[first : first + width, start:stop])

        with part.runner(part.effort(m) // 2) as run:
            run(m, work)

    def write_rows(self, indices: Array, out: Array) -> None:
        """Write the values of the given rows with all rows to ``out``, in its precision."""
        part, panel = self._in(out.dtype.type).take(indices), self._all_in(out.dtype.type)

        def work(start: int, stop: int) -> None:
            part.write(start, stop, panel, out[start:stop])

        with part.runner(part.effort(self.n)) as run:
            run(indices.size, work, ROWS_AT_A_TIME)

    def _all_in(self, precision: Any) -> Panel:
        if precision not in self._panels:
            self._panels[precision] = next(self._in(precision).panels(self.n))
        return self._panels[precision]

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] k(x_i, x_columns[j])`` to ``out[i]`` for every row."""
        rows = self._in(precision)
        add_sums(rows, rows.take(columns), weights, groups, out)

    def sums(
        self, rows: Array, columns: Array, weights: Array, groups: Array, precision: Any
    ) -> Array:
        """Return ``sum_j weights[groups[i], j] k(x_rows[i], x_columns[j])``, added alike."""
        all_rows, total = self._in(precision), np.zeros(rows.size)
        add_sums(all_rows.take(rows), all_rows.take(columns), weights, groups, total)
        return total

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means, which share no formula with the tiles."""
        return self.prepared.rows.reference(self.kernel, rows, columns)

    def error_bound(self, absolute_weights: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row.

        Parameters
        ----------
        absolute_weights : ndarray of shape (n,)
            Sum of the absolute weights that each column had.
        precision : dtype
            The arithmetic that was used.

        Returns
        -------
        ndarray of shape (n,)
            The bounds.
        """
        return self.error_table(precision).sum_errors(absolute_weights)

    def value_errors(self) -> ValueErrors:
        """Return the bounds of single values in float64, by the norms of their rows."""
        table = self.error_table(np.float64)
        return ValueErrors(table.left.codes, table.errors)

    def error_table(self, precision: Any) -> ErrorTable:
        """Return what bounds rounding errors in a precision, computed once."""
        if precision not in self._errors:
            rows, eps = self.prepared, float(np.finfo(precision).eps)
            bins, longest = NormBins(rows.norms), rows.rows.longest
            self._errors[precision] = ErrorTable(
                self.kernel, bins, bins, eps, longest, rows.differences
            )
        return self._errors[precision]
