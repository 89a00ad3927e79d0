"""The family of quadratic programs every estimator of this library reduces to."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

_GATHERED = 1024  # rows held at a time
_BLOCK_VALUES = 2_000_000  # kernel values held at a time, 16 MB


class SymmetricOperator(Protocol):
    """A symmetric matrix that is never stored: blocks and sums on demand."""

    n: int

    @property
    def definite(self) -> bool:
        """Whether the matrix is positive semidefinite for certain; without it there is no gap."""

    @property
    def name(self) -> str:
        """What messages call the matrix: the kernel's name."""

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer, the fastest first and the most accurate last."""

    def subset(self, indices: Array) -> SymmetricOperator:
        """Return the operator of some of the rows and the same columns."""

    def diagonal(self) -> Array:
        """Return the diagonal, or an upper bound of it where that is far cheaper."""

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``, in its precision."""

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""

    def error_bound(self, traffic: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row.

        ``traffic[j]`` is the sum of all ``|weight|`` that went through column ``j`` in any number
        of calls. Adding to ``out`` itself is the caller's part.
        """

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means, sharing no code with the methods above."""

    def reference_sums(self, rows: Array, columns: Array, weights: Array, groups: Array) -> Array:
        """Return ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]`` from such values.

        `scarce.solvers.reference_sums` does it for any operator, block by block.
        """


class SignedParts(NamedTuple):
    """Bounds, linear term and signs of the kernel part of a program in ``signs * alpha``."""

    lower: Array
    upper: Array
    linear: Array
    turn: Array
    bounded: bool
    widths: Array  # of the boxes


class QuadraticProgram:
    """Minimise ``1/2 a'Qa + p'a`` with one signed equality per group and a box.

    ``sum of signs * alpha over group g = totals[g]`` for each group, ``lower <= alpha <= upper``,
    and ``Q[i, j] = y_i y_j A[g_i, g_j] K[i, j] + [i = j] d_i`` with ``y`` the `kernel_signs`, ``A``
    the `coupling` of the groups, ``K`` the `kernel` and ``d`` the `diagonal`.

    Parameters
    ----------
    kernel : operator
        The matrix ``K``: `DenseMatrix` for an array, `scarce.kernels.make_operator` for data.
    totals : array-like of shape (n_groups,)
        Right-hand sides of the equalities.
    lower, upper : float or array-like of shape (n,)
        The box; infinite bounds are allowed.
    linear : float or array-like of shape (n,)
        ``p``.
    groups : array-like of int of shape (n,), optional
        Group of each variable, ``0 .. n_groups - 1``. One group by default.
    signs, kernel_signs : array-like of shape (n,), optional
        Entries +1 or -1; +1 by default.
    coupling : array-like of shape (n_groups, n_groups), optional
        Symmetric; ones by default.
    diagonal : float or array-like of shape (n,)
        ``d``, which must not be negative.

    Examples
    --------
    The point of the segment between (1, 0) and (0, 2) that is nearest to the origin:

    >>> import numpy as np
    >>> from scarce.solvers import DenseMatrix, QuadraticProgram, solve
    >>> points = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> program = QuadraticProgram(DenseMatrix(points @ points.T), totals=[1.0])
    >>> solve(program, tol=1e-10).alpha.round(6)
    array([0.8, 0.2])
    """

    def __init__(
        self,
        kernel: SymmetricOperator,
        *,
        totals: ArrayLike,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        linear: ArrayLike = 0.0,
        groups: ArrayLike | None = None,
        signs: ArrayLike | None = None,
        kernel_signs: ArrayLike | None = None,
        coupling: ArrayLike | None = None,
        diagonal: ArrayLike = 0.0,
    ) -> None:
        n = kernel.n
        if n == 0:
            raise ValueError("kernel has no rows; a quadratic program needs at least one variable")
        self.kernel = kernel
        self.totals: Array = np.array(totals, dtype=np.float64, ndmin=1)
        if self.totals.ndim != 1 or not all(map(math.isfinite, self.totals.tolist())):
            raise ValueError(f"totals must be finite, one value per group, got {totals!r}")
        self.n_groups = self.totals.size  # one equality each
        self.lower = _per_variable("lower", lower, n)
        self.upper = _per_variable("upper", upper, n)
        self.linear = _per_variable("linear", linear, n, finite=True)
        self.diagonal = _per_variable("diagonal", diagonal, n, finite=True)
        self.signs = _signs("signs", signs, n)
        self.kernel_signs = self.signs
        if kernel_signs is not signs:
            self.kernel_signs = _signs("kernel_signs", kernel_signs, n)
        self.groups = _groups(groups, n, self.n_groups)
        shape = (self.n_groups, self.n_groups)
        self.coupling: Array = np.ones(shape) if coupling is None else _coupling(coupling, shape)
        # Whether anything is added to the diagonal.
        plain = isinstance(diagonal, float)
        self.curved = bool(diagonal) if plain else bool(self.diagonal.any())
        if self.curved and self.diagonal.min() < 0:
            raise ValueError(f"diagonal must not be negative, got {self.diagonal.min()}")
        self.signed = self._signed(unsigned=signs is None)
        _check_feasible(self)

    @property
    def definite(self) -> bool:
        """Whether ``Q`` is positive semidefinite for certain: kernel and coupling both are."""
        if not self.kernel.definite:
            return False
        if self.n_groups == 1 or (self.coupling == 1.0).all():
            return bool(self.coupling[0, 0] >= 0)
        values = np.linalg.eigvalsh(self.coupling)
        return bool(values.min() >= -1e-12 * np.abs(values).max())

    def sums(self, values: Array) -> Array:
        """Return the sum of one value a variable over each group."""
        if self.n_groups == 1:
            return np.add.reduce(values, keepdims=True)
        return np.bincount(self.groups, values, minlength=self.n_groups)

    def _signed(self, unsigned: bool) -> SignedParts:
        """Return the parts in the variables ``signs * alpha``, after a look at the boxes."""
        lower, upper, linear, turn = self.lower, self.upper, self.linear, self.kernel_signs
        if not unsigned:
            positive, linear = self.signs > 0, self.signs * self.linear
            lower = np.where(positive, self.lower, -self.upper)
            upper = np.where(positive, self.upper, -self.lower)
            turn = self.signs * self.kernel_signs
        width = upper - lower
        if not width.min() >= 0:  # or NaN, of a bound or between two infinite ends
            _refuse_nan("lower", self.lower)
            _refuse_nan("upper", self.upper)
            crossed = self.lower > self.upper
            if crossed.any():
                i = int(crossed.argmax())
                raise ValueError(
                    f"lower must not exceed upper: variable {i} has the bounds "
                    f"[{self.lower[i]}, {self.upper[i]}]"
                )
        bounded = bool(width.max() < np.inf)
        return SignedParts(
            lower, upper, linear, turn, bounded, width if bounded else widths(lower, upper)
        )

    def with_kernel(self, kernel: SymmetricOperator) -> QuadraticProgram:
        """Return the same program with another matrix, for a row of solves; nothing is copied."""
        if kernel.n != self.kernel.n:
            n = self.kernel.n
            raise ValueError(f"kernel has {kernel.n} rows, but the program {n} variables")
        program = copy.copy(self)
        program.kernel = kernel
        return program

    def subset(self, indices: Array, scale: Array) -> QuadraticProgram:
        """Return the program of some of the variables, their boxes widened by each one's scale."""
        fields: dict[str, Any] = {
            name: getattr(self, name)[indices]
            for name in ("lower", "upper", "linear", "diagonal", "groups", "signs", "kernel_signs")
        }
        fields["lower"] = fields["lower"] * scale
        fields["upper"] = fields["upper"] * scale
        return QuadraticProgram(
            self.kernel.subset(indices), totals=self.totals, coupling=self.coupling, **fields
        )


def widths(lower: Array, upper: Array) -> Array:
    """Return the widths of the boxes; of an endless one, the size of its finite end."""
    with np.errstate(invalid="ignore"):
        width = np.asarray(upper - lower)
    ends = np.maximum(
        np.where(np.isfinite(lower), np.abs(lower), 0.0),
        np.where(np.isfinite(upper), np.abs(upper), 0.0),
    )
    return np.where(np.isfinite(width), width, ends)


def _per_variable(name: str, value: ArrayLike, n: int, finite: bool = False) -> Array:
    if type(value) is float and -np.inf < value < np.inf:
        return np.full(n, value) if value else np.zeros(n)
    array = np.array(value, dtype=np.float64)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a number or {n} numbers, got shape {array.shape}")
    if finite and not np.isfinite(array).all():
        _refuse_nan(name, array)
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)].flat[0]}")
    return np.full(n, float(array)) if array.ndim == 0 else array


