"""The optimum of a program whose rows come and go: what is known of the last one is kept.

Only variables next to violating their conditions, the *active* ones, are solved for. A change of
the normal vector by ``d`` moves the gradient of row ``i`` by at most ``|d| sqrt(k_ii)`` (Cauchy and
Schwarz): variables at a bound that are further than that from their conditions still meet them.
Steps, the judgement of the active variables and the look at all others are one compiled call. Where
new rows meet their conditions, and nothing else is another, the last point is still the optimum.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial

import numpy as np

from scarce._arrays import Array
from scarce._core import solve_active
from scarce.parallel import single_threaded_blas
from scarce.solvers._active import LOOKED_AT, ActiveRows
from scarce.solvers._operator import SymmetricOperator
from scarce.solvers._program import QuadraticProgram, Solution, Terms, check_feasible
from scarce.solvers._strips import Strip
from scarce.solvers.certificate._judge import Certificate

PATIENCE = 1.0  # times all rows: how many are looked at until sums of all are brought up to date
MOST_ACTIVE_STEPS = 12_000  # pairwise, after which the whole program is solved again
ROUNDS = 12  # of steps, after which the same
BATCH = 0.25  # of the rows, the most that may come or go at a time
SOLVED, NO_ROOM = 0, 1  # what `solve_active` answers


class MovingOptimum(ActiveRows):
    """The solution of a program, ready for fewer rows at the front and more at the end.

    ``program``: one that `can_follow` accepts. ``alpha``: its solution. ``tol``: tolerance, as for
    `solve`. ``cache_size``: memory for kernel values in MB.
    """

    def __init__(
        self, program: QuadraticProgram, alpha: Array, tol: float, cache_size: float
    ) -> None:
        self.tol, self.steps = tol, 0
        self.most = int(np.sqrt(cache_size * 1e6 / 12))  # steps have a copy in single precision
        self._square: Array = np.empty((0, 0))
        own, signed = program.signs * alpha, program.signed
        columns = [own, np.zeros_like(own), program.upper, program.linear, program.signs]
        columns += [program.kernel_signs, signed.lower, signed.upper, signed.linear]
        columns.append(signed.kernel_signs)
        self._table, self._groups = Strip(np.array(columns).T, "F"), Strip(program.groups)
        self._state(program, program.kernel, program.totals, None)
        with single_threaded_blas:
            self._sum_anew()
            self._hold(np.empty(0, np.int64))
            self._choose()

    @staticmethod
    def can_follow(program: QuadraticProgram) -> bool:
        """Say whether the solution of such a program can be followed."""
        plain = program.signed.bounded and not program.curved and program.definite
        plain = plain and not program.lower.any()
        return plain and program.kernel.writes_rows and bool((program.coupling == 1.0).all())

    @staticmethod
    def takes(gone: int, came: int, n: int) -> bool:
        """Say whether so few of what are then n rows go and come that they are best followed."""
        return came < n and gone + came <= BATCH * n

    def take(
        self,
        kernel: SymmetricOperator,
        gone: int,
        new: Terms,
        totals: Array,
        linear: Array | None = None,
    ) -> bool:
        """Take fewer first rows and new last ones; say whether the last point still is optimal.

        ``kernel``: of all rows. ``new``: what the new ones bring. ``totals``: right-hand sides of
        the equalities. ``linear``: of all rows, where that of old ones is another.
        """
        old, self.steps = self.program, 0
        with single_threaded_blas:
            if gone:
                self._forget(gone)
            self._move(gone, new)
            self._state(old, kernel, totals, linear)
            settled = not new.upper.size or self._append(new.upper.size)
        if not settled or linear is not None or (old.totals != totals).any():
            self.verdict = None
        return self.verdict is not None

    def solve(self) -> Solution | None:
        """Return the solution; None if the solver finds it better, and this is of no use then."""
        if self.verdict is not None:
            return self._solution(self.verdict)
        check_feasible(self.program)
        with single_threaded_blas:
            for _ in range(ROUNDS):
                found = self._solved_for_active()
                if isinstance(found, Solution):
                    self._settle()
                    return found
                if found is None:
                    return None
                found()
        return None

    def _move(self, gone: int, new: Terms) -> None:
        """Have what rows bring to a program for those that are left, and for new ones."""
        block = np.zeros((new.upper.size, self._table.values.shape[1]))
        block[:, 2], block[:, 3], block[:, 4] = new.upper, new.linear, new.signs
        block[:, 5], bound = new.kernel_signs, new.signs * new.upper
        block[:, 6], block[:, 7] = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        block[:, 8], block[:, 9] = new.signs * new.linear, new.signs * new.kernel_signs
        self._table, self._groups = (
            self._table.moved(gone, block),
            self._groups.moved(gone, new.groups),
        )

    def _state(
        self,
        last: QuadraticProgram,
        kernel: SymmetricOperator,
        totals: Array,
        linear: Array | None,
    ) -> None:
        """State the program of the rows that are there; bounds and signs are known to be valid."""
        self.x, self.field, upper, own, signs, kernel_signs, *signed = self._table.values.T
        program = copy.copy(last)
        program.kernel, program.totals, program.groups = kernel, totals, self._groups.values
        program.lower = program.diagonal = np.zeros(upper.size)
        program.upper, program.signs, program.kernel_signs = upper, signs, kernel_signs
        program.linear = own if linear is None else linear
        signed_linear = signed[2] if linear is None else signs * linear
        program.signed = last.signed._replace(
            lower=signed[0],
            upper=signed[1],
            linear=signed_linear,
            kernel_signs=signed[3],
            widths=upper,
        )
        self.program = program

    def _forget(self, gone: int) -> None:
        """Take the first rows out of the sums and of the active ones."""
        signs, rows = self.program.signed.kernel_signs, self.rows
        leaving = np.flatnonzero(rows < gone)
        change = -self.x[:gone]
        change[rows[leaving]] = -self.last[leaving]
        columns = change.nonzero()[0]
        if columns.size:
            removed = np.zeros_like(self.x)
            self._add(columns, change[columns], removed)
            twice = 2.0 * self.field[columns] + removed[columns]
            self.quadratic += float((change * signs[:gone])[columns] @ twice)
            self.field += removed
            self.active += removed[rows]
            self.verdict = None
        if leaving.size:
            since = self._since()[leaving]
            if since.any():
                self.active -= since @ self._square[leaving, : rows.size]
                self.verdict = None
            self._release(leaving)
        self.rows -= gone
        stay = np.searchsorted(self.support, gone)
        self.support, self.weights = self.support[stay:] - gone, self.weights[stay:]

    def _append(self, came: int) -> bool:
        """Add new rows, their variables at zero; those that violate or nearly so are active.

        Return whether all of them meet their conditions.
        """
        kernel, n = self.program.kernel, self.x.size
        new, alike = np.arange(n - came, n), np.zeros(came, np.int64)
        sums = kernel.sums(new, self.support, self.weights[None, :], alike, np.float64)
        self.field[n - came :] = sums
        away = self._away(sums, new)
        near = away <= self.near
        active = new[near]
        if active.size:
            self._activate(active)
        if self.verdict is None:
            return False
        # What the point is worth at new rows, exactly, where that is not known to be enough.
        if active.size:
            exact = self.active[self.active.size - active.size :]
            if (self._away(exact, active) <= 2.0 * self.error).any():
                return False
        doubt = new[~near & (away <= self.reach)]
        return not doubt.size or not self._look_at(doubt, self.multipliers)[2].any()

    # Steps.

    def _settle(self) -> None:
        """Bring it up to date when that would have cost less than the rows looked at since."""
        if self.looked_at > PATIENCE * self.x.size:
            self._sum_largest()

    def _solved_for_active(self) -> Solution | Callable[[], None] | None:
        """Solve for the active variables; return the solution if it is one for all of them.

        Otherwise what to do before the next time, or None if there is nothing.
        """
        program, count = self.program, self.rows.size
        lower, upper, linear, signs, _, _ = program.signed
        multipliers, above, below = np.empty((3, program.n_groups))
        doubt = np.empty(self.x.size, np.int64)
        lacking = program.totals - program.sums(self.x)
        status, steps, doubts, objective, plain, gap, self.reach = solve_active(
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
            self.verdict = verdict
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
        program, gradient = self.program, self.field.copy()
        gradient[self.rows] = self.active
        gradient *= program.kernel_signs
        gradient += program.linear
        return Solution(
            alpha=program.signs * self.x,
            gradient=gradient,
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
