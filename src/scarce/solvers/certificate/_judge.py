"""Proof of quality of a point, from the program alone, in plain float64 NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array
from scarce._core import AT_BOUND, FEASIBLE, ROUNDED_OBJECTIVE
from scarce.solvers._program import QuadraticProgram
from scarce.solvers.certificate._gap import duality_gap
from scarce.solvers.certificate._offsets import best_multipliers


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
        The multipliers of the equalities that the gap is that of: those at which it is smallest;
        with boxes that have no end, the midpoints of ``[m_g, M_g]``.
    primal_objective : float
        The primal problem's value at the model of this point and these multipliers; minus
        `objective` where none is known.
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
    primal_objective: float
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
    all_rows = np.arange(problem.kernel.n)
    field = problem.kernel.reference_sums(all_rows, support, weights, problem.groups)
    return judge(problem, alpha, field)


def judge(
    problem: QuadraticProgram, alpha: Array, field: Array, error: Array | None = None
) -> Certificate:
    """Judge a point whose kernel field ``sum_j A K y alpha`` is known, up to an error if given.

    Violation and gap are then the largest that any field within the error would have.
    """
    x, groups = problem.signs * alpha, problem.groups
    lower, upper, linear, kernel_signs, bounded, widths = problem.signed
    kernel_part = kernel_signs * field
    gradient = kernel_part + linear
    if problem.curved:
        gradient += problem.diagonal * x
    # What each variable would have its group's multiplier be.
    wanted = -gradient
    sizes = np.abs(x)
    masses = problem.sums(sizes)
    room = AT_BOUND * np.minimum(widths, masses[groups])
    grows, shrinks = x < upper - room, x > lower + room
    m, M = extremes(problem, wanted, wanted, grows, shrinks)
    if bounded and not problem.curved and np.isfinite(gradient).all():
        multipliers = best_multipliers(x, gradient, lower, upper, groups, problem.n_groups)
        # Sums over boxes of many decades lose the light ones, whose conditions hold in here.
        multipliers = np.clip(multipliers, np.minimum(m, M), np.maximum(m, M))
    else:
        multipliers = midpoints(m, M)
    if error is not None:
        m, M = extremes(problem, wanted + error, wanted - error, grows, shrinks)
    violation = (m - M).max()

    quadratic = float(x @ kernel_part)
    objective = 0.5 * quadratic + float(linear @ x)
    if problem.curved:
        objective += 0.5 * float(problem.diagonal @ x**2)
    missing = problem.totals - problem.sums(x)
    gap, relative, primal = np.nan, np.nan, -objective
    if problem.definite:
        own = problem.kernel.diagonal()
        if problem.n_groups > 1 or problem.coupling[0, 0] != 1.0:
            own = problem.coupling[groups, groups] * own
        own = np.abs(own)
        # An optimum of zero (the origin inside the hull) is only known up to rounding of its terms.
        terms = float((own + problem.diagonal) @ x**2)
        if linear.any():  # at such an optimum both kinds of terms are of one size
            terms = min(terms, float(np.abs(linear) @ np.abs(x)))
        zero = abs(objective) <= ROUNDED_OBJECTIVE * terms
        gap, plain, multipliers = duality_gap(
            problem, x, sizes, kernel_part, own, multipliers, error, quadratic, zero
        )
        unmet = float(multipliers @ missing)
        gap += abs(unmet)
        primal = plain + unmet - objective if np.isfinite(plain) else -objective
        unknown = 0.0 if error is None else 0.5 * float(sizes @ error)
        bound = 0.0 if np.isinf(gap) else abs(objective - gap)
        # Whatever the objective is within its error.
        least = max(abs(objective), bound) - unknown
        relative = _relative(gap, max(least, ROUNDED_OBJECTIVE * terms))
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
        primal_objective=primal,
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
