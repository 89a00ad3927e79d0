"""Symmetric matrices as operators: values on demand, and bounds of their rounding errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array
from scarce._core import gather_block

GATHERED_ROWS = 1024  # held at a time
BLOCK_VALUES = 2_000_000  # kernel values held at a time, 16 MB


class ValueErrors(NamedTuple):
    """Bounds of the errors of single values in float64: a bin for every row, one for two bins."""

    codes: Array
    errors: Array


class SymmetricOperator(ABC):
    """A symmetric matrix that is never stored: blocks and sums on demand.

    Attributes
    ----------
    n : int
        Number of rows.
    name : str
        What messages call the matrix: the kernel's name.
    definite : bool
        Whether the matrix is positive semidefinite for certain; without it there is no gap.
    needs_blas : bool
        Whether values in double precision come from BLAS, whose threads have to be held then.
    writes_rows : bool
        Whether single rows can be computed (`write_rows`) and added up (`sums`).
    in_threads : bool
        Whether values may be computed by several threads at a time.
    shares_values : bool
        Whether the values are ``values[index][:, index]`` of a matrix that is stored and shared.
    """

    n: int = 0
    name: str = ""
    definite: bool = False
    needs_blas: ClassVar[bool] = True
    writes_rows: ClassVar[bool] = False
    in_threads: bool = True
    shares_values: ClassVar[bool] = False
    values: Array = np.empty((0, 0))
    index: Array = np.empty(0, np.int64)

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer, the fastest first and the most accurate last."""
        return (np.float64,)

    @abstractmethod
    def subset(self, indices: Array) -> SymmetricOperator:
        """Return the operator of some of the rows and the same columns."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return the diagonal, or an upper bound of it where that is far cheaper."""

    @abstractmethod
    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``, in its precision."""

    def values_between(self, rows: Array, columns: Array) -> Array:
        """Return the values of some rows with others in float64, by whatever means are fastest."""
        return self.reference(rows, columns)

    @abstractmethod
    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""

    @abstractmethod
    def error_bound(self, accumulated: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row.

        ``accumulated[j]`` is the sum of all ``|weight|`` that went through column ``j`` in any
        number of calls. Adding to ``out`` itself is the caller's part.
        """

    @abstractmethod
    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means, sharing no code with the methods above."""

    def reference_sums(self, rows: Array, columns: Array, weights: Array, groups: Array) -> Array:
        """Return ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]`` from such values."""
        return reference_sums(self, rows, columns, weights, groups)

    def value_errors(self) -> ValueErrors:
        """Return bounds of the errors of single values of `write_block` in float64.

        One for all: no value is off by more than the sum of a whole row.
        """
        largest = float(self.error_bound(np.ones(self.n), np.float64).max())
        return ValueErrors(np.zeros(self.n, np.int64), np.full((1, 1), largest))

    def write_rows(self, indices: Array, out: Array) -> None:
        """Write the values of the given rows with all rows to ``out``, in its precision."""
        raise NotImplementedError

    def sums(
        self, rows: Array, columns: Array, weights: Array, groups: Array, precision: Any
    ) -> Array:
        """Return ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]``, added like the rest."""
        raise NotImplementedError


class DenseMatrix(SymmetricOperator):
    """A stored symmetric matrix as an operator.

    Parameters
    ----------
    values : array-like of shape (n, n)
        Finite and symmetric. It is not copied.
    definite : bool
        Whether the matrix is known to be positive semidefinite. It is not examined, and only a
        program of a definite matrix has a duality gap.
    name : str
        What messages call the matrix.
    """

    needs_blas = False

    def __init__(
        self, values: ArrayLike, *, definite: bool = False, name: str = "precomputed"
    ) -> None:
        values = np.asarray(values)
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise ValueError(f"values must be a square matrix, got shape {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError("values must not contain NaN or infinity")
        self.values: Array = values
        self.n = values.shape[0]
        self.definite = definite
        self.name = name

    def subset(self, indices: Array) -> DenseMatrix:
        """Return the operator of some of the rows and the same columns."""
        part = self.values[np.ix_(indices, indices)]
        return DenseMatrix(part, definite=self.definite, name=self.name)

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.diagonal(self.values).astype(np.float64)

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``, in its precision."""
        gather_block(_in_rows(self.values), indices, indices, out)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""
        for first in range(0, columns.size, GATHERED_ROWS):
            some = slice(first, first + GATHERED_ROWS)
            rows = self.values[columns[some]].astype(precision, copy=False)
            out += (weights[:, some] @ rows)[groups, np.arange(self.n)]

    def error_bound(self, accumulated: Array, precision: Any) -> Array:
        """Return a bound of the rounding errors of the sums, the same for every row."""
        largest = float(max(self.values.max(), -self.values.min()))
        terms = GATHERED_ROWS + self.n / GATHERED_ROWS  # of a product, and the products added up
        each = np.finfo(precision).eps * terms * largest
        return np.full(self.n, each * float(accumulated.sum()))

    def value_errors(self) -> ValueErrors:
        """Return no error: the matrix is what it is."""
        return ValueErrors(np.zeros(self.n, np.int64), np.zeros((1, 1)))

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64."""
        return np.asarray(self.values[np.ix_(rows, columns)], dtype=np.float64)


def _in_rows(values: Array) -> Array:
    """Return a symmetric matrix with contiguous rows: in Fortran order, its own transpose."""
    if values.strides[1] == values.itemsize:
        return values
    return values.T if values.strides[0] == values.itemsize else np.ascontiguousarray(values)


def reference_sums(
    operator: SymmetricOperator, rows: Array, columns: Array, weights: Array, groups: Array
) -> Array:
    """Return plain float64 sums over an operator's `reference` values, block by block.

    ``weights``: a row for each group, a column for each of ``columns``. ``groups``: the row of
    weights that each of ``rows`` is summed with.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.solvers import DenseMatrix, reference_sums
    >>> K = DenseMatrix([[2.0, 1.0], [1.0, 3.0]])
    >>> reference_sums(K, np.array([1]), np.array([0, 1]), np.array([[1.0, 10.0]]), np.array([0]))
    array([31.])
    """
    sums = np.zeros(rows.size)
    for start in range(0, rows.size, GATHERED_ROWS):
        tile = slice(start, start + GATHERED_ROWS)
        own = groups[tile]
        step = max(1, BLOCK_VALUES // own.size)
        for first in range(0, columns.size, step):
            some = slice(first, first + step)
            values = operator.reference(rows[tile], columns[some])
            if weights.shape[0] == 1:
                sums[tile] += values @ weights[0, some]
            else:
                sums[tile] += np.einsum("ij,ij->i", values, weights[own, some])
    return sums
