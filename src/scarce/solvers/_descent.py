"""Pairwise steps through a small program in single precision, led by the exact gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import (
    EARLY,
    EARLY_FREE,
    EXACT,
    FOLLOWED,
    GOAL,
    LOST,
    MOST_FREE,
    ROUNDED_GRADIENT,
    exact_steps,
    follow_steps,
    pairwise_steps,
    tidy_point,
)
from scarce.parallel import KEPT, single_threaded_blas, small_space
from scarce.solvers._field import Field
from scarce.solvers._newton import newton_steps
from scarce.solvers._signed import SignedForm
from scarce.solvers._step_data import StepMatrix
from scarce.solvers._steps import boxes_of, missing_rows

# Share of the violation up to which variables may violate whose rows are there when others are
# computed, and to which they are brought down when few others violate.
ROUGHLY, LESS_ROUGHLY = 0.3, 0.03
STEPPED = 1  # what `exact_steps` answers when it has taken them
ROUND_PATIENCE = 10  # rounds of steps without progress, after which they are taken to be lost


class Descent:
    """Pairwise steps on a cached program, and the exact last one.

    Steps are taken in single precision while that gets ahead: their rows are copied from the exact
    ones, by which the gradient is brought up to date whenever they end. Everything here is in the
    order of the places.

    ``x``: a feasible point.
    """

    def __init__(self, form: SignedForm, x: Array) -> None:
        kept = form.kept
        assert kept is not None
        self.form, self.kept = form, kept
        self.order = None if kept.is_sorted else kept.order
        self.boxes = boxes_of(form, self.order)
        self.x = x.copy() if self.order is None else x[self.order]
        self.groups, self.extra = self._placed(form.groups), self._placed(form.diagonal)
        if kept.count < form.n:
            kept.keep(np.flatnonzero(self.x))
            if kept.count == 0:
                kept.keep_some()
        own = form.coupling[self.groups, self.groups] if form.n_groups > 1 else form.coupling[0, 0]
        self.diagonal = own * kept.own_values() + self.extra
        self.source = kept.source(self._placed(form.kernel_signs))
        # The gradient, the point that it belongs to, and all that has moved on the way there.
        self.gradient = self._placed(form.linear).copy()
        self.at, self.moved = np.zeros((2, form.n))
        self.nowhere = np.zeros(form.n, bool)
        self.precision: Any = np.float32
        self.rows: tuple[Array, Array] | None = None

    def _placed(self, values: Array) -> Array:
        return values if self.order is None else values[self.order]

    def _follow(self, fixed: Array) -> tuple[float, float]:
        """Bring the gradient to where the steps have led; return what violates there.

        That is the violation of all variables, and of those that are not ``fixed``.
        """
        lower, upper, _, starts = self.boxes
        matrix = *self.source, self.form.coupling, self.extra, lower, upper, starts
        return follow_steps(*matrix, self.x, self.at, self.moved, self.gradient, fixed)

    def go(self, tol: float, most: int) -> tuple[Array, Field | None, int]:
        """Return the point reached, its field if it is worth a judgement, and the steps taken."""
        goal, steps, last = GOAL * tol, 0, np.inf
        aim = EARLY * goal
        with small_space("steps") as space:
            while True:
                more, reached = self._run(aim, most - steps, space)
                steps += more
                if not reached:
                    return self._variables(self.x), None, steps
                worst = self._exact_step(tol, early=aim > goal)
                if worst <= EXACT * goal:
                    break
                if worst < 0.5 * last and worst < np.inf:
                    # Some bounds were wrong ones: steps find others, and there is another one.
                    aim, last = min(aim, 0.1 * worst), worst
                elif worst <= goal or aim <= goal:
                    break
                else:
                    aim, last = goal, 0.0
        return *self.found(), steps

    def go_roughly(self, goal: float, spread: float, most: int) -> tuple[Array, int]:
        """Return a point that violates by at most the goal, or a part of the gradient's spread."""
        self._follow(self.nowhere)
        with small_space("steps") as space:
            steps, _ = self._run(max(goal, spread * float(np.ptp(self.gradient))), most, space)
        self._tidy()
        return self._variables(self.x), steps

    def _exact_step(self, tol: float, early: bool) -> float:
        """Solve for the free variables; return what violates then, infinite if there is no such.

        Rounding does not count.
        """
        self._tidy()
        before, (violation, _) = self.x, self._follow(self.nowhere)
        exact = self._exact(tol, early)
        if exact is None:
            return np.inf
        self.x = exact
        self._tidy()
        worst, _ = self._follow(self.nowhere)
        if not early and worst > max(violation, 0.5 * tol):
            self.x = before
            self._follow(self.nowhere)
            return np.inf
        rounding = ROUNDED_GRADIENT * float(np.abs(self.x) @ np.abs(self.diagonal))
        return worst if worst > rounding else 0.0

    def _tidy(self) -> None:
        """Put values at a bound up to rounding there; give what rounding took from a total back."""
        tidy_point(*self.boxes, self.form.totals, self.x)

    def _run(self, goal: float, most: int, space: Array) -> tuple[int, bool]:
        """Take steps until nothing violates by more than ``goal``; say whether that was reached."""
        n, kept = self.form.n, self.kept
        if self.rows is None or n**2 <= KEPT:  # the latter are in a space that others use too
            self.rows = _rows_in(space, n, self.precision)
        steps, since_best, (worst, seen) = 0, 0, self._follow(self._absent())
        best, crowd = worst, True
        while goal < worst < np.inf and steps < most:
            fixed = self._absent()
            aim = goal
            if kept.count < n:  # those whose rows are absent will change what is optimal
                aim = max(goal, (0.5 * ROUGHLY if crowd else LESS_ROUGHLY) * worst)
            limit = min(int(FOLLOWED) * n, most - steps)
            taken, local = self._steps(aim, limit)
            steps += taken
            if local is None:
                return steps, False
            before, (worst, seen) = worst, self._follow(fixed)
            since_best = 0 if worst < best else since_best + 1
            best = min(best, worst)
            if taken < limit:
                lost = not seen <= max(aim, 0.5 * before)
            elif self.precision == np.float64:
                lost = False  # but slow, perhaps
            else:
                lost = since_best > ROUND_PATIENCE or self._is_lost(local, before)
            if lost:
                if self.precision == np.float64:
                    return steps, worst <= goal
                self.precision, self.rows = np.float64, _rows_in(space, n, np.float64)
            elif worst > goal and seen <= max(goal, ROUGHLY * worst):
                crowd = self._keep_more(goal)
        return steps, worst <= goal

    def _is_lost(self, local: Array, violation: float) -> bool:
        """Say whether steps lost the gradient of free variables, beside what they were to close."""
        free = (self.x > self.boxes.lower) & (self.x < self.boxes.upper)
        drift = np.abs(local - self.gradient)[free]
        return bool(drift.size) and not float(drift.max()) <= LOST * violation

    def _absent(self) -> Array:
        """Return which variables cannot move for want of their rows."""
        return self.kept.where < 0 if self.kept.count < self.form.n else self.nowhere

    def _keep_more(self, goal: float) -> bool:
        """Compute rows of variables that violate and could not move; say whether there are more."""
        kept = self.kept
        rows, clear = missing_rows(kept.where, self.boxes, self.gradient, self.x, -1, goal)
        kept.keep_next(rows, clear)
        return bool((kept.where[rows] < 0).any())

    def _steps(self, aim: float, limit: int) -> tuple[int, Array | None]:
        """Take steps; return how many, and the gradient as they have it.

        None for the latter if a pair had no bound.
        """
        assert self.rows is not None
        matrix = StepMatrix(*self.rows, self.form.coupling, self.extra, self.diagonal)
        held, met = self.kept.count < self.form.n, np.full(3, -1)
        gradient = self.gradient.copy()
        taken = pairwise_steps(
            *matrix, *self.boxes, *self.source, gradient, self.x, aim, limit, met, held
        )
        return taken, gradient if met[0] < 0 else None

    def found(self) -> tuple[Array, Field]:
        """Return the point and its field."""
        form = self.form
        self._follow(self.nowhere)
        x, gradient = self._variables(self.x), self._variables(self.gradient)
        values = gradient - form.linear
        if form.problem.curved:
            values -= form.diagonal * x
        moved = np.abs(form.coupling).max() * self._variables(self.moved)
        return x, Field.of(form, form.kernel_signs * values, moved)

    def _exact(self, tol: float, early: bool) -> Array | None:
        """Return the solution for the bounds that are met; early, of few free variables only."""
        x = self.x.copy()
        lower, upper, _, starts = self.boxes
        matrix = *self.source, self.form.coupling, self.extra, lower, upper, starts
        most = int(EARLY_FREE if early else MOST_FREE)
        if exact_steps(*matrix, self.gradient.copy(), x, most) == STEPPED:
            return x
        if early:  # the least-norm answer takes long
            return None
        given = self._variables(self.x), self._variables(self.gradient)
        with single_threaded_blas:
            found, _ = newton_steps(self.form, *given, int(MOST_FREE), tol)
        return None if found is None else self._placed(found)

    def _variables(self, values: Array) -> Array:
        if self.order is None:
            return values
        out = np.empty(self.form.n)
        out[self.order] = values
        return out


def _rows_in(space: Array, n: int, precision: Any) -> tuple[Array, Array]:
    """Return memory for the rows of so many variables, and where they are: nowhere yet."""
    rows = space.view(precision)[: n**2] if n**2 <= KEPT else np.empty(n**2, precision)
    return rows.reshape(n, n), np.full(n, -1)
