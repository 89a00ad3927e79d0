"""The optimum of a program whose rows come and go: what is known of the last one is kept.

Only variables next to violating their conditions, the *active* ones, are solved for. A change of
the normal vector by ``d`` moves the gradient of row ``i`` by at most ``|d| sqrt(k_ii)`` (Cauchy and
Schwarz): variables at a bound that are further than that from their conditions still meet them.
"""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array
from scarce.parallel import single_threaded_blas
from scarce.solvers._descent import Descent
from scarce.solvers._operator import DenseMatrix
from scarce.solvers._program import QuadraticProgram, Solution
from scarce.solvers._row_cache import RowCache
from scarce.solvers._signed import SignedForm, extremes_of
from scarce.solvers.certificate._judge import Certificate, extremes, judge, midpoints

FEWEST = 512  # active rows; of fewer all are
ACTIVE_SHARE = 0.1  # of all rows
BESIDE_FREE = 2.0  # active rows for each free variable
SPARE = 0.25  # room for rows to come, as a share of the active ones
LOOKED_AT = 0.5  # of all rows, the most that are looked at beside the active ones
PATIENCE = 1.0  # times all rows: how many are looked at until sums of all are brought up to date
GOALS = (0.5, 0.05, 0.005)  # shares of the tolerance that steps aim at, until the gap is closed
MOST_ACTIVE_STEPS = 6_000  # pairwise, after which the same
ROUNDS = 12  # of steps, after which the whole program is solved again
BATCH = 0.25  # of the rows, the most that may come or go at a time
OLD_ERROR = 1e-2  # share of the tolerance above which rounding errors of old sums call for new ones
EPS = float(np.finfo(np.float64).eps)


class ActiveSquare(DenseMatrix):
    """Kernel values of some slots of a square that has room for more."""

    shares_values = True

    def __init__(self, values: Array, index: Array) -> None:
        self.values, self.index, self.n = values, index, index.size
        self.definite, self.name = True, ""

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(self.values[self.index, self.index])