def _refuse_nan(name: str, array: Array) -> None:
    if np.isnan(array).any():
        raise ValueError(f"{name} must not contain NaN")


def _signs(name: str, given: ArrayLike | None, n: int) -> Array:
    if given is None:
        return np.ones(n)
    signs = _per_variable(name, given, n)
    wrong = signs[np.abs(signs) != 1]
    if wrong.size:
        _refuse_nan(name, wrong)
        raise ValueError(f"{name} must hold only +1 and -1, got {wrong[0]}")
    return signs


def _coupling(given: ArrayLike, shape: tuple[int, int]) -> Array:
    coupling = np.asarray(given, np.float64)
    finite = coupling.shape == shape and np.isfinite(coupling).all()
    if not (finite and (shape == (1, 1) or np.allclose(coupling, coupling.T))):
        raise ValueError(
            f"coupling must be a finite symmetric array of shape {shape}, got {given!r}"
        )
    return coupling


def _groups(given: ArrayLike | None, n: int, n_groups: int) -> Array:
    if given is None and n_groups > 0:
        return np.zeros(n, np.int64)
    groups = np.zeros(n, np.int64) if given is None else np.asarray(given)
    if groups.shape != (n,) or not np.issubdtype(groups.dtype, np.integer):
        raise ValueError(f"groups must be {n} integers, got shape {groups.shape} of {groups.dtype}")
    if groups.min() < 0 or groups.max() >= n_groups:
        raise ValueError(
            f"groups must lie in 0 .. {n_groups - 1} (totals has {n_groups} values), "
            f"got {groups.min()} .. {groups.max()}"
        )
    return groups.astype(np.int64)


