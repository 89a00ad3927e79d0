"""The optimum of a program whose rows come and go: what is known of the last one is kept.

Only variables next to violating their conditions, the *active* ones, are solved for. A change of
the normal vector by ``d`` moves the gradient of row ``i`` by at most ``|d| sqrt(k_ii)`` (Cauchy and
Schwarz): variables at a bound that are further than that from their conditions still meet them.
Steps, the judgement of the active variables and the look at all others are one compiled call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import solve_active
from scarce.parallel import single_threaded_blas
from scarce.solvers._program import QuadraticProgram, Solution
from scarce.solvers._signed import SignedForm, extremes_of
from scarce.solvers.certificate._judge import Certificate, midpoints

FEWEST = 512  # active rows; of fewer all are
ACTIVE_SHARE = 0.1  # of all rows
BESIDE_FREE = 2.0  # active rows for each free variable
SPARE = 0.25  # room for rows to come, as a share of the active ones
LOOKED_AT = 0.3  # of all rows, the most that are looked at beside the active ones
PARTS = 10  # numbers of changes that are tried for sums of all rows
PATIENCE = 1.0  # times all rows: how many are looked at until sums of all are brought up to date
MOST_ACTIVE_STEPS = 12_000  # pairwise, after which the whole program is solved again
ROUNDS = 12  # of steps, after which the same
BATCH = 0.25  # of the rows, the most that may come or go at a time
OLD_ERROR = 1e-2  # share of the tolerance above which rounding errors of old sums call for new ones
EPS = float(np.finfo(np.float64).eps)
SOLVED, NO_ROOM = 0, 1  # what `solve_active` answers


class MovingOptimum:
    """The solution of a program, ready for fewer rows at the front and more at the end.

    ``program``: one that `can_follow` accepts. ``alpha``: its solution. ``tol``: tolerance, as for
    `solve`. ``cache_size``: memory for kernel values in MB.
    """

    def __init__(
        self, program: QuadraticProgram, alpha: Array, tol: float, cache_size: float
    ) -> None:
        self.program, self.x, self.tol = program, program.signs * alpha, tol
        self.most = int(np.sqrt(cache_size * 1e6 / 12))  # steps have a copy in single precision
        self.steps = 0
        self._square: Array = np.empty((0, 0))
        with single_threaded_blas:
            self._sum_anew()
            self._hold(np.empty(0, np.int64))
            self._choose()

    @staticmethod
    def can_follow(program: QuadraticProgram) -> bool:
        """Say whether the solution of such a program can be followed."""
        plain = program.signed.bounded and not program.curved and program.definite
        return plain and program.kernel.writes_rows and bool((program.coupling == 1.0).all())

    def advance(self, program: QuadraticProgram, gone: int, came: int) -> Solution | None:
        """Return the solution of a program that has lost its first rows and has new last ones.

        None if that is better found by `solve`; then this object is of no use any more.
        """
        old, kept = self.program, self.x.size - gone
        few = kept > 0 and gone + came <= BATCH * (kept + came)
        if not (few and kept + came == program.kernel.n and self.can_follow(program)):
            return None
        for name in ("lower", "upper", "groups", "signs", "kernel_signs"):
            if (getattr(old, name)[gone:] != getattr(program, name)[:kept]).any():
                return None
        with single_threaded_blas:
            if gone:
                self._forget(gone)
            self.program, self.steps = program, 0
            if came:
                self._append(came)
            for _ in range(ROUNDS):
                found = self._solved_for_active()
                if isinstance(found, Solution):
                    self._settle()
                    return found
                if found is None:
                    return None
                found()
        return None

    # Sums over all rows: up to date for `last`, not for what active variables are now.

    def _sum_anew(self) -> None:
        self.field: Array = np.zeros(self.x.size)
        self.accumulated = 0.0
        self._add(self.x, self.field)
        self._measure(self.x)

    def _sum_all(self) -> None:
        """Bring the field of all rows up to date, and with it that of active ones."""
        change, rows = np.zeros_like(self.x), self.rows
        change[rows] = self.x[rows] - self.last
        self._add(change, self.field)
        self._measure(self.x)
        if self.error > OLD_ERROR * self.tol:
            self._sum_anew()
        self.active[:], self.last[:] = self.field[rows], self.x[rows]

    def _sum_largest(self) -> None:
        """Bring the field of all rows up to date for the largest changes of active variables.

        Few of them are most of what the normal vector has moved by.
        """
        since = self._since()
        moved = np.flatnonzero(since)
        moved = moved[np.argsort(-np.abs(since[moved]), kind="stable")]
        numbers = np.arange(PARTS + 1) * moved.size // PARTS
        left = (np.arange(moved.size)[:, None] >= numbers) * since[moved, None]
        squared = np.einsum("ij,ij->j", left, self._square[moved[:, None], moved] @ left)
        far = np.sqrt(np.maximum(squared, 0.0) * self.program.kernel.diagonal().max())
        away = np.sort(self._away(self.field, slice(None)))
        doubts = np.searchsorted(away, far)  # about, as sums may bring rows nearer
        doubts[doubts > LOOKED_AT * self.x.size] = self.x.size
        cost = numbers * self.x.size + (moved.size - numbers) * doubts
        number = int(numbers[np.argmin(cost)])
        if number in (0, moved.size):
            self._choose_anew()
            return
        some = moved[:number]
        change, rows = np.zeros_like(self.x), self.rows[some]
        change[rows] = self.x[rows] - self.last[some]
        self._add(change, self.field)
        self.last[some] = self.x[rows]
        self._measure(self._last_variables())
        if self.error > OLD_ERROR * self.tol:
            self._sum_all()
            return
        rest = moved[number:]
        self.active[:] = self.field[self.rows] + since[rest] @ self._square[rest, : self.rows.size]

    def _since(self) -> Array:
        """Return how active variables have changed since the sums over all rows."""
        signs = self.program.signed.kernel_signs[self.rows]
        since: Array = signs * (self.x[self.rows] - self.last)
        return since

    def _last_variables(self) -> Array:
        """Return the variables that sums over all rows are for."""
        variables = self.x.copy()
        variables[self.rows] = self.last
        return variables

    def _settle(self) -> None:
        """Bring it up to date when that would have cost less than the rows looked at since."""
        if self.looked_at > PATIENCE * self.x.size:
            self._sum_largest()

    def _add(self, change: Array, field: Array) -> None:
        """Add to the field of all rows what a change of variables is worth."""
        columns = change.nonzero()[0]
        if columns.size:
            weights = (self.program.signed.kernel_signs * change)[None, columns]
            groups = np.zeros(self.x.size, np.int64)
            self.program.kernel.accumulate(columns, weights, groups, field, np.float64)
            self.accumulated += float(np.abs(weights).sum())

    def _measure(self, x: Array) -> None:
        """Note what the quadratic term is, and a bound of the error of every value of the field."""
        self.quadratic = float(x @ (self.program.signed.kernel_signs * self.field))
        self.value_error = float(self.program.kernel.value_errors().errors.max())
        each = self.value_error + EPS * (16 + np.count_nonzero(x))
        self.error = each * self.accumulated
        self.looked_at = 0

    # Active rows, slots of a square of kernel values: the first ones, without gaps.

    def _make_room(self, size: int) -> None:
        """Keep what there is in memory for so many active rows."""
        old, count = self._square, self.rows.size
        self._square = np.empty((size, size))
        self._square[:count, :count] = old[:count, :count]
        self._space = np.empty(size * size)  # what steps copy of it; of few rows

    def _hold(self, rows: Array) -> None:
        """Let these rows be the active ones, in slots of which the square has the values."""
        self.rows = rows
        self.active, self.last = self.field[rows], self.x[rows]

    def _write(self, slots: Array, rows: Array) -> None:
        """Write the values of the rows in some slots with all active ones."""
        square, values = self._square, self.program.kernel.values_between(rows[slots], rows)
        square[slots, : rows.size] = values
        square[: rows.size, slots] = values.T

    def _release(self, slots: Array) -> None:
        """Give slots up; the last ones take their places."""
        square, count = self._square, self.rows.size
        left = count - slots.size
        stays = np.ones(count, bool)
        stays[slots] = False
        into, out = slots[slots < left], left + np.flatnonzero(stays[left:])
        square[into, :count] = square[out, :count]
        square[:count, into] = square[:count, out]
        for values in (self.rows, self.active, self.last):
            values[into] = values[out]
        self.rows, self.active, self.last = self.rows[:left], self.active[:left], self.last[:left]

    def _choose(self) -> None:
        """Take the free variables, those that violate, and those that are nearest to that.

        The field of all rows is up to date.
        """
        wanted = self._next_active()
        size = int(wanted.size * (1.0 + SPARE)) + 64
        if not wanted.size <= self._square.shape[0] <= 2 * size:
            self._make_room(max(size, self.rows.size))
        is_wanted = np.zeros(self.x.size, bool)
        is_wanted[wanted] = True
        self._release(np.flatnonzero(~is_wanted[self.rows]))
        is_wanted[self.rows] = False
        new, count = np.flatnonzero(is_wanted), self.rows.size
        self._hold(np.append(self.rows, new))
        if count:
            self._write(np.arange(count, count + new.size), self.rows)
        else:
            self.program.kernel.write_block(new, self._square[: new.size, : new.size])

    def _choose_anew(self) -> None:
        self._sum_all()
        self._choose()

    def _next_active(self) -> Array:
        program, x = self.program, self.x
        lower, upper, linear, signs, _, _ = program.signed
        gradient = signs * self.field + linear
        self.multipliers = midpoints(*extremes_of(SignedForm(program), gradient, x))
        free = (x > lower) & (x < upper)
        least = int(np.count_nonzero(free))
        size = int(max(FEWEST, ACTIVE_SHARE * x.size, BESIDE_FREE * least))
        size = min(size, x.size, max(int(self.most / (1.0 + SPARE)), least))
        self.near = np.inf
        if size == x.size:
            return np.arange(size)
        away = self._away(self.field, slice(None))
        sides = [
            np.flatnonzero((program.groups == g) & side & ~free)
            for g in range(program.n_groups)
            for side in (x < upper, x > lower)
        ]
        # As many of either side, so that there is room for what a total may need.
        each = -(-(size - least) // len(sides))
        chosen = [
            part[np.argpartition(away[part], each)[:each]] if each < part.size else part
            for part in sides
        ]
        self.near = max(float(away[part].max(initial=0.0)) for part in chosen)
        return np.concatenate([np.flatnonzero(free), *chosen])

    def _away(self, field: Array, rows: Any) -> Array:
        """Return by how much the gradient may change before a variable leaves its bound."""
        lower, _, linear, signs, _, _ = self.program.signed
        gradient = signs[rows] * field + linear[rows]
        wanted = self.multipliers[self.program.groups[rows]]
        away: Array = np.where(self.x[rows] > lower[rows], -wanted - gradient, gradient + wanted)
        return away

    def _forget(self, gone: int) -> None:
        signs, rows = self.program.signed.kernel_signs, self.rows
        leaving = np.flatnonzero(rows < gone)
        left = rows[leaving]
        change = np.zeros_like(self.x)
        change[:gone] = -self.x[:gone]
        change[left] = -self.last[leaving]
        removed = np.zeros_like(self.x)
        self._add(change, removed)
        self.quadratic += float(change @ (signs * (2.0 * self.field + removed)))
        self.field += removed
        since = self._since()[leaving]
        self.active += removed[rows] - since @ self._square[leaving, : rows.size]
        self._release(leaving)
        self.rows -= gone
        self.x, self.field = self.x[gone:], self.field[gone:]

    def _append(self, came: int) -> None:
        """Add new rows, their variables at zero; those that violate or nearly so are active."""
        program, n = self.program, self.x.size
        signs, new = program.signed.kernel_signs, np.arange(n, n + came)
        last = self._last_variables()
        support = last.nonzero()[0]
        weights = (signs[support] * last[support])[None, :]
        field = program.kernel.sums(new, support, weights, np.zeros(came, np.int64), np.float64)
        self.field = np.append(self.field, field)
        self.x = np.append(self.x, np.zeros(came))
        self._activate(new[self._away(field, new) <= self.near])

    def _release_far(self) -> None:
        """Give up the slots of variables at a bound that have not moved and are far from moving."""
        lower, upper = self.program.signed[:2]
        x = self.x[self.rows]
        stays = (x > lower[self.rows]) & (x < upper[self.rows])
        stays |= (x != self.last) | (self._away(self.active, self.rows) <= self.near)
        self._release(np.flatnonzero(~stays))

    def _activate(self, new: Array) -> None:
        """Let further rows be active, whose variables are those that sums of all rows are for."""
        if not new.size:
            return
        if self.rows.size + new.size > self._square.shape[0]:
            self._release_far()
        count, size = self.rows.size, self.rows.size + new.size
        if size > self._square.shape[0]:
            self._choose_anew()
            return
        since = self._since()
        self.rows, self.last = np.append(self.rows, new), np.append(self.last, self.x[new])
        self._write(np.arange(count, size), self.rows)
        now = self.field[new] + self._square[count:size, :count] @ since
        self.active = np.append(self.active, now)

    # Steps.

    def _solved_for_active(self) -> Solution | Callable[[], None] | None:
        """Solve for the active variables; return the solution if it is one for all of them.

        Otherwise what to do before the next time, or None if there is nothing.
        """
        program, count = self.program, self.rows.size
        lower, upper, linear, signs, _, _ = program.signed
        multipliers, above, below = np.empty((3, program.n_groups))
        doubt = np.empty(self.x.size, np.int64)
        lacking = program.totals - program.sums(self.x)
        status, steps, doubts, objective, plain, gap = solve_active(
            self._square[:count, :count],
            self.rows,
            self.active,
            self.last,
            self.x,
            self.field,
            lower,
            upper,
            linear,
            signs,
            program.groups,
            lacking,
            self.value_error,
            self.error,
            float(program.kernel.diagonal().max()),
            self.quadratic,
            float(linear @ self.x),
            self.tol,
            MOST_ACTIVE_STEPS - self.steps,
            self._space,
            multipliers,
            above,
            below,
            doubt,
        )
        self.steps += steps
        if status == NO_ROOM or self.steps >= MOST_ACTIVE_STEPS:
            return None
        if status != SOLVED:
            return self._choose_anew
        self.multipliers = multipliers
        if doubts > LOOKED_AT * self.x.size:
            return self._sum_largest
        strays = doubt[:0]
        if doubts:
            m, M, gains = self._look_at(doubt[:doubts], multipliers)
            above, below = np.maximum(above, m), np.minimum(below, M)
            strays, gain = doubt[:doubts][gains > 0.0], float(gains.sum())
            gap, plain = gap + gain, plain + gain
        scale = max(abs(objective), abs(objective - gap))
        off = np.abs(program.totals - program.sums(self.x))
        masses = program.sums(np.abs(self.x)) + np.abs(program.totals)
        verdict = Certificate(
            objective=objective,
            dual_objective=objective - gap,
            dual_gap=gap / scale if scale > 0 else gap,
            kkt_violation=max(0.0, float((above - below).max())),
            multipliers=multipliers,
            primal_objective=plain - objective,
            infeasibility=float(off.max()),
            relative_infeasibility=float((off / np.where(masses > 0, masses, 1.0)).max()),
        )
        if verdict.within(self.tol):
            return self._solution(verdict)
        return partial(self._activate, strays) if strays.size else self._choose_anew

    def _look_at(self, doubt: Array, multipliers: Array) -> tuple[Array, Array, Array]:
        """Return ``m`` and ``M`` of rows that are not active, and what each adds to the gap."""
        self.looked_at += doubt.size
        program, rows, x = self.program, self.rows, self.x[doubt]
        lower, upper, linear, signs = (part[doubt] for part in program.signed[:4])
        since = self._since()
        moved = np.flatnonzero(since)
        groups, field = program.groups[doubt], self.field[doubt]
        if moved.size:
            alike = np.zeros(doubt.size, np.int64)
            field += program.kernel.sums(doubt, rows[moved], since[None, moved], alike, np.float64)
        wanted, error = -(signs * field + linear), 2.0 * self.error
        m, M = np.full(program.n_groups, -np.inf), np.full(program.n_groups, np.inf)
        for g in range(program.n_groups):
            m[g] = np.max(wanted + error, where=(groups == g) & (x < upper), initial=-np.inf)
            M[g] = np.min(wanted - error, where=(groups == g) & (x > lower), initial=np.inf)
        slope = wanted - multipliers[groups]
        gains = np.maximum(slope + error, 0.0) * (upper - x)
        gains += np.maximum(error - slope, 0.0) * (x - lower)
        return m, M, gains

    def _solution(self, verdict: Certificate) -> Solution:
        program = self.program
        field = self.field.copy()
        field[self.rows] = self.active
        gradient = program.signed.kernel_signs * field + program.signed.linear
        return Solution(
            alpha=program.signs * self.x,
            gradient=program.signs * gradient,
            multipliers=verdict.multipliers,
            objective=verdict.objective,
            primal_objective=verdict.primal_objective,
            dual_gap=verdict.dual_gap,
            kkt_violation=verdict.kkt_violation,
            infeasibility=verdict.infeasibility,
            relative_infeasibility=verdict.relative_infeasibility,
            n_iter=self.steps,
            status="optimal",
            negative_curvature=False,
        )