class MovingOptimum:
    """The solution of a program, ready for fewer rows at the front and more at the end.

    Parameters
    ----------
    program : QuadraticProgram
        One that `can_follow` accepts.
    alpha : ndarray of shape (n,)
        Its solution.
    tol : float
        Tolerance, as for `solve`.
    cache_size : float
        Memory for kernel values in MB.
    """

    def __init__(
        self, program: QuadraticProgram, alpha: Array, tol: float, cache_size: float
    ) -> None:
        self.program, self.x, self.tol = program, program.signs * alpha, tol
        self.most = int(np.sqrt(cache_size * 1e6 / 12))  # steps have a copy in single precision
        self.steps = 0
        with single_threaded_blas:
            self._sum_anew()
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
                if not self._has_room():
                    return None
                solution = self._solved_for_active()
                if solution is not None:
                    self._settle()
                    return solution
                if self.steps >= MOST_ACTIVE_STEPS:
                    return None
                self._sum_all()
                self._choose()
                verdict = judge(
                    program, program.signs * self.x, self.field, np.full(self.x.size, self.error)
                )
                if verdict.within(self.tol):
                    return self._solution(verdict)
        return None

    # Sums over all rows: up to date for `last`, not for what active variables are now.

    def _sum_anew(self) -> None:
        self.field: Array = np.zeros(self.x.size)
        self.accumulated = 0.0
        self._add(self.x, self.field)
        self._measure()

    def _sum_all(self) -> None:
        """Bring the field of all rows up to date."""
        change, slots = np.zeros_like(self.x), self._slots()
        rows = self.row_of[slots]
        change[rows] = self.x[rows] - self.last[slots]
        self._add(change, self.field)
        self._measure()
        if self.error > OLD_ERROR * self.tol:
            self._sum_anew()

    def _settle(self) -> None:
        """Bring it up to date when that would have cost less than the rows looked at since."""
        if self.looked_at > PATIENCE * self.x.size:
            self._sum_all()
            slots = self._slots()
            rows = self.row_of[slots]
            self.active[slots], self.last[slots] = self.field[rows], self.x[rows]

    def _add(self, change: Array, field: Array) -> None:
        """Add to the field of all rows what a change of variables is worth."""
        columns = change.nonzero()[0]
        if columns.size:
            weights = (self.program.signed.kernel_signs * change)[None, columns]
            groups = np.zeros(self.x.size, np.int64)
            self.program.kernel.accumulate(columns, weights, groups, field, np.float64)
            self.accumulated += float(np.abs(weights).sum())

    def _measure(self) -> None:
        """Note what the quadratic term is, and a bound of the error of every value of the field."""
        self.quadratic = float(self.x @ (self.program.signed.kernel_signs * self.field))
        each = float(self.program.kernel.value_errors().errors.max())
        each += EPS * (16 + np.count_nonzero(self.x))
        self.error = each * self.accumulated
        self.looked_at = 0

    # Active rows, slots of a square of kernel values.

    def _slots(self) -> Array:
        return np.flatnonzero(self.row_of >= 0)

    def _choose(self) -> None:
        """Take the free variables, those that violate, and those that are nearest to that."""
        program, x = self.program, self.x
        lower, upper, linear, signs, _, _ = program.signed
        gradient = signs * self.field + linear
        wanted = midpoints(*extremes_of(SignedForm(program), gradient, x))[program.groups]
        free = (x > lower) & (x < upper)
        least = int(np.count_nonzero(free))
        size = int(max(FEWEST, ACTIVE_SHARE * x.size, BESIDE_FREE * least))
        size = min(size, x.size, max(int(self.most / (1.0 + SPARE)), least))
        rows = np.arange(x.size)
        if size < x.size:
            # By how much the gradient may change before a variable leaves its bound.
            away = np.where(x > lower, -wanted - gradient, gradient + wanted)
            sides = [
                np.flatnonzero((program.groups == g) & side & ~free)
                for g in range(program.n_groups)
                for side in (x < upper, x > lower)
            ]
            # As many of either side, so that there is room for what a total may need.
            each = -(-(size - least) // len(sides))
            chosen = [part[np.argsort(away[part])[:each]] for part in sides]
            rows = np.sort(np.concatenate([np.flatnonzero(free), *chosen]))
            size = rows.size
        room = int(size * (1.0 + SPARE)) + 64
        block = np.empty((size, size))
        program.kernel.write_block(rows, block)
        self.square = np.zeros((room, room))
        self.square[:size, :size] = block
        self.row_of = np.full(room, -1)  # of every slot; -1 for none
        self.active = np.zeros(room)  # the field, up to date
        self.last = np.zeros(room)  # variables that the field of all rows is up to date for
        self.row_of[:size], self.active[:size], self.last[:size] = rows, self.field[rows], x[rows]

    def _forget(self, gone: int) -> None:
        signs, slots = self.program.signed.kernel_signs, self._slots()
        rows = self.row_of[slots]
        leaving = slots[rows < gone]
        left = self.row_of[leaving]
        change = np.zeros_like(self.x)
        change[:gone] = -self.x[:gone]
        change[left] = -self.last[leaving]
        removed = np.zeros_like(self.x)
        self._add(change, removed)
        self.quadratic += float(change @ (signs * (2.0 * self.field + removed)))
        self.field += removed
        since = signs[left] * (self.x[left] - self.last[leaving])
        self.active[slots] += removed[rows] - since @ self.square[np.ix_(leaving, slots)]
        self.row_of[leaving] = -1
        self.row_of[self.row_of >= 0] -= gone
        self.x, self.field = self.x[gone:], self.field[gone:]

    def _append(self, came: int) -> None:
        """Add new rows, their variables at zero."""
        program, n = self.program, self.x.size
        signs, slots = program.signed.kernel_signs, self._slots()
        rows, new = self.row_of[slots], np.arange(n, n + came)
        support = self.x.nonzero()[0]
        weights = (signs[support] * self.x[support])[None, :]
        groups = np.zeros(came, np.int64)
        now = program.kernel.sums(new, support, weights, groups, np.float64)
        values = program.kernel.reference(new, np.append(rows, new))
        since = signs[rows] * (self.x[rows] - self.last[slots])
        self.field = np.append(self.field, now - values[:, : rows.size] @ since)
        self.x = np.append(self.x, np.zeros(came))
        empty = np.flatnonzero(self.row_of < 0)[:came]
        if empty.size < came:
            self._sum_all()
            self._choose()
            return
        self.row_of[empty], self.active[empty], self.last[empty] = new, now, 0.0
        both = np.append(slots, empty)
        self.square[empty[:, None], both] = values
        self.square[both[:, None], empty] = values.T

    # Steps.

    def _has_room(self) -> bool:
        """Say whether the active variables can make up for what totals lack."""
        program, rows = self.program, self.row_of[self._slots()]
        lacking, groups = program.totals - program.sums(self.x), program.groups[rows]
        down, up = (
            np.bincount(groups, bound[rows] - self.x[rows], minlength=program.n_groups)
            for bound in program.signed[:2]
        )
        return bool(((down <= lacking) & (lacking <= up)).all())

    def _solved_for_active(self) -> Solution | None:
        """Solve for the active variables; return the solution if it is one for all of them."""
        program, slots = self.program, self._slots()
        slots = slots[np.argsort(program.groups[self.row_of[slots]], kind="stable")]
        rows = self.row_of[slots]
        before, active = self.x[rows], self.active[slots]
        lower, upper, linear, signs = (part[rows] for part in program.signed[:4])
        change = QuadraticProgram(
            ActiveSquare(self.square, slots),
            totals=program.totals - program.sums(self.x),
            lower=lower - before,
            upper=upper - before,
            linear=signs * active + linear,
            groups=program.groups[rows],
            kernel_signs=signs,
            coupling=program.coupling,
        )
        form = SignedForm(change)
        form.kept = form.kernel = RowCache(change.kernel, np.empty((0, 0)))
        descent = Descent(form, _first_change(form))
        for goal in GOALS:
            _, steps = descent.go_roughly(goal * self.tol, 0.0, MOST_ACTIVE_STEPS)
            u, field = descent.found()
            self.steps += steps
            inside = np.where(u < form.upper, before + u, upper)
            self.x[rows] = np.where(u > form.lower, inside, lower)
            self.active[slots] = active + field.values
            verdict = self._verdict(change, form, u, field.values, slots)
            if verdict is None:
                return None
            if verdict.within(self.tol):
                return self._solution(verdict)
            if self.steps >= MOST_ACTIVE_STEPS:
                return None
        return None

    def _verdict(
        self, change: QuadraticProgram, form: SignedForm, u: Array, field: Array, slots: Array
    ) -> Certificate | None:
        """Judge the point by its active variables; None if others may violate their conditions."""
        program, rows = self.program, self.row_of[slots]
        linear, signs = program.signed.linear, program.signed.kernel_signs
        own = judge(change, u, field)
        # How far the normal vector has moved since the field of all rows was up to date.
        since = signs[rows] * (self.x[rows] - self.last[slots])
        squared = float(since @ (self.active[slots] - self.field[rows]))
        squared += self.error * float(np.abs(since).sum())
        reach = np.sqrt(max(squared, 0.0) * float(program.kernel.diagonal().max()))
        reach += 2.0 * self.error
        others = self._others(rows, since, reach, own.multipliers)
        if others is None:
            return None
        m, M = others
        own_m, own_M = extremes_of(form, form.gradient(u, field), u)
        violation = float(np.max(np.maximum(own_m, m) - np.minimum(own_M, M)))
        quadratic = self.quadratic + float(since @ (self.active[slots] + self.field[rows]))
        objective = 0.5 * quadratic + float(linear @ self.x)
        gap = own.objective - own.dual_objective
        scale = max(abs(objective), abs(objective - gap))
        off = np.abs(program.totals - program.sums(self.x))
        masses = program.sums(np.abs(self.x)) + np.abs(program.totals)
        return Certificate(
            objective=objective,
            dual_objective=objective - gap,
            dual_gap=gap / scale if scale > 0 else gap,
            kkt_violation=max(0.0, violation),
            multipliers=own.multipliers,
            primal_objective=gap - objective,
            infeasibility=float(off.max()),
            relative_infeasibility=float((off / np.where(masses > 0, masses, 1.0)).max()),
        )

    def _others(
        self, rows: Array, since: Array, reach: float, multipliers: Array
    ) -> tuple[Array, Array] | None:
        """Return bounds of ``m`` and ``M`` over variables that are not active.

        ``reach`` bounds how far their gradients have moved. Those that this leaves in doubt are
        looked at; None if one of them does violate its condition, or they are many.
        """
        program, x = self.program, self.x
        lower, upper, linear, signs, _, _ = program.signed
        wanted = -(signs * self.field + linear)
        grows, shrinks = x < upper, x > lower
        grows[rows] = shrinks[rows] = False
        common = multipliers[program.groups]
        doubt = np.flatnonzero(
            (grows & (wanted + reach > common)) | (shrinks & (wanted - reach < common))
        )
        unknown = np.full(x.size, reach)
        if doubt.size:
            if doubt.size > LOOKED_AT * x.size:
                return None
            self.looked_at += doubt.size
            moved = np.flatnonzero(since)
            groups = np.zeros(doubt.size, np.int64)
            added = program.kernel.sums(doubt, rows[moved], since[None, moved], groups, np.float64)
            wanted[doubt] -= signs[doubt] * added
            unknown[doubt] = 2.0 * self.error
        m, M = extremes(program, wanted + unknown, wanted - unknown, grows, shrinks)
        if (m > multipliers).any() or (multipliers > M).any():
            return None
        return m, M

    def _solution(self, verdict: Certificate) -> Solution:
        program, slots = self.program, self._slots()
        field = self.field.copy()
        field[self.row_of[slots]] = self.active[slots]
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


def _first_change(form: SignedForm) -> Array:
    """Return a feasible change: what a group lacks goes to those that gain most, and vice versa."""
    u = np.zeros(form.n)
    for g in np.flatnonzero(form.totals):
        members = np.flatnonzero(form.groups == g)
        grows = form.totals[g] > 0
        order = members[np.argsort(form.linear[members] if grows else -form.linear[members])]
        room = (form.upper if grows else -form.lower)[order]
        used = np.cumsum(room) - room
        share = np.clip(abs(form.totals[g]) - used, 0.0, room)
        u[order] = share if grows else -share
    return u
