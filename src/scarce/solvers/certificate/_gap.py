"""The duality gap as a sum of what each variable could gain on its own, none of them negative.

In signed variables, for multipliers ``beta`` and any factor ``t``, the dual point ``t x`` has the
reduced gradient ``r = t k + l + beta``, with ``k`` the kernel part of the gradient and ``l`` the
linear one, and

    objective - dual = sum_i [r_i x_i + d_i x_i^2 / 2 - min over the box of (r_i z + d_i z^2 / 2)]
                       + (1 - t)^2 / 2 x'k + beta'(totals - sums).

Written so, nothing cancels, and an error of ``k`` only counts where it can change a sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import RESOLVED, ROUNDED_SLOPE
from scarce.solvers._program import QuadraticProgram

WIDEST = 1.0  # of a box, in units of the mass of its group, over which rounding counts
SEARCH = 60  # steps of the search for a factor, which a few end
# How far the factor of a dual point may be from 1. It belongs to another normal vector then than
# that of the model, so with bounds it may only round it; without bounds no gap would be known.
SAME, OTHER = 1e-11, 0.5


def duality_gap(
    problem: QuadraticProgram,
    x: Array,
    sizes: Array,
    kernel_part: Array,
    own: Array,
    multipliers: Array,
    error: Array | None,
    quadratic: float,
    zero: bool,
) -> tuple[float, float, Array]:
    """Return a bound of objective minus optimum of a definite program; infinite if none is known.

    Also return what it is at the same multipliers without any error, and these multipliers: the
    given ones, unless others prove more.

    ``sizes`` are the absolute values of ``x``, ``own`` the diagonal of the kernel part of ``Q``.
    The kernel part may be off by ``error``. ``zero`` says that the optimum is zero up to rounding.
    """
    groups, diagonal = problem.groups, problem.diagonal
    lower, upper, linear, _, bounded, _ = problem.signed
    # Every slope may be steeper by the rounding of its terms (Cauchy and Schwarz).
    root = np.sqrt(own)
    rounding = ROUNDED_SLOPE * (root * float(root @ sizes) + np.abs(linear))
    known = np.zeros_like(x) if error is None else error
    flat = diagonal == 0
    most = WIDEST * problem.sums(sizes)[groups]

    def gap(factor: float, beta: Array, unsure: Any, rounded: Array, known: Any = known) -> float:
        """Return the sum at a dual point whose slopes are known to ``unsure``, but for some."""
        slope = factor * kernel_part + linear + beta[groups]
        gains = np.zeros_like(x)
        for sign in (-1.0, 1.0):
            steepest = slope + sign * (factor * known + unsure)
            small = rounded >= np.abs(steepest)
            room = np.minimum(np.where(steepest > 0, x - lower, upper - x), most)
            cut_off = np.where(small & (not zero), np.abs(steepest) * room, 0.0)
            steepest[small] = 0.0
            if bounded and not problem.curved:
                found = (x - np.where(steepest > 0, lower, upper)) * steepest
            else:
                found = _gains(steepest, diagonal, x, lower, upper)
            gains = np.maximum(np.maximum(gains, found), cut_off)
        return float(gains.sum()) + 0.5 * (1.0 - factor) ** 2 * abs(quadratic)

    nothing = np.full(x.size, -1.0)
    least, plain, best = np.inf, np.inf, multipliers
    if bounded and not zero:
        least = gap(1.0, multipliers, rounding, nothing)
        plain = gap(1.0, multipliers, 0.0, nothing, 0.0)
    # Over a box that is far wider than all that its group has, rounding alone is worth more than
    # the objective: there the slopes need to have the right sign for certain.
    rising, falling = flat & (upper - x > most), flat & (x - lower > most)
    if not zero and (rising.any() or falling.any()):
        sure = _feasible_multipliers(
            kernel_part,
            linear,
            known,
            -2.0 * rounding,
            rising,
            falling,
            groups,
            multipliers,
            SAME if bounded else OTHER,
        )
        proved, shown = gap(*sure, rounding, nothing), gap(1.0, sure[1], 0.0, nothing, 0.0)
        if bounded:  # the model that is kept has the factor 1
            proved = max(proved, shown)
        if proved < least:
            least, plain, best = proved, shown, sure[1]
    if np.isfinite(least):
        return least, plain, best
    # A slope below the rounding of its terms, and of those that gave the multiplier, has to be zero
    # when the optimum is. Of variables without a bound, where no multipliers prove anything, it is
    # taken over all that the group has: rounding times infinity says nothing.
    common = np.zeros(multipliers.size)
    np.maximum.at(common, groups, np.where(sizes > 0, rounding, 0.0))
    slack = rounding + common[groups]
    ignored = flat & (zero | np.isinf(upper - lower))
    rising, falling = flat & (upper == np.inf), flat & (lower == -np.inf)
    point = 1.0, multipliers
    if rising.any() or falling.any():
        slack[rising | falling] = slack.max()  # what the solver can resolve
        point = _feasible_multipliers(
            kernel_part, linear, known, 0.5 * slack, rising, falling, groups, multipliers, OTHER
        )
    # Rounding errors that are no longer small beside a linear term are slopes like others.
    small = np.where(linear == 0, slack, np.minimum(slack, RESOLVED * np.abs(linear)))
    least = gap(*point, np.where(ignored, 0.0, rounding), np.where(ignored, small, -1.0))
    return least, gap(1.0, point[1], 0.0, np.where(ignored, small, -1.0), 0.0), point[1]


def _gains(slope: Array, curvature: Array, x: Array, lower: Array, upper: Array) -> Array:
    """Return by how much each variable's own part would fall at its best place in the box."""
    with np.errstate(invalid="ignore", divide="ignore"):
        best = np.where(slope > 0, lower, upper)
        curved = curvature > 0
        if curved.any():
            best = np.where(curved, np.clip(-slope / curvature, lower, upper), best)
        gains = (x - best) * (slope + np.where(curved, 0.5 * curvature * (x + best), 0.0))
    return np.where((slope == 0) & ~curved, 0.0, gains)


