"""Proof of quality of a point, from the program alone, in plain float64 NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarce.solvers._problem import QuadraticProgram

Array = NDArray[Any]

# A value this near to a bound, as a share of the box, is at the bound: sums leave rounding errors.
AT_BOUND = 1e-12
_BLOCK_VALUES = 2_000_000  # kernel values held at a time, 16 MB
_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class Certificate:
    """How far a point is from optimal.

    Attributes
    ----------
    objective : float
        ``1/2 a'Qa + p'a``.
    dual_objective : float
        A lower bound of the optimum; minus infinity when the multipliers prove nothing.
    dual_gap : float
        ``(objective - dual_objective) / max(|objective|, |dual_objective|)``; 0 when both are 0.
    kkt_violation : float
        ``max over groups of m_g - M_g``, not below 0: what `tol` bounds.
    multipliers : ndarray of shape (n_groups,)
        Midpoints of ``[m_g, M_g]``, the multipliers of the equalities.
    infeasibility : float
        The largest violation of a bound or an equality.
    """

    objective: float
    dual_objective: float
    dual_gap: float
    kkt_violation: float
    multipliers: Array
    infeasibility: float


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
    >>> program = QuadraticProgram(DenseMatrix(np.eye(2)), totals=[1.0])
    >>> certify(program, [0.5, 0.5]).dual_gap
    0.0
    >>> certify(program, [1.0, 0.0]).kkt_violation
    1.0
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.shape != (problem.kernel.n,) or not np.isfinite(alpha).all():
        raise ValueError(
            f"alpha must be {problem.kernel.n} finite numbers, got shape {alpha.shape}"
        )
    return judge(problem, alpha, reference_field(problem, alpha, np.arange(problem.kernel.n)))


def widths(lower: Array, upper: Array) -> Array:
    """Return the widths of the boxes; of an endless one, the size of its finite end."""
    ends = np.maximum(
        np.where(np.isfinite(lower), np.abs(lower), 0.0),
        np.where(np.isfinite(upper), np.abs(upper), 0.0),
    )
    endless = np.isinf(lower) | np.isinf(upper)
    with np.errstate(invalid="ignore"):
        return np.where(endless, ends, upper - lower)


def reference_field(problem: QuadraticProgram, alpha: Array, rows: Array) -> Array:
    """Return ``sum_j A[g_i, g_j] K[i, j] y_j alpha_j`` for some rows, in plain float64."""
    support = np.flatnonzero(alpha)
    weights = problem.coupling[:, problem.groups[support]] * (
        problem.kernel_signs[support] * alpha[support]
    )
    field = np.zeros(rows.size)
    for start in range(0, rows.size, _BLOCK_ROWS):
        tile = slice(start, start + _BLOCK_ROWS)
        groups = problem.groups[rows[tile]]
        step = max(1, _BLOCK_VALUES // groups.size)
        for first in range(0, support.size, step):
            some = slice(first, first + step)
            values = problem.kernel.reference(rows[tile], support[some])
            if problem.n_groups == 1:
                field[tile] += values @ weights[0, some]
            else:
                field[tile] += np.einsum("ij,ij->i", values, weights[groups, some])
    return field


def judge(problem: QuadraticProgram, alpha: Array, field: Array) -> Certificate:
    """Judge a point whose kernel field ``sum_j A K y alpha`` is known."""
    lower, upper, signs, groups = problem.lower, problem.upper, problem.signs, problem.groups
    kernel_part = problem.kernel_signs * field + problem.linear
    gradient = kernel_part + problem.diagonal * alpha
    pull = -signs * gradient
    room = AT_BOUND * widths(lower, upper)
    below, above = alpha < upper - room, alpha > lower + room
    grows, shrinks = np.where(signs > 0, below, above), np.where(signs > 0, above, below)
    m = np.full(problem.n_groups, -np.inf)
    M = np.full(problem.n_groups, np.inf)
    np.maximum.at(m, groups[grows], pull[grows])
    np.minimum.at(M, groups[shrinks], pull[shrinks])
    multipliers = midpoints(m, M)

    # Lagrange dual at these multipliers; the diagonal is kept with the box, so that variables
    # without an upper bound (squared slacks) still give a finite bound.
    reduced = kernel_part + signs * multipliers[groups]
    quadratic = alpha @ (problem.kernel_signs * field)
    objective = float(0.5 * quadratic + problem.linear @ alpha + 0.5 * problem.diagonal @ alpha**2)
    least = _box_minima(reduced, problem.diagonal, lower, upper)
    dual = float(-0.5 * quadratic + least.sum() - multipliers @ problem.totals)
    # An optimum of zero (the origin inside the hull) is only known up to rounding of its terms.
    own = np.abs(problem.coupling[groups, groups] * problem.kernel.diagonal())
    terms = float((own + problem.diagonal) @ alpha**2)
    scale = max(abs(objective), 0.0 if np.isinf(dual) else abs(dual), 1e-9 * terms)
    sums = np.bincount(groups, signs * alpha, minlength=problem.n_groups)
    outside = max(float((lower - alpha).max()), float((alpha - upper).max()), 0.0)
    return Certificate(
        objective=objective,
        dual_objective=dual,
        dual_gap=_relative(objective - dual, scale),
        kkt_violation=float(max(0.0, np.max(m - M))),
        multipliers=multipliers,
        infeasibility=max(outside, float(np.abs(sums - problem.totals).max())),
    )


def _relative(gap: float, scale: float) -> float:
    return float(max(0.0, gap) / scale if scale > 0 else max(0.0, gap))


def midpoints(m: Array, M: Array) -> Array:
    """Return the middle of ``[m, M]``; the finite end when one side is empty, 0 when both are."""
    low = np.where(np.isfinite(m), m, np.where(np.isfinite(M), M, 0.0))
    high = np.where(np.isfinite(M), M, low)
    return np.asarray(0.5 * (low + high))


def _box_minima(slope: Array, curvature: Array, lower: Array, upper: Array) -> Array:
    """Return ``min over [lower, upper] of slope * x + curvature / 2 * x**2``, entry by entry."""
    with np.errstate(invalid="ignore", divide="ignore"):
        at_end = np.where(slope > 0, lower, upper)
        ends = np.where(slope == 0, 0.0, slope * at_end)
        inner = np.clip(np.where(curvature > 0, -slope / curvature, 0.0), lower, upper)
        curved = slope * inner + 0.5 * curvature * inner**2
    return np.where(curvature > 0, curved, ends)
