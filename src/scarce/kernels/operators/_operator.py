"""Kernel matrices as operators: blocks and sums on demand, no n x n array."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import copy_transposed
from scarce.kernels.functions._kernel import Kernel
from scarce.kernels.operators._rounding import UNIT, ErrorTable, NormBins
from scarce.kernels.rows._prepared import Panel, Prepared, prepare
from scarce.kernels.sums._sums import add_sums, scratch_tile
from scarce.parallel import SMALLEST_EFFORT, TILE_ROWS, Work, small_space, tile_runner
from scarce.solvers import DenseMatrix, SymmetricOperator, ValueErrors

EXACT_UP_TO = 512  # rows up to which single precision saves nothing worth having
ROWS_AT_A_TIME = 64  # of all columns: what a thread computes between two looks at the queue


class KernelOperator(SymmetricOperator):
    """The matrix ``k(x_i, x_j)`` of one set of rows.

    Single precision is on offer first for larger problems; the solver checks what it gave against
    `reference` where `error_bound` says that it matters, and turns to float64 when single precision
    is not accurate enough.
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

    def values_between(self, rows: Array, columns: Array) -> Array:
        """Return the values of some rows with others in float64."""
        part, others = (self._in(np.float64).take(some) for some in (rows, columns))
        values: Array = np.empty((rows.size, columns.size))
        part.write(0, rows.size, next(others.panels(columns.size)), values)
        return values

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
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
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


FEW = 2048  # rows up to which values need no preparation
NARROW = 32  # columns up to which differences are faster than BLAS
FEW_DIFFERENCES = 1 << 20  # with more columns: differences that take less time than preparations
STEP = 64  # rows that a thread takes at a time, as `write_square` has it


def direct_error(width: int) -> float:
    """Return a bound of the error of a value of a `direct` kernel of rows with so many columns.

    The exponent ``t`` is known to a relative ``(width + 4) eps``, and ``t exp(-t)`` is below 0.4.
    """
    return UNIT * (width + 8)


def is_narrow(X: Any, kernel: Kernel) -> bool:
    """Say whether values of these rows, with any number of others, come straight from them."""
    return kernel.direct and type(X) is np.ndarray and X.shape[1] <= NARROW


