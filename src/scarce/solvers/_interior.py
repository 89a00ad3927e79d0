"""An interior point method: the way out for small programs on which pairwise steps crawl.

With a kernel of low rank and a large cost, hundreds of variables lie between bounds that are far
apart, and steps along two of them gain next to nothing. Here the number of steps hardly depends on
the data, and each costs one factorisation (Mehrotra 1992).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from scarce._arrays import Array
from scarce._core import FEASIBLE
from scarce.solvers._signed import SignedForm

SMALL = 2048  # variables whose whole matrix is factorised in no time
MOST_STEPS = 60
AT_WALL = 1e-7  # share of a box, or of the group's mass if less, within which a value is at a bound
CLOSE = 1e-11  # complementarity at the end, as a share of that of the start or of the objective
TO_THE_WALL = 0.995  # share of the way to the first bound
JITTER = 1e-14  # of the largest diagonal entry, so that a singular matrix can be factorised


def interior_start(form: SignedForm, x: Array, field: Array) -> Array | None:
    """Return a point to go on from, feasible and better than ``x``; None if there is none."""
    with np.errstate(all="ignore"):  # what is not finite is no start
        inner = _inner(form)
    if inner is None or not np.isfinite(inner).all():
        return None
    widths = np.minimum(form.widths, form.masses(inner)[form.groups])
    inner = np.where(inner < form.lower + AT_WALL * widths, form.lower, inner)
    inner = np.where(inner > form.upper - AT_WALL * widths, form.upper, inner)
    form.balance(inner)
    if (np.abs(form.missing(inner)) > FEASIBLE * form.masses(inner)).any():
        return None
    values = form.exact_field(inner, np.arange(form.n))
    better = form.objective(inner, values) < form.objective(x, field)
    return inner if better else None


def _inner(form: SignedForm) -> Array | None:
    """Return the inner point of a program; variables whose box is a point stay there."""
    Q = form.block(np.arange(form.n), np.float64)
    moving = form.lower < form.upper
    inner = np.where(moving, 0.0, form.lower)
    members = (form.groups[moving] == np.unique(form.groups[moving])[:, None]).astype(np.float64)
    missing = form.missing(inner)[np.unique(form.groups[moving])]
    found = interior_point(
        Q[np.ix_(moving, moving)],
        form.linear[moving] + Q[moving] @ inner,
        (form.lower[moving], form.upper[moving]),
        members,
        missing,
    )
    if found is None:
        return None
    inner[moving] = found
    return inner


def interior_point(
    Q: Array, linear: Array, bounds: tuple[Array, Array], members: Array, totals: Array
) -> Array | None:
    """Minimise ``1/2 x'Qx + linear'x`` with ``members x = totals`` and the bounds.

    The point that is returned is strictly inside all boxes, which must not be empty, and near the
    optimum of a definite program; None if arithmetic does not allow it.
    """
    n = linear.size
    walls = Walls(*bounds)
    x, multipliers = walls.start(), np.zeros(totals.size)
    jitter = JITTER * float(np.abs(np.diagonal(Q)).max())
    first = np.inf
    for _ in range(MOST_STEPS):
        bend = Q @ x
        mean = walls.complementarity(x)
        first = min(first, mean)
        scale = abs(float(x @ (0.5 * bend + linear))) / max(1, walls.count)
        if mean <= CLOSE * max(scale, CLOSE * first):
            break
        dual = bend + linear + members.T @ multipliers - walls.below + walls.above
        missing = totals - members @ x
        system = Q.copy()
        system.flat[:: n + 1] += walls.stiffness(x) + jitter
        factor, failed = linalg.lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        spread = linalg.lapack.dpotrs(factor, members.T.copy(order="F"), lower=1)[0]
        shared = members @ spread

        def direction(target: Array | float, pushes: tuple[Array, Array]) -> tuple[Array, Array]:
            right = -dual + walls.push(x, target, pushes)  # noqa: B023
            plain = linalg.lapack.dpotrs(factor, right, lower=1)[0]  # noqa: B023
            rest = members @ plain - missing  # noqa: B023
            _, _, change, singular = linalg.lapack.dgesv(shared, rest)  # noqa: B023
            if singular:  # a step that is not finite ends the search
                change = np.full(rest.size, np.nan)
            return plain - spread @ change, change  # noqa: B023

        nothing = np.zeros(n), np.zeros(n)
        step, _ = direction(0.0, nothing)
        sides = walls.sides(x, step, 0.0, nothing)
        length = walls.longest(x, step, sides)
        ahead = walls.after(length, sides).complementarity(x + length * step)
        target = mean * (ahead / mean) ** 3
        pushes = step * sides[0], -step * sides[1]  # Mehrotra's second-order correction
        step, change = direction(target, pushes)
        sides = walls.sides(x, step, target, pushes)
        length = TO_THE_WALL * walls.longest(x, step, sides)
        if not (np.isfinite(step).all() and length > 1e-12):
            return None
        x, walls = x + length * step, walls.after(length, sides)
        multipliers = multipliers + length * change
    return x


class Walls:
    """The bounds of all variables and their multipliers, which an inner point keeps positive."""

    def __init__(self, lower: Array, upper: Array) -> None:
        self.lower, self.upper = lower, upper
        self.floor, self.ceiling = np.isfinite(lower), np.isfinite(upper)
        self.count = int(self.floor.sum() + self.ceiling.sum())
        self.below = self.floor.astype(np.float64)
        self.above = self.ceiling.astype(np.float64)

    def start(self) -> Array:
        """Return the middles of the boxes; of an endless one, a place beside its finite end."""
        both = self.floor & self.ceiling
        near = np.where(self.floor, self.lower + 1.0, np.where(self.ceiling, self.upper - 1.0, 0.0))
        with np.errstate(invalid="ignore"):
            return np.where(both, 0.5 * (self.lower + self.upper), near)

    def rooms(self, x: Array) -> tuple[Array, Array]:
        """Return the distances to the bounds, 1 where there is none."""
        return (
            np.where(self.floor, x - self.lower, 1.0),
            np.where(self.ceiling, self.upper - x, 1.0),
        )

    def complementarity(self, x: Array) -> float:
        """Return the mean product of a distance and its multiplier: zero at an optimum."""
        down, up = self.rooms(x)
        return float(self.below @ down + self.above @ up) / max(1, self.count)

    def stiffness(self, x: Array) -> Array:
        """Return what the walls add to the diagonal."""
        down, up = self.rooms(x)
        return np.asarray(self.below / down + self.above / up)

    def push(self, x: Array, target: Any, pushes: tuple[Array, Array]) -> Array:
        """Return what the walls add to the right-hand side."""
        down, up = self.rooms(x)
        low = np.where(self.floor, (target - pushes[0]) / down - self.below, 0.0)
        high = np.where(self.ceiling, (target - pushes[1]) / up - self.above, 0.0)
        return np.asarray(low - high)

    def sides(
        self, x: Array, step: Array, target: Any, pushes: tuple[Array, Array]
    ) -> tuple[Array, Array]:
        """Return the changes of the multipliers."""
        down, up = self.rooms(x)
        low = (target - pushes[0] - self.below * step) / down - self.below
        high = (target - pushes[1] + self.above * step) / up - self.above
        return np.where(self.floor, low, 0.0), np.where(self.ceiling, high, 0.0)

    def longest(self, x: Array, step: Array, sides: tuple[Array, Array]) -> float:
        """Return the longest step, at most 1, at which nothing is negative."""
        down, up = self.rooms(x)
        falls = [(down, np.where(self.floor, step, 0.0)), (up, np.where(self.ceiling, -step, 0.0))]
        falls += [(self.below, sides[0]), (self.above, sides[1])]
        length = 1.0
        for room, change in falls:
            towards = change < 0
            if towards.any():
                length = min(length, float((-room[towards] / change[towards]).min()))
        return length

    def after(self, length: float, sides: tuple[Array, Array]) -> Walls:
        """Return the walls with changed multipliers."""
        other = object.__new__(Walls)
        other.__dict__ = {**self.__dict__}
        other.below, other.above = self.below + length * sides[0], self.above + length * sides[1]
        return other
