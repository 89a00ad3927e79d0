"""Kernel matrices as operators: blocks and sums on demand, no n x n array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.kernels._kernel import Kernel
from scarce.kernels._rows import Rows, as_rows
from scarce.kernels._sums import Scored, add_sums, effort, scratch_tile
from scarce.kernels._tensors import prepared
from scarce.kernels._threads import TILE_ROWS, tile_runner
from scarce.solvers import DenseMatrix, SymmetricOperator

Array = NDArray[Any]

EXACT_UP_TO = 512  # rows up to which single precision saves nothing worth having


class KernelOperator:
    """The matrix ``k(x_i, x_j)`` of one set of rows.

    Single precision is on offer first for larger problems; the solver checks what it gave against
    `reference` and turns to float64 when that is not accurate enough.
    """

    def __init__(self, rows: Rows, kernel: Kernel, norms: Array | None = None) -> None:
        self.kernel = kernel
        self.n = rows.n
        self._rows = rows
        self._norms = rows.squared_norms() if norms is None else norms
        self._scored: dict[Any, Scored] = {}
        self.largest_norm = float(self._norms.max())

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer: float32 first where its range and the size allow."""
        if self.n <= EXACT_UP_TO or self.kernel.name == "linear":
            return (np.float64,)
        single = self.kernel.fits_single_precision(self.largest_norm)
        return (np.float32, np.float64) if single else (np.float64,)

    def _in(self, precision: Any) -> Scored:
        if precision not in self._scored:
            self._scored[precision] = Scored(self._rows.cast(precision), self.kernel, self._norms)
        return self._scored[precision]

    def subset(self, indices: Array) -> KernelOperator:
        """Return the operator of some of the rows."""
        return KernelOperator(self._rows.take(indices), self.kernel, self._norms[indices])

    def diagonal(self) -> Array:
        """Return ``k(x_i, x_i)``."""
        return self.kernel.of_squared_norms(self._norms)

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``; each value is computed once."""
        from scarce.kernels._compiled import copy_transposed

        part = self._in(out.dtype.type).take(indices)
        m = indices.size
        panels = [
            (first, part.take(np.arange(first, min(m, first + TILE_ROWS))))
            for first in range(0, m, TILE_ROWS)
        ]
        right = [(first, p.rows.panel(), p.terms, p.n) for first, p in panels]

        def work(start: int, stop: int) -> None:
            for first, panel, terms, width in right[start // TILE_ROWS :]:
                tile = scratch_tile((stop - start, width), out.dtype)
                part.write(start, stop, panel, terms, tile)
                out[start:stop, first : first + width] = tile
                if first > start:
                    copy_transposed(tile, out[first : first + width, start:stop])

        with tile_runner(effort(part.rows, m) // 2) as run:
            run(m, work)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] k(x_i, x_columns[j])`` to ``out[i]`` for every row."""
        scored = self._in(precision)
        add_sums(scored, scored.take(columns), weights, groups, out)

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 with plain NumPy."""
        values = self._rows.take(rows).plain_products(self._rows.take(columns))
        return self.kernel.of_products(values, self._norms[rows], self._norms[columns])


class CallableOperator:
    """The matrix of a kernel given as a function of two arrays of rows."""

    def __init__(self, X: Any, kernel: Kernel) -> None:
        self.X = X
        self.kernel = kernel
        self.n: int = X.shape[0]
        self._diagonal: Array | None = None

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """One: what the function returns."""
        return (np.float64,)

    def subset(self, indices: Array) -> CallableOperator:
        """Return the operator of some of the rows."""
        return CallableOperator(self.X[indices], self.kernel)

    def diagonal(self) -> Array:
        """Return ``k(x_i, x_i)``."""
        if self._diagonal is None:
            blocks = np.array_split(np.arange(self.n), max(1, self.n // 32))
            self._diagonal = np.concatenate([np.diagonal(self.reference(b, b)) for b in blocks])
        return self._diagonal

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``."""
        out[...] = self.reference(indices, indices)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] k(x_i, x_columns[j])`` to ``out[i]`` for every row."""
        for start in range(0, self.n, 1024):
            rows = np.arange(start, min(self.n, start + 1024))
            for first in range(0, columns.size, 1024):
                some = slice(first, first + 1024)
                values = self.reference(rows, columns[some])
                out[rows] += np.einsum("ij,ij->i", values, weights[groups[rows], some])

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block of values."""
        return self.kernel.values(self.X[rows], self.X[columns])


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
    >>> from scarce.kernels import Kernel, make_operator
    >>> operator = make_operator(np.array([[0.0], [1.0]]), Kernel("rbf", gamma=1.0))
    >>> operator.reference(np.array([0, 1]), np.array([0, 1])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    if kernel.name == "precomputed":
        return DenseMatrix(X)
    if callable(kernel.name):
        return CallableOperator(prepared(kernel.name, X), kernel)
    X = X if sparse.issparse(X) else np.asarray(X)
    operator = KernelOperator(as_rows(X, center_of(X, kernel)), kernel)
    if sparse.issparse(X):
        return operator
    exact = kernel.without_cancellation(operator.largest_norm)
    return operator if exact is kernel else CallableOperator(X, exact)


def center_of(X: Any, kernel: Kernel) -> Array | None:
    """Return the point to shift dense rows by: their mean for an RBF kernel, which cannot tell."""
    if kernel.name != "rbf" or sparse.issparse(X):
        return None
    center = np.asarray(np.mean(X, axis=0, dtype=np.float64))
    return center.astype(np.float32) if X.dtype == np.float32 else center