class DirectOperator(KernelOperator):
    """The matrix of narrow, or of few, dense rows under a `direct` kernel.

    Double precision needs no preparation; single precision is that of `KernelOperator`.

    ``X``: the rows.
    """

    needs_blas = False  # in double precision

    def __init__(self, X: Array, kernel: Kernel) -> None:
        self._begin(kernel, X.shape[0])
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self._packed: Array | None = None

    @cached_property
    def _diagonal(self) -> Array:
        return np.ones(self.n)

    @cached_property
    def prepared(self) -> Prepared:  # type: ignore[override]
        """The rows as tiles take them."""
        return prepare(self.kernel, self.X)

    def _packed_rows(self) -> Array:
        if self._packed is None:
            self._packed = self.kernel.packed(self.X)
        return self._packed

    def subset(self, indices: Array) -> DirectOperator:
        """Return the operator of some of the rows."""
        return DirectOperator(self.X[indices], self.kernel)

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``, in its precision."""
        if out.dtype != np.float64:
            super().write_block(indices, out)
        elif indices.size != self.n or (indices[1:] <= indices[:-1]).any():
            self.subset(indices)._write_square(out)
        else:
            self._write_square(out)

    def _write_square(self, out: Array) -> None:
        X, packed, write = self.X, self._packed_rows(), self.kernel.write_square
        _in_tiles(_effort(self.n, X) // 2, self.n, lambda a, b: write(X, packed, a, b, out))

    def write_rows(self, indices: Array, out: Array) -> None:
        """Write the values of the given rows with all rows to ``out``, in its precision."""
        if out.dtype != np.float64:
            super().write_rows(indices, out)
            return
        X, packed, write = self.X, self._packed_rows(), self.kernel.write_packed
        _in_tiles(
            _effort(indices.size, X),
            indices.size,
            lambda a, b: write(X, indices[a:b], packed, out[a:b]),
        )

    def values_between(self, rows: Array, columns: Array) -> Array:
        """Return the values of some rows with others in float64."""
        values = np.empty((rows.size, columns.size))
        with small_space("packed") as space:  # new memory would cost more than its use
            packed = self.kernel.packed(self.X.take(columns, 0), space)
            self.kernel.write_packed(self.X, rows, packed, values)
        return values

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] k(x_i, x_columns[j])`` to ``out[i]`` for every row."""
        if precision != np.float64:
            super().accumulate(columns, weights, groups, out, precision)
        else:
            others = self.X.take(columns, 0)
            out += packed_sums(self.kernel, self.X, others, weights, groups)

    def sums(
        self, rows: Array, columns: Array, weights: Array, groups: Array, precision: Any
    ) -> Array:
        """Return ``sum_j weights[groups[i], j] k(x_rows[i], x_columns[j])``, added alike."""
        if precision != np.float64:
            return super().sums(rows, columns, weights, groups, precision)
        some, others = self.X.take(rows, 0), self.X.take(columns, 0)
        return packed_sums(self.kernel, some, others, weights, groups)

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means, which share no formula with the others."""
        return self.kernel.values(self.X[rows], self.X[columns])

    def reference_sums(self, rows: Array, columns: Array, weights: Array, groups: Array) -> Array:
        """Return ``sum_j weights[groups[i], j] K[rows[i], columns[j]]`` from such values."""
        return self.kernel.plain_sums(self.X, rows, columns, weights, groups)

    def value_errors(self) -> ValueErrors:
        """Return a bound for all values: that of their formula."""
        error = np.array([[direct_error(self.X.shape[1])]])
        return ValueErrors(np.zeros(self.n, np.int64), error)

    def error_bound(self, absolute_weights: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        if precision != np.float64:
            return super().error_bound(absolute_weights, precision)
        each = direct_error(self.X.shape[1]) + UNIT * (9 + np.count_nonzero(absolute_weights))
        return np.full(self.n, each * float(absolute_weights.sum()))


def packed_sums(kernel: Kernel, X: Array, Z: Array, weights: Array, groups: Array) -> Array:
    """Return ``sum_j weights[groups[i], j] k(x_i, z_j)`` for dense rows in float64."""
    sums: Array = np.empty(X.shape[0])
    step = STEP * max(1, 1024 // max(1, Z.shape[0]))  # few columns are little work a row
    with small_space("packed") as space:  # new memory would cost more than its use
        packed = kernel.packed(Z, space)

        def work(start: int, stop: int) -> None:
            some = slice(start, stop)
            kernel.packed_scores(X[some], packed, weights, groups[some], sums[some])

        _in_tiles(_effort(Z.shape[0], X), X.shape[0], work, step)
    return sums


def _in_tiles(effort: int, n: int, work: Work, step: int = STEP) -> None:
    """Do the work for all rows; in threads, if there is so much of it."""
    if effort < SMALLEST_EFFORT:
        work(0, n)
    else:
        with tile_runner(effort) as run:
            run(n, work, step)


def _effort(columns: int, X: Array) -> int:
    """Return roughly how many nanoseconds the values with so many columns take."""
    return int(X.shape[0] * columns * (2 + X.shape[1] // 16))


def make_operator(X: Any, kernel: Kernel) -> SymmetricOperator:
    """Return the kernel matrix of some rows as an operator for `scarce.solvers`.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        The rows; for a precomputed kernel the matrix itself.
    kernel : Kernel
        The kernel.

    Returns
    -------
    operator
        What `QuadraticProgram` takes as its `kernel`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import make_kernel, make_operator
    >>> operator = make_operator(np.array([[0.0], [1.0]]), make_kernel("rbf", gamma=1.0))
    >>> operator.reference(np.array([0, 1]), np.array([0, 1])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    if kernel.pairwise:
        return DenseMatrix(X)
    if kernel.direct and type(X) is np.ndarray and X.dtype in (np.float32, np.float64):
        few = X.shape[1] <= NARROW and X.shape[0] <= FEW
        if X.size and (few or X.shape[0] * X.size <= FEW_DIFFERENCES):
            return DirectOperator(X, kernel)
    return KernelOperator(prepare(kernel, X))
