"""The quadratic program that the solver is given, from what rows bring to it, and the answer."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array
from scarce.solvers._operator import SymmetricOperator


class SignedParts(NamedTuple):
    """Bounds, linear term and signs of the kernel part of a program in ``signs * alpha``."""

    lower: Array
    upper: Array
    linear: Array
    kernel_signs: Array
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
        check_feasible(self)

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
        """Return the sum of one value per variable over each group."""
        if self.n_groups == 1:
            return np.add.reduce(values, keepdims=True)
        return np.bincount(self.groups, values, minlength=self.n_groups)

    def _signed(self, unsigned: bool) -> SignedParts:
        """Return the parts in the variables ``signs * alpha``, after a look at the boxes."""
        lower, upper, linear, kernel_signs = self.lower, self.upper, self.linear, self.kernel_signs
        if not unsigned:
            positive, linear = self.signs > 0, self.signs * self.linear
            lower = np.where(positive, self.lower, -self.upper)
            upper = np.where(positive, self.upper, -self.lower)
            kernel_signs = self.signs * self.kernel_signs
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
            lower, upper, linear, kernel_signs, bounded, width if bounded else widths(lower, upper)
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


def check_feasible(program: QuadraticProgram) -> None:
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


@dataclass(frozen=True)
class Progress:
    """State after one block: what a callback sees.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        The dual variables.
    objective : float
        Their objective.
    violation : float
        How far the optimality conditions are from met.
    n_iter : int
        Pairwise steps so far.
    """

    alpha: Array
    objective: float
    violation: float
    n_iter: int


@dataclass(frozen=True)
class Solution:
    """Answer of `solve`.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        The minimiser.
    gradient : ndarray of shape (n,)
        ``Q alpha + p``.
    multipliers : ndarray of shape (n_groups,)
        Multipliers of the equalities, those of the smallest duality gap: what `dual_gap` judges is
        the model that has them.
    objective : float
        ``1/2 a'Qa + p'a``.
    primal_objective : float
        The primal problem's value at that model.
    dual_gap : float
        A bound of the relative duality gap; NaN when the matrix is not positive semidefinite for
        certain.
    kkt_violation : float
        A bound of ``max over groups of m_g - M_g``: from plain kernel values where rounding errors
        could matter, with a bound of those errors elsewhere.
    infeasibility, relative_infeasibility : float
        The largest violation of a bound or an equality, and the same relative to its group's mass.
    n_iter : int
        Pairwise steps taken.
    status : {"optimal", "max_iter", "stopped", "stalled"}
        "optimal": violation and gap are within `tol`, the point is feasible up to rounding;
        "stopped": the callback asked for it; "stalled": rounding errors allow no further progress
        before `tol` was met, or none that is worth its time.
    negative_curvature : bool
        Whether a direction of negative curvature was met: the solution is then a local one.
    """

    alpha: Array
    gradient: Array
    multipliers: Array
    objective: float
    primal_objective: float
    dual_gap: float
    kkt_violation: float
    infeasibility: float
    relative_infeasibility: float
    n_iter: int
    status: Literal["optimal", "max_iter", "stopped", "stalled"]
    negative_curvature: bool

    @property
    def is_finite(self) -> bool:
        """Whether minimiser and multipliers are finite."""
        multipliers: list[float] = self.multipliers.tolist()
        return all(map(math.isfinite, multipliers)) and bool(np.isfinite(self.alpha).all())


TERMS = ("groups", "signs", "kernel_signs", "linear", "upper")


@dataclass(frozen=True)
class Terms:
    """What some rows bring to a `scarce.solvers.QuadraticProgram` whose lower bounds are zero.

    Attributes
    ----------
    groups, signs, kernel_signs, linear, upper : ndarray of shape (n,)
        As there; a row whose upper bound is zero takes no part.
    """

    groups: Array
    signs: Array
    kernel_signs: Array
    linear: Array
    upper: Array

    def wanted_multipliers(self, reduced: Array, multipliers: Array) -> Array:
        """Return what multiplier each row would have its group take, from its reduced gradient."""
        return np.asarray(multipliers[self.groups] - self.signs * reduced)

    @classmethod
    def joined(cls, parts: list[Terms]) -> Terms:
        """Return those of several sets of rows as one."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in TERMS))

    def rows(self, some: Array) -> Terms:
        """Return those of some rows."""
        return Terms(*(getattr(self, name)[some] for name in TERMS))

    def bounded(self, upper: Array) -> Terms:
        """Return the same with other upper bounds."""
        return replace(self, upper=upper)


class Problem(Protocol):
    """A problem of which every row knows its own part.

    ``totals``: right-hand sides of the equalities. ``coupling``: what multiplies the kernel between
    groups.
    """

    @property
    def totals(self) -> Array: ...
    @property
    def coupling(self) -> Array: ...

    def terms(self, weights: Array, values: Mapping[str, Array]) -> Terms:
        """Return what rows of some weights bring; values are labels or domains, by name."""


def program_of(
    problem: Problem,
    operator: SymmetricOperator,
    terms: Terms,
    totals: Array | None = None,
    linear: Array | None = None,
) -> QuadraticProgram:
    """Return the program of some rows: their terms and the matrix of their inner products.

    ``totals``, ``linear``: in place of the problem's and of the rows', where other rows are held at
    their bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import OneClassProblem, program_of
    >>> from scarce.solvers import DenseMatrix, solve
    >>> problem = OneClassProblem(mass=1.0)
    >>> program = program_of(problem, DenseMatrix(np.diag([1.0, 4.0])), problem.terms(np.ones(2)))
    >>> solve(program, tol=1e-9).alpha.round(6)
    array([0.8, 0.2])
    """
    signs: Array | None = terms.signs
    kernel_signs: Array | None = terms.kernel_signs
    if terms.signs.min(initial=1.0) > 0:  # which a program knows how to do without
        kernel_signs = None if kernel_signs is signs else kernel_signs
        signs = None
    own, coupling = problem.totals, problem.coupling
    alone = own.size == 1
    return QuadraticProgram(
        operator,
        totals=own if totals is None else totals,
        upper=terms.upper,
        linear=terms.linear if linear is None else linear,
        groups=None if alone else terms.groups,
        signs=signs,
        kernel_signs=kernel_signs,
        coupling=None if alone and coupling[0, 0] == 1.0 else coupling,
    )
