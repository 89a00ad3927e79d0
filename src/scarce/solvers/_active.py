"""Rows that a solution may change at, their kernel values, and the sums over all other rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import add_rows
from scarce.solvers._program import QuadraticProgram
from scarce.solvers._signed import SignedForm, extremes_of
from scarce.solvers.certificate._judge import Certificate, midpoints

FEWEST = 256  # active rows; of fewer all are
ACTIVE_SHARE = 0.03  # of all rows
BESIDE_FREE = 2.0  # active rows for each free variable
SPARE = 0.25  # room for rows to come, as a share of the active ones
LOOKED_AT = 0.3  # of all rows, the most that are looked at beside the active ones
PARTS = 10  # numbers of changes that are tried for sums of all rows
OLD_ERROR = 1e-2  # share of the tolerance above which rounding errors of old sums call for new ones
EPS = float(np.finfo(np.float64).eps)


class ActiveRows:
    """The active rows of a program and a point, and what all rows have by that.

    ``x``: the point. ``field``: kernel sums of all rows over the rows ``support`` with these
    ``weights``, where active variables are at ``last``. ``rows``: the active ones; ``active``:
    their sums at ``x``. ``verdict``: what is proved of it.
    ``reach``: how far inside its conditions a row that is not active need not be looked at.
    """

    program: QuadraticProgram
    x: Array
    field: Array
    support: Array
    weights: Array
    tol: float
    most: int  # active rows
    rows: Array
    active: Array
    last: Array
    verdict: Certificate | None = None
    reach: float = 0.0
    _square: Array

    # Sums over all rows: up to date for `last`, not for what active variables are now.

    def _sum_anew(self) -> None:
        self.field[:], self.accumulated = 0.0, 0.0
        support = (self.x != 0.0).nonzero()[0]
        if support.size:
            self._add(support, self.x[support], self.field)
        self._measure(self.x)

    def _sum_all(self) -> None:
        """Bring the field of all rows up to date, and with it that of active ones."""
        moved = (self.x[self.rows] != self.last).nonzero()[0]
        if moved.size:
            self._sum_some(moved)
        self._measure(self.x)
        if self.error > OLD_ERROR * self.tol:
            self._sum_anew()
        self.active[:], self.last[:] = self.field[self.rows], self.x[self.rows]

    def _sum_some(self, slots: Array) -> None:
        """Bring the field of all rows up to date for some of the active variables."""
        rows = self.rows[slots]
        now = self.x[rows]
        self._add(rows, now - self.last[slots], self.field)
        self.last[slots] = now

    def _sum_largest(self) -> None:
        """Bring the field of all rows up to date for the largest changes of active variables.

        Few of them are most of what the normal vector has moved by.
        """
        since, count = self._since(), self.rows.size
        moved = np.flatnonzero(since)
        moved = moved[np.argsort(-np.abs(since[moved]), kind="stable")]
        numbers = np.arange(PARTS + 1) * moved.size // PARTS
        # What the changes left then are worth at active rows, and how long their vector is.
        worth, squared = np.zeros((PARTS + 1, count)), np.zeros(PARTS + 1)
        square = self._square[:count, :count]
        for part in range(PARTS - 1, -1, -1):
            some, rest = moved[numbers[part] : numbers[part + 1]], moved[numbers[part] :]
            worth[part] = worth[part + 1]
            add_rows(square, some, since[some], worth[part])
            squared[part] = since[rest] @ worth[part, rest]
        far = np.sqrt(np.maximum(squared, 0.0) * self.program.kernel.diagonal().max())
        away = self._away(self.field, slice(None))
        # About, as sums may bring rows nearer.
        doubts = np.array([np.count_nonzero(away < each) for each in far])
        doubts[doubts > LOOKED_AT * self.x.size] = self.x.size
        cost = numbers * self.x.size + (moved.size - numbers) * doubts
        best = int(np.argmin(cost))
        if numbers[best] in (0, moved.size):
            self._choose_anew()
            return
        self._sum_some(moved[: numbers[best]])
        self._measure(self._last_variables())
        if self.error > OLD_ERROR * self.tol:
            self._sum_all()
            return
        self.active[:] = self.field[self.rows] + worth[best]

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

    def _add(self, columns: Array, change: Array, field: Array) -> None:
        """Add to the field of all rows what a change of some variables is worth."""
        weights = (self.program.signed.kernel_signs[columns] * change)[None, :]
        groups = np.zeros(self.x.size, np.int64)
        self.program.kernel.accumulate(columns, weights, groups, field, np.float64)
        self.accumulated += float(np.abs(change).sum())

    def _measure(self, x: Array) -> None:
        """Note what sums are of, the quadratic term, and a bound of the error of every sum."""
        signs, self.support = self.program.signed.kernel_signs, (x != 0.0).nonzero()[0]
        self.weights = signs[self.support] * x[self.support]
        self.quadratic = float(x @ (signs * self.field))
        self.value_error = float(self.program.kernel.value_errors().errors.max())
        each = self.value_error + EPS * (16 + self.support.size)
        self.error = each * self.accumulated
        self.looked_at, self.verdict = 0, None

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
        if not slots.size:
            return
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
