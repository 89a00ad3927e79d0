"""The working-set loop: a block of variables at a time, until nothing violates its conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from scarce._arrays import Array
from scarce._core import FEASIBLE, MOST_GOALS, MOST_PAIRWISE
from scarce.solvers._descent import Descent
from scarce.solvers._field import Field
from scarce.solvers._interior import SMALL, interior_start
from scarce.solvers._newton import FACTORED_UP_TO, SINGULAR_UP_TO, free_variables, newton_steps
from scarce.solvers._program import Progress, Solution
from scarce.solvers._signed import SignedForm
from scarce.solvers._step_data import StepMatrix
from scarce.solvers._steps import (
    has_negative_curvature,
    matrix_of_block,
    matrix_of_single,
    solve_block,
)
from scarce.solvers._unbounded import refuse_unbounded
from scarce.solvers._working_set import WorkingSets
from scarce.solvers.certificate._check import CHECKED_VALUES, all_checked, checked_field
from scarce.solvers.certificate._judge import Certificate, judge, midpoints

BLOCK_PATIENCE = (
    20  # blocks without progress, within rounding errors, after which the loop gives up
)
STEPS_PER_CALL = 20_000  # compiled steps between two looks at the keyboard, at least
# Steps that are spent on closing the duality gap once `tol` is met, as a multiple of those before.
# An optimum next to zero, of a nu-SVC that hardly has a margin, would take any number of them.
GAP_EFFORT = 2
CRAWL = 100  # pairwise steps per variable after which a small program gets an interior start
ROUGH_GOAL = 0.5  # share of the tolerance that single precision aims at
ROUGH_SPREAD = 1e-3  # share of the gradient's spread that is a goal, where a start is looked for
FIRST_GOAL = 0.9  # and of that, the first steps, which the same values judge
EXACT_OBJECTIVE = 2e-4  # share of an objective that may be rounding before it is summed up anew


def is_cached(form: SignedForm) -> bool:
    """Say whether steps may be taken on all variables, their rows computed as they are needed."""
    return form.kept is not None and form.definite and form.bounded


def smaller(tol: float, gap: float) -> float:
    """Return the factor of a goal that is to bring a duality gap down to the tolerance."""
    return float(np.clip(0.3 * tol / gap, 1e-3, 0.3))


class Loop:
    """Select a block, solve it, update the field; again until no group violates its conditions."""

    def __init__(
        self,
        form: SignedForm,
        tol: float,
        budget: int,
        cache_size: float,
        callback: Callable[[Progress], Any] | None,
        rough: bool = False,
    ) -> None:
        self.form = form
        self.tol = tol
        self.budget = budget
        self.cache_size = cache_size
        self.sets = WorkingSets(form, cache_size)
        self.callback = callback
        self.rough = rough
        self.endless = not form.bounded
        self.looked_at = 0.0  # size of the point when a runaway was last looked for
        self.definite = form.definite
        self.negative_curvature = False
        self.steps = 0
        self._space = np.empty(0)
        self.ends: float = np.inf  # step at which closing the gap is given up
        self.limited = True  # by the caller, not by what is worth it
        self.stalled = False
        self.stopped = False
        self.unknown = 0.0  # rounding of the objective of the last point judged, at most
        self.crawls_at: float = np.inf
        self.helped = False  # by an interior start, or not for want of digits
        if self.definite and form.n <= SMALL and not self.rough:
            self.crawls_at = CRAWL * form.n

    # The two ways to run: to a certified solution, or only to a good start for a larger problem.

    def run(self, x: Array, hint: Array | None) -> Solution:
        form = self.form
        precisions = form.kernel.precisions
        share = 1.0  # of the tolerance: less when that does not close the duality gap
        for precision in precisions:
            last = precision == precisions[-1]
            field = Field(form, x, precision)
            while True:
                # Below the tolerance by what the final check may add.
                goal = share * (0.9 if last else ROUGH_GOAL) * self.tol
                x = self._minimise(x, field, goal, hint)
                hint = None
                if self.steps >= self.budget:
                    return self._solution(x, field, self._verdict(x, field, last))
                x, field = (self._polish if last else self._polish_rough)(x, field)
                cheap = all_checked(form, x)  # and then one judgement will do
                seen = verdict = self._verdict(x, field, last) if cheap else self._glance(x, field)
                if not seen.dual_gap > self.tol:
                    verdict = verdict if cheap else self._verdict(x, field, last)
                    if verdict.within(self.tol):
                        return self._solution(x, field, verdict)
                if self.stalled or not goal > self._noise(x, precision):
                    break
                if self.ends == np.inf:
                    self.ends = self.steps + GAP_EFFORT * (self.steps + form.n)
                if seen.dual_gap > self.tol:
                    share *= smaller(self.tol, seen.dual_gap)
                elif last:
                    share *= 0.3
                    field = Field(form, x, precision)  # without the errors of many updates
                else:
                    break  # rounding errors, which a smaller goal would not cure
        return self._solution(x, field, self._verdict(x, field, last))

    def run_cached(self, x: Array) -> tuple[Array, Solution | None]:
        """Solve a program whose rows fit; return the point reached, and the solution if any."""
        if self.steps == 0 and self.stops_at(x):
            return x, None
        share, descent = 1.0, Descent(self.form, x)
        for _ in range(int(MOST_GOALS)):
            limit = min(self.budget - self.steps, int(MOST_PAIRWISE))
            x, field, steps = descent.go(share * self.tol, limit)
            self.steps += steps
            if field is None:
                break
            verdict = self._verdict(x, field, last=True)
            if verdict.within(self.tol):
                solution = self._solution(x, field, verdict)
                self._tell(x, field, solution.kkt_violation)
                return x, solution
            if not verdict.dual_gap > self.tol:
                break
            share *= smaller(self.tol, verdict.dual_gap)
        return x, None

    def stops_at(self, x: Array) -> bool:
        """Tell a callback where the run begins; say whether it asks for a stop."""
        if self.callback is None:
            return False
        field = Field(self.form, x, np.float64)
        self._tell(x, field, self._gap(x, field))
        return self.stopped

    def _tell(self, x: Array, field: Field, violation: float) -> None:
        """Tell a callback how far the run is; stop when it asks for that."""
        if self.callback is None:
            return
        objective = self.form.objective(x, field.values)
        if self.callback(Progress(self.form.signs * x, objective, violation, self.steps)):
            self.stopped, self.budget = True, self.steps

    def descend(self, x: Array, hint: Array | None) -> Array:
        if is_cached(self.form):
            x, steps = Descent(self.form, x).go_roughly(self.tol, ROUGH_SPREAD, self.budget)
            self.steps += steps
            return x
        field = Field(self.form, x, self.form.kernel.precisions[0])
        return self._minimise(x, field, self.tol, hint)

    def first_steps(self, x: Array) -> Array:
        """Take steps among all variables, at most one each; their rows are kept for the loop."""
        form, single = self.form, self.form.single
        assert single is not None
        field = Field(form, x, np.float32)
        self._tell(x, field, self._gap(x, field))
        gradient = form.gradient(x, field.values)
        limit, goal = min(form.n, self.budget - self.steps), ROUGH_GOAL * FIRST_GOAL * self.tol
        matrix = matrix_of_single(single)
        new, _, steps = solve_block(form, matrix, form.all_rows, gradient, x, goal, limit, single)
        self.steps += steps
        form.balance(new)
        return new

    def _minimise(self, x: Array, field: Field, goal: float, hint: Array | None) -> Array:
        """Return a point whose violation is at most ``goal``; its field follows it there."""
        form, precision = self.form, field.precision
        extra = self.sets.extra
        previous, best, since_best, crowded = np.inf, np.inf, 0, False
        self.stalled = False
        while True:
            gradient = form.gradient(x, field.values)
            m, M = self.sets.extremes(gradient, x)
            gap = max(0.0, float(np.max(m - M)))
            self._tell(x, field, gap)
            if self.endless:
                self._refuse_runaway(x, field)
            if self.rough and previous == np.inf:
                goal = max(goal, ROUGH_SPREAD * float(np.ptp(gradient)))
            if gap <= goal or self.steps >= self.budget:
                return x
            since_best = 0 if gap < 0.9 * best else since_best + 1
            best = min(best, gap)
            patience = BLOCK_PATIENCE if precision == form.kernel.precisions[-1] else 2
            noise = self._noise(x, precision)
            # Errors that add up over many blocks may hold the gap some way above the noise of one.
            lost = since_best > 10 * patience and gap <= 1e3 * noise
            # A program that an interior start did not help has no other help to wait for.
            lost = lost or (self.helped and since_best > patience)
            lost = lost or self.steps >= self.ends
            if lost or (since_best > patience and gap <= noise):
                self.stalled = True
                return x
            if self.steps > self.crawls_at:
                self.crawls_at, self.helped, since_best = np.inf, True, 0
                inner = interior_start(form, x, field.values)
                if inner is not None:
                    moved = np.flatnonzero(inner != x)
                    field.add(moved, (inner - x)[moved])
                    x = inner
                    continue
            if gap > 0.5 * previous and crowded:  # more variables have to move at once
                extra *= 2
            previous = gap
            if hint is not None:
                block, hint = self.sets.predicted(hint, x, precision), None
            else:
                block = self.sets.select(gradient, x, midpoints(m, M), goal, extra, precision)
            whole = block.size == form.n
            tol = 0.3 * goal if whole else max(0.05 * gap, 0.3 * goal)
            tol = max(tol, self._noise(x, np.float64))  # below, steps follow rounding errors
            new = self._solve_block(block, gradient, x, tol, precision)
            moved = np.flatnonzero(new != x)
            if moved.size == 0:
                self.stalled = True
                return x
            crowded = moved.size > 0.25 * block.size
            field.add(moved, (new - x)[moved])
            x = new

    def _solve_block(
        self, block: Array, gradient: Array, x: Array, tol: float, precision: Any
    ) -> Array:
        """Return the point after the variables of a block were solved for, the others held."""
        form = self.form
        limit = min(max(STEPS_PER_CALL, 30 * block.size), self.budget - self.steps)
        matrix = self._matrix(block, precision)
        if not (self.definite or self.negative_curvature):
            self.negative_curvature = has_negative_curvature(matrix, form.group_starts(block))
        new, local, steps = solve_block(form, matrix, block, gradient, x, tol, limit)
        self.steps += max(steps, 1)
        form.balance(new)
        if block.size == form.n and steps < limit:
            return new  # solved
        before, after = free_variables(form, x), free_variables(form, new)
        inside = np.zeros(form.n, bool)
        inside[block] = True
        if abs(after.size - before.size) <= 0.02 * after.size and inside[after].all():
            # The active bounds have settled: what is left is a linear system.
            gradient = gradient.copy()
            gradient[block] = local
            exact = self._newton(new, gradient, FACTORED_UP_TO, tol)
            new = new if exact is None else exact
        return new

    def _matrix(self, block: Array, precision: Any) -> StepMatrix:
        form = self.form
        if form.kept is not None:
            return self._whole
        # One space for all blocks: touching fresh memory would cost as much as the values.
        needed = block.size**2 * np.dtype(precision).itemsize
        if self._space.nbytes < needed:
            self._space = np.empty(-(-needed // 8))
        Q = form.block(block, precision, self._space.view(precision))
        return matrix_of_block(Q, form.n_groups)

    @cached_property
    def _whole(self) -> StepMatrix:
        """The matrix of a small program, which is one block."""
        form = self.form
        assert form.kept is not None
        return matrix_of_block(form.block(form.kept.order, np.float64), form.n_groups)

    def _meet_curvature(self, gradient: Array, x: Array, middle: Array) -> None:
        """Look for negative curvature where no block was solved, so that none can have been met."""
        form = self.form
        block = self.sets.select(gradient, x, middle, self.tol, self.sets.extra, np.float64)
        matrix = self._matrix(block, np.float64)
        self.negative_curvature |= has_negative_curvature(matrix, form.group_starts(block))

    def _newton(self, x: Array, gradient: Array, most: int, tol: float) -> Array | None:
        found, bent = newton_steps(self.form, x, gradient, most, tol)
        self.negative_curvature |= bent and not self.definite
        return found

    def _polish(self, x: Array, field: Field) -> tuple[Array, Field]:
        """Return the exact solution for the active bounds found, if that is within tolerance.

        Its objective is never higher; a gap that rises may show that the bounds are wrong.
        """
        form = self.form
        gradient = form.gradient(x, field.values)
        better = self._newton(x, gradient, SINGULAR_UP_TO, self.tol)
        if better is None:
            return x, field
        moved = np.flatnonzero(better != x)
        refined = field.copy()
        refined.add(moved, (better - x)[moved])
        off = np.abs(form.missing(better)) > FEASIBLE * form.masses(better)
        allowed = max(self._gap(x, field), 0.5 * self.tol)
        kept = not off.any() and self._gap(better, refined) <= allowed
        return (better, refined) if kept else (x, field)

    def _polish_rough(self, x: Array, field: Field) -> tuple[Array, Field]:
        """Do the same for a field in single precision, with exact values where that is cheap."""
        free = free_variables(self.form, x)
        if free.size > SINGULAR_UP_TO or free.size * self.form.n > CHECKED_VALUES:
            return x, field
        exact = field.copy()
        exact.values[free] = self.form.exact_field(x, free)
        return self._polish(x, exact)

    def _gap(self, x: Array, field: Field) -> float:
        m, M = self.sets.extremes(self.form.gradient(x, field.values), x)
        return max(0.0, float(np.max(m - M)))

    def _refuse_runaway(self, x: Array, field: Field) -> None:
        """Look for a proof that there is no minimum once the variables have run far away."""
        form = self.form
        size = float(np.abs(x).sum())
        root = np.sqrt(np.abs(form.coupling).max() * np.abs(form.kernel.diagonal()))
        bent = float(x @ (form.kernel_signs * field.values + form.diagonal * x))
        if size <= 2 * self.looked_at or bent > 1e-6 * float(root @ np.abs(x)) ** 2:
            return
        self.looked_at = size
        support = np.flatnonzero(np.isinf(np.where(x > 0, form.upper, form.lower)) & (x != 0))
        if support.size:
            refuse_unbounded(form, support, x[support])

    def _noise(self, x: Array, precision: Any) -> float:
        """Return a generous estimate of the rounding error of the field."""
        return 16.0 * float(np.finfo(precision).eps * self._steepest * np.abs(x).sum())

    @cached_property
    def _steepest(self) -> float:
        form = self.form
        own = np.abs(form.coupling).max() * np.abs(form.kernel.diagonal()) + form.diagonal
        return float(own.max())

    # What the loop computed against what plain float64 says.

    def _glance(self, x: Array, field: Field) -> Certificate:
        return judge(self.form.problem, self.form.signs * x, field.values)

    def _verdict(self, x: Array, field: Field, last: bool) -> Certificate:
        """Judge a point by its field, exact where an error could matter, else with its bound."""
        form = self.form
        error = checked_field(form, x, field, self.tol, last)
        judged = partial(judge, form.problem, form.signs * x, field.values)
        verdict = judged(error)
        self.unknown = 0.0 if error is None else 0.5 * float(np.abs(x) @ error)
        if last and error is not None and not verdict.within(self.tol):
            if judged().within(self.tol):
                # Only the bounds of the errors are in the way, and there is no better precision.
                field.values[:] = form.exact_field(x, form.all_rows)
                verdict, self.unknown = judged(), 0.0
        return verdict

    def _with_exact_objective(self, x: Array, field: Field, verdict: Certificate) -> Certificate:
        """Return a verdict whose objectives are not those of single precision.

        The gap is as exact as it was: an error counts in it only where it could change a sign.
        """
        allowed = EXACT_OBJECTIVE * abs(verdict.objective)
        if not self.unknown > allowed:
            return verdict
        quadratic = self.form.quadratic(x, 2.0 * allowed)
        off = 0.5 * (quadratic - float((self.form.kernel_signs * x) @ field.values))
        return replace(
            verdict,
            objective=verdict.objective + off,
            dual_objective=verdict.dual_objective + off,
            primal_objective=verdict.primal_objective - off,
        )

    def _solution(self, x: Array, field: Field, verdict: Certificate) -> Solution:
        form = self.form
        verdict = self._with_exact_objective(x, field, verdict)
        if self.steps == 0 and not self.definite:
            self._meet_curvature(form.gradient(x, field.values), x, verdict.multipliers)
        gradient = form.gradient(x, field.values)
        status: Literal["optimal", "max_iter", "stopped", "stalled"] = "optimal"
        if not verdict.within(self.tol):
            cut_off = self.limited and self.steps >= self.budget
            status = "max_iter" if cut_off else "stalled"
            status = "stopped" if self.stopped else status
        return Solution(
            alpha=form.signs * x,
            gradient=form.signs * gradient,
            multipliers=verdict.multipliers,
            objective=verdict.objective,
            primal_objective=verdict.primal_objective,
            dual_gap=verdict.dual_gap,
            kkt_violation=verdict.kkt_violation,
            infeasibility=verdict.infeasibility,
            relative_infeasibility=verdict.relative_infeasibility,
            n_iter=self.steps,
            status=status,
            negative_curvature=self.negative_curvature,
        )
