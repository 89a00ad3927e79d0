"""Regression with squared slacks outside a tube: a finite Newton method on the active samples.

The problem, in the multipliers ``theta`` of ``n`` samples, is

    min  1/2 theta'(K + diag(1/C)) theta - t'theta + sum_u eps_u |theta_u|,
    sum_u theta_u = 0,   |theta_u| <= U_u,

the dual of ``min over w, b of 1/2 |w|^2 + sum_u C_u/2 max(0, |t_u - w'mu_u - b| - eps_u)^2`` where
a finite cap ``U`` turns the square into a line from ``U / C`` on. The primal is piecewise quadratic
and smooth. On the piece of a point, samples outside their tubes or at their caps and their sides,
its minimiser solves one linear system: the Newton step. With an exact search along the step the
objective falls every time, no piece is visited twice, and the method ends at the exact solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from scarce._arrays import Array
from scarce._core import FEASIBLE
from scarce.parallel import single_threaded_blas
from scarce.solvers._program import Progress
from scarce.solvers.tube._certificate import (
    TubeCertificate,
    certify_tube,
    negative_gradients,
    outside_tubes,
    slack_loss,
    tube_values,
)
from scarce.solvers.tube._systems import TubeSystem

MENDED = 1e-6  # share of the multipliers up to which a sum that is not zero is rounding
ROUNDING_OF_FALLS = 1e-14  # share of the objective below which a fall may be a rounding error
SLOW, SLOW_STEPS = 1e-9, 50  # so many falls in a row below this share lead nowhere: rounding
# Linear systems, or as many as there are samples, after which the pieces that are visited are those
# of rounding: a few dozen are the rule.
MOST_SYSTEMS = 1000


@dataclass(frozen=True)
class TubeSolution:
    """Answer of `solve_tube`."""

    theta: Array  # (n,): the multipliers
    # the weight vector as the system writes it: multipliers of a `GramSystem`, scaled features of a
    # `FeatureSystem`
    w: Array
    intercept: float  # the offset ``b``
    scores: Array  # (n,): ``w'mu_u``, without the offset
    objective: float  # the primal objective
    dual_gap: float  # relative duality gap, from the multipliers alone
    # largest error of ``theta_u = C_u (residual outside the tube)`` in the scale of the targets
    kkt_violation: float
    # sum of the multipliers, which should be zero, relative to that of their absolute values
    relative_infeasibility: float
    n_iter: int  # linear systems solved
    status: Literal["optimal", "max_iter", "stopped", "stalled"]  # as in `Solution`
    negative_curvature: bool  # as in `Solution`

    @property
    def is_finite(self) -> bool:
        """Whether multipliers and offset are finite."""
        return bool(np.isfinite(self.theta).all() and np.isfinite(self.intercept))


def solve_tube(
    system: TubeSystem,
    targets: ArrayLike,
    tube: ArrayLike = 0.0,
    costs: ArrayLike = 1.0,
    caps: ArrayLike = np.inf,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    start: TubeSolution | None = None,
    callback: Callable[[Progress], Any] | None = None,
) -> TubeSolution:
    """Fit targets within a tube, squared slacks outside it.

    ``targets``: ``t``. ``tube``: half widths ``eps``, not negative. ``costs``: ``C``, positive.
    ``caps``: largest multipliers ``U``, infinite for plain squared slacks. ``tol``: largest
    violation of the optimality conditions; the method goes on to the exact solution when rounding
    errors allow. ``max_iter``: largest number of linear systems; -1 for no limit but 1,000 or the
    number of samples, whichever is more: beyond, steps follow rounding errors. ``start``: the
    solution of a similar problem with the same system. ``callback``: as in `solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.solvers import GramSystem, solve_tube
    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> found = solve_tube(GramSystem(np.outer(x, x)), [-2.0, 0.1, 2.0], 0.5, 10.0)
    >>> float((found.theta @ x).round(4)), round(found.intercept, 4)
    (1.4286, 0.0)
    """
    n = system.n
    if n == 0:
        raise ValueError("the system has no samples; a tube needs at least one")
    t = tube_values("targets", targets, n)
    eps = tube_values("tube", tube, n)
    C = tube_values("costs", costs, n)
    U = tube_values("caps", caps, n, finite=False)
    if (eps < 0).any():
        raise ValueError(f"tube must not be negative, got {eps.min()}")
    if (C <= 0).any():
        raise ValueError(f"costs must be positive, got {C.min()}")
    if not (U > 0).all():
        raise ValueError(f"caps must be positive, got {U.min()}")
    if not tol > 0:
        raise ValueError(f"tol must be positive, got {tol}")
    if max_iter < -1:
        raise ValueError(f"max_iter must be -1 (no limit) or at least 0, got {max_iter}")
    with single_threaded_blas:
        newton = _Newton(system, t, eps, C, U)
        if start is not None:
            newton.begin(start)
        status = newton.run(np.inf if max_iter == -1 else max_iter, callback)
        return newton.solution(status, tol)


def with_intercept(
    solution: TubeSolution,
    intercept: float,
    system: TubeSystem,
    targets: Array,
    tube: Array,
    costs: Array,
    tol: float,
    definite: bool,
) -> TubeSolution:
    """Return a solution of a problem without caps with another offset, judged anew.

    ``definite``: whether the samples' kernel matrix is positive semidefinite for certain: else the
    dual proves nothing, and the gap is NaN.
    """
    found = certify_tube(system, targets, tube, costs, solution.theta, intercept)
    outside = outside_tubes(targets - solution.scores - intercept, tube)
    norm = system.inner(solution.w, solution.w, solution.scores)
    gap = found.dual_gap if definite else np.nan
    worst = float(np.fmax(found.kkt_violation, gap))
    if solution.relative_infeasibility > FEASIBLE:
        worst = np.inf
    return replace(
        solution,
        intercept=intercept,
        objective=0.5 * norm + slack_loss(outside, costs, np.full(system.n, np.inf)),
        dual_gap=gap,
        kkt_violation=found.kkt_violation,
        status=_judged(solution.status, worst, tol),
    )


class _Newton:
    """A point ``(w, b)`` and its steps."""

    def __init__(self, system: TubeSystem, t: Array, eps: Array, C: Array, U: Array) -> None:
        self.system = system
        self.t, self.eps, self.C, self.U = t, eps, C, U
        self.w, self.b, self.scores = system.origin(), 0.0, np.zeros(system.n)
        self.simple = bool(not eps.any() and np.isinf(U).all())  # one piece only
        self.warm = False
        self.n_iter = self.slow_steps = 0

    def begin(self, start: TubeSolution) -> None:
        self.w, self.b, self.scores = start.w, start.intercept, start.scores
        self.warm = True

    def run(self, budget: float, callback: Callable[[Progress], Any] | None) -> Any:
        value = self.value(self.w, self.b, self.scores)
        if self.tell(callback, value):
            return "stopped"
        done, most = False, max(MOST_SYSTEMS, self.system.n)
        while not done and self.n_iter < most:
            if self.n_iter >= budget:
                return "max_iter"
            if self.n_iter == 0 and not self.warm:
                value, done = self.first_step(value)
            else:
                value, done = self.step(value)
            if self.tell(callback, value) and not done:
                return "stopped"
        return "optimal"

    def first_step(self, value: float) -> tuple[float, bool]:
        """Go to the solution without tubes and caps, one linear system, if that is any better."""
        all_rows = np.ones(self.system.n, dtype=bool)
        w, b = self.system.ridge(all_rows, self.t, self.C, np.zeros(self.system.n))
        self.n_iter += 1
        scores = self.system.scores(w)
        reached = self.value(w, b, scores)
        if reached < value or self.simple:
            self.w, self.b, self.scores, value = w, b, scores, reached
        return value, self.simple

    def step(self, value: float) -> tuple[float, bool]:
        """Take the Newton step of the current piece; say whether the solution is reached."""
        piece = self.piece(self.b, self.scores)
        w, b = self.minimiser(piece)
        self.n_iter += 1
        scores = self.system.scores(w)
        if np.array_equal(self.piece(b, scores), piece):
            # The minimiser of a piece in that piece: the optimum.
            self.w, self.b, self.scores = w, b, scores
            return self.value(w, b, scores), True
        length = self.length(w, b, scores)
        w, b = self.w + length * (w - self.w), self.b + length * (b - self.b)
        scores = self.scores + length * (scores - self.scores)
        reached = self.value(w, b, scores)
        if not reached < value - ROUNDING_OF_FALLS * abs(value):
            return value, True
        self.w, self.b, self.scores = w, b, scores
        self.slow_steps = self.slow_steps + 1 if reached > value - SLOW * abs(value) else 0
        return reached, self.slow_steps >= SLOW_STEPS

    def minimiser(self, piece: Array) -> tuple[Array, float]:
        """Return the minimiser of a piece, or where its slope leads when it has none."""
        side, capped = np.sign(piece), np.abs(piece) == 2
        active = ~capped & ((piece != 0) | (self.eps == 0))
        forces = np.where(capped, side, 0.0) * np.where(capped, self.U, 0.0)
        if active.any():
            return self.system.ridge(active, self.t - self.eps * side, self.C, forces)
        # No sample bends the objective in the offset: past the farthest one, its slope has turned.
        reach = float(np.abs(self.t - self.scores - self.b).max() + self.eps.max())
        return self.system.combination(forces), self.b + reach * float(np.sign(forces.sum()))

    def length(self, w: Array, b: float, scores: Array) -> float:
        """Return how far along the step the objective is least; it is convex, with a slope."""
        change, rise = w - self.w, scores - self.scores
        lift = rise + (b - self.b)
        residual = self.t - self.scores - self.b
        first = self.system.inner(self.w, change, rise)
        second = self.system.inner(change, change, rise)

        def slope(length: float) -> float:
            theta = negative_gradients(
                outside_tubes(residual - length * lift, self.eps), self.C, self.U
            )
            return first + length * second - float(theta @ lift)

        if slope(1.0) <= 0:
            return 1.0
        if slope(0.0) >= 0:
            return 0.0
        # To the last digit: a steep sample bends the slope within a tiny interval.
        return float(brentq(slope, 0.0, 1.0, xtol=1e-18, maxiter=500))

    def piece(self, b: float, scores: Array) -> Array:
        """Return the side on which each sample leaves its tube, twice that at its cap, 0 inside.

        A sample without a tube changes nothing by changing sides, and has 0 on both.
        """
        outside = outside_tubes(self.t - scores - b, self.eps)
        side = np.sign(outside)
        plain = np.where(self.eps > 0, side, 0.0)
        return np.where(self.C * np.abs(outside) > self.U, 2.0 * side, plain)

    def value(self, w: Array, b: float, scores: Array) -> float:
        """Return the primal objective."""
        outside = outside_tubes(self.t - scores - b, self.eps)
        return 0.5 * self.system.inner(w, w, scores) + slack_loss(outside, self.C, self.U)

    def multipliers(self) -> Array:
        """Return the multipliers of the point."""
        implied = negative_gradients(
            outside_tubes(self.t - self.scores - self.b, self.eps), self.C, self.U
        )
        return self.system.multipliers(self.w, implied)

    def balanced(self, theta: Array) -> Array:
        """Return multipliers that sum to zero, if all that is missing is rounding.

        A steep sample turns the last digit of the offset into a sum that is not zero. It is also
        the one that can give it back: for its own condition that is nothing.
        """
        excess = float(theta.sum())
        room = (theta != 0) & (np.abs(theta) + abs(excess) < self.U)
        if not 0.0 < abs(excess) <= MENDED * float(np.abs(theta).sum()) or not room.any():
            return theta
        moved = theta.copy()
        moved[np.where(room, self.C, 0.0).argmax()] -= excess
        return moved

    def certificate(self) -> tuple[Array, TubeCertificate]:
        """Return the multipliers and what they prove."""
        theta = self.balanced(self.multipliers())
        return theta, certify_tube(self.system, self.t, self.eps, self.C, theta, self.b, self.U)

    def tell(self, callback: Callable[[Progress], Any] | None, value: float) -> bool:
        if callback is None:
            return False
        theta, found = self.certificate()
        return bool(callback(Progress(theta, value, found.kkt_violation, self.n_iter)))

    def solution(self, status: Any, tol: float) -> TubeSolution:
        theta, found = self.certificate()
        if theta is not self.w and self.multipliers() is self.w:  # written as its multipliers
            self.w = theta
        self.scores = self.system.scores(self.w)  # every step left its rounding in them
        size = float(np.abs(theta).sum())
        infeasibility = found.imbalance / size if size > 0 else 0.0
        worst = found.kkt_violation if infeasibility <= FEASIBLE else np.inf
        return TubeSolution(
            theta=theta,
            w=self.w,
            intercept=self.b,
            scores=self.scores,
            objective=self.value(self.w, self.b, self.scores),
            dual_gap=found.dual_gap,
            kkt_violation=found.kkt_violation,
            relative_infeasibility=infeasibility,
            n_iter=self.n_iter,
            status=_judged(status, worst, tol),
            negative_curvature=self.system.negative_curvature,
        )


def _judged(status: Any, violation: float, tol: float) -> Any:
    """Return how a solver ended, by what its answer is worth."""
    if violation <= tol:
        return "optimal"
    return "stalled" if status == "optimal" else status