def _check_feasible(program: QuadraticProgram) -> None:
    """Raise an error that names the first group whose equality no point of the box meets."""
    low, high = program.signed[:2]
    totals = program.totals
    if program.n_groups == 1 and low.sum() <= totals[0] <= high.sum():
        return
    least, most = program.sums(low), program.sums(high)
    # Sums of bounds are known up to rounding; an end that is infinite is never met.
    under = totals < least - 1e-12 * np.maximum(np.abs(totals), np.abs(least))
    over = totals > most + 1e-12 * np.maximum(np.abs(totals), np.abs(most))
    broken = under | over
    if broken.any():
        g = int(np.flatnonzero(broken)[0])
        raise ValueError(
            f"infeasible: group {g} must sum to {program.totals[g]:g}, but the bounds of its "
            f"{int((program.groups == g).sum())} variables only allow sums from {least[g]:g} to "
            f"{most[g]:g}"
        )


class DenseMatrix:
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

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """One: the matrix is what it is."""
        return (np.float64,)

    def subset(self, indices: Array) -> DenseMatrix:
        """Return the operator of some of the rows and the same columns."""
        part = self.values[np.ix_(indices, indices)]
        return DenseMatrix(part, definite=self.definite, name=self.name)

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.diagonal(self.values).astype(np.float64)

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``, in its precision."""
        from scarce.solvers._compiled import gather_block

        gather_block(self.values, indices, indices, out)  # several times faster than indexing

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""
        for first in range(0, columns.size, _GATHERED):
            some = slice(first, first + _GATHERED)
            rows = self.values[columns[some]].astype(precision, copy=False)
            out += (weights[:, some] @ rows)[groups, np.arange(self.n)]

    def error_bound(self, traffic: Array, precision: Any) -> Array:
        """Return a bound of the rounding errors of the sums, the same for every row."""
        largest = float(max(self.values.max(), -self.values.min()))
        terms = _GATHERED + self.n / _GATHERED  # of a product, and the products added up
        return np.full(self.n, np.finfo(precision).eps * terms * largest * float(traffic.sum()))

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64."""
        return np.asarray(self.values[np.ix_(rows, columns)], dtype=np.float64)

    def reference_sums(self, rows: Array, columns: Array, weights: Array, groups: Array) -> Array:
        """Return ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]``."""
        return reference_sums(self, rows, columns, weights, groups)


def reference_sums(
    operator: SymmetricOperator, rows: Array, columns: Array, weights: Array, groups: Array
) -> Array:
    """Return plain float64 sums over an operator's `reference` values, block by block.

    Parameters
    ----------
    operator : operator
        The matrix ``K``.
    rows, columns : ndarray of int
        The part of it.
    weights : ndarray of shape (n_groups, n_columns)
        Weights of the columns.
    groups : ndarray of int of shape (n_rows,)
        For each of the rows the line of `weights` that it is summed with.

    Returns
    -------
    ndarray of shape (n_rows,)
        ``sum_j weights[groups[i], j] * K[rows[i], columns[j]]``.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.solvers import DenseMatrix, reference_sums
    >>> K = DenseMatrix([[2.0, 1.0], [1.0, 3.0]])
    >>> reference_sums(K, np.array([1]), np.array([0, 1]), np.array([[1.0, 10.0]]), np.array([0]))
    array([31.])
    """
    sums = np.zeros(rows.size)
    for start in range(0, rows.size, _GATHERED):
        tile = slice(start, start + _GATHERED)
        own = groups[tile]
        step = max(1, _BLOCK_VALUES // own.size)
        for first in range(0, columns.size, step):
            some = slice(first, first + step)
            values = operator.reference(rows[tile], columns[some])
            if weights.shape[0] == 1:
                sums[tile] += values @ weights[0, some]
            else:
                sums[tile] += np.einsum("ij,ij->i", values, weights[own, some])
    return sums