def _feasible_multipliers(
    kernel_part: Array,
    linear: Array,
    error: Array,
    slack: Array,
    rising: Array,
    falling: Array,
    groups: Array,
    multipliers: Array,
    reach: float,
) -> tuple[float, Array]:
    """Return a factor and multipliers at which no endless variable has a slope of the wrong sign.

    A variable that may rise without end needs ``beta >= -t k - l``, one that may fall without end
    the opposite. A factor near 1 is looked for when no multiplier does both: lengthening a normal
    vector widens all margins. The multipliers as they are when nothing helps.
    """
    factor, n_groups = 1.0, multipliers.size
    for _ in range(SEARCH):
        wanted, spread = -(factor * kernel_part + linear), factor * error - slack
        least, most = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
        np.maximum.at(least, groups[rising], (wanted + spread)[rising])
        np.minimum.at(most, groups[falling], (wanted - spread)[falling])
        excess = least - most
        g = int(np.argmax(excess))
        if excess[g] <= 0:
            return factor, np.clip(multipliers, least, most)
        up = np.flatnonzero(rising & (groups == g))
        down = np.flatnonzero(falling & (groups == g))
        i, j = up[(wanted + spread)[up].argmax()], down[(wanted - spread)[down].argmin()]
        slope = float(kernel_part[j] - kernel_part[i])  # of the excess by the factor
        if slope == 0:
            break
        # Newton's method on a convex function; a little further, or rounding keeps it short.
        step = -(1.0 + 1e-6) * float(excess[g]) / slope
        factor += step + float(np.copysign(ROUNDED_SLOPE, step))
        if not 1.0 - reach <= factor <= 1.0 / (1.0 - reach):
            break
    return 1.0, multipliers
