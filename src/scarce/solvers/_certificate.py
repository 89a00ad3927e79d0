"""Proof of quality of a point, from the program alone, in plain float64 NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarce.solvers._dual import duality_gap
from scarce.solvers._problem import QuadraticProgram

Array = NDArray[Any]

# A value this near to a bound, as a share of the box or of the group's mass, whichever is less, is
# at the bound: sums leave rounding errors.
AT_BOUND = 1e-12
ROUNDED = 1e-12  # share of an objective's terms below which its value is rounding
FEASIBLE = 1e-11  # relative infeasibility that is rounding


@dataclass(frozen=True)
class Certificate:
    """How far a point is from optimal.

    Attributes
    ----------
    objective : float
        ``1/2 a'Qa + p'a``.
    dual_objective : float
        A lower bound of the optimum; minus infinity when the multipliers prove nothing, NaN when
        the matrix is not positive semidefinite for certain: then nothing is a bound.
    dual_gap : float
        ``(objective - dual_objective) / max(|objective|, |dual_objective|)``; 0 when both are 0,
        NaN as above.
    kkt_violation : float
        ``max over groups of m_g - M_g``, not below 0: what `tol` bounds.
    multipliers : ndarray of shape (n_groups,)
        Midpoints of ``[m_g, M_g]``, the multipliers of the equalities.
    infeasibility : float
        The largest violation of a bound or an equality.
    relative_infeasibility : float
        The same, each relative to its group's mass: the sum of ``|alpha|`` and ``|total|``.
    """

    objective: float
    dual_objective: float
    dual_gap: float
    kkt_violation: float
    multipliers: Array
    infeasibility: float
    relative_infeasibility: float

    def within(self, tol: float) -> bool:
        """Say whether the point is optimal to a tolerance, and feasible up to rounding."""
        gap_met = np.isnan(self.dual_gap) or self.dual_gap <= tol
        return bool(
            self.kkt_violation <= tol and gap_met and self.relative_infeasibility <= FEASIBLE
        )


def certify(problem: QuadraticProgram, alpha: ArrayLike) -> Certificate:
    """Judge a point of a program from the program alone.

    The gradient is computed anew in float64 with the operator's plain `reference` values, in
    blocks; nothing a solver kept is used.

    Parameters
    ----------
    problem : QuadraticProgram
        The program.
    alpha : array-like of shape (n,)
        The point; it need not be feasible.

    Returns
    -------
    Certificate
        Objective, bound, gap, KKT violation and infeasibility.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.solvers import DenseMatrix, QuadraticProgram, certify
    >>> program = QuadraticProgram(DenseMatrix(np.eye(2), definite=True), totals=[1.0])
    >>> certify(program, [0.5, 0.5]).dual_gap < 1e-12
    True
    >>> certify(program, [1.0, 0.0]).kkt_violation
    1.0
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.shape != (problem.kernel.n,) or not np.isfinite(alpha).all():
        raise ValueError(
            f"alpha must be {problem.kernel.n} finite numbers, got shape {alpha.shape}"
        )
    support = np.flatnonzero(alpha)
    signed = problem.kernel_signs[support] * alpha[support]
    weights = problem.coupling[:, problem.groups[support]] * signed
    everyone = np.arange(problem.kernel.n)
    field = problem.kernel.reference_sums(everyone, support, weights, problem.groups)
    return judge(problem, alpha, field)


def judge(
    problem: QuadraticProgram, alpha: Array, field: Array, error: Array | None = None
) -> Certificate:
    """Judge a point whose kernel field ``sum_j A K y alpha`` is known, up to an error if given.

    Violation and gap are then the largest that any field within the error would have.
    """
    x, groups = problem.signs * alpha, problem.groups
    lower, upper, linear, turn, _, widths = problem.signed
    kernel_part = turn * field
    # What each variable would have its group's multiplier be.
    pull = -(kernel_part + linear)
    if problem.curved:
        pull -= problem.diagonal * x
    sizes = np.abs(x)
    masses = problem.sums(sizes)
    room = AT_BOUND * np.minimum(widths, masses[groups])
    grows, shrinks = x < upper - room, x > lower + room
    m, M = extremes(problem, pull, pull, grows, shrinks)
    multipliers = midpoints(m, M)
    violation = (m - M).max()
    if error is not None:
        m, M = extremes(problem, pull + error, pull - error, grows, shrinks)
        violation = (m - M).max()

    quadratic = float(x @ kernel_part)
    objective = 0.5 * quadratic + float(linear @ x)
    if problem.curved:
        objective += 0.5 * float(problem.diagonal @ x**2)
    missing = problem.totals - problem.sums(x)
    gap, relative = np.nan, np.nan
    if problem.definite:
        own = problem.kernel.diagonal()
        if problem.n_groups > 1 or problem.coupling[0, 0] != 1.0:
            own = problem.coupling[groups, groups] * own
        own = np.abs(own)
        # An optimum of zero (the origin inside the hull) is only known up to rounding of its terms.
        terms = float((own + problem.diagonal) @ x**2)
        if linear.any():  # at such an optimum both kinds of terms are of one size
            terms = min(terms, float(np.abs(linear) @ np.abs(x)))
        zero = abs(objective) <= ROUNDED * terms
        gap = duality_gap(problem, x, sizes, kernel_part, own, multipliers, error, quadratic, zero)
        gap += float(abs(multipliers @ missing))
        unknown = 0.0 if error is None else 0.5 * float(sizes @ error)
        bound = 0.0 if np.isinf(gap) else abs(objective - gap)
        relative = _relative(gap, max(abs(objective) - unknown, bound, ROUNDED * terms))
    outside = np.maximum(np.maximum(lower - x, x - upper), 0.0)
    off = np.abs(missing)
    if outside.any():
        np.maximum.at(off, groups, outside)
    scales = masses + np.abs(problem.totals)
    shares = np.divide(off, scales, out=off.copy(), where=scales > 0)
    return Certificate(
        objective=objective,
        dual_objective=objective - gap,
        dual_gap=relative,
        kkt_violation=float(max(0.0, violation)),
        multipliers=multipliers,
        infeasibility=float(off.max()),
        relative_infeasibility=float(shares.max()),
    )


def extremes(
    problem: QuadraticProgram, above: Array, below: Array, grows: Array, shrinks: Array
) -> tuple[Array, Array]:
    """Return ``m`` and ``M`` of every group."""
    if problem.n_groups == 1:
        m = np.max(above, where=grows, initial=-np.inf, keepdims=True)
        return m, np.min(below, where=shrinks, initial=np.inf, keepdims=True)
    m = np.full(problem.n_groups, -np.inf)
    M = np.full(problem.n_groups, np.inf)
    np.maximum.at(m, problem.groups[grows], above[grows])
    np.minimum.at(M, problem.groups[shrinks], below[shrinks])
    return m, M


def midpoints(m: Array, M: Array) -> Array:
    """Return the middle of ``[m, M]``; the finite end when one side is empty, 0 when both are."""
    if np.isfinite(m).all() and np.isfinite(M).all():
        return np.asarray(0.5 * (m + M))
    low = np.where(np.isfinite(m), m, np.where(np.isfinite(M), M, 0.0))
    high = np.where(np.isfinite(M), M, low)
    return np.asarray(0.5 * (low + high))


def _relative(gap: float, scale: float) -> float:
    return float(max(0.0, gap) / scale if scale > 0 else max(0.0, gap))
