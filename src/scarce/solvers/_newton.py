"""Exact steps on the free variables: with the active bounds known they solve a linear system."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from scarce._arrays import Array
from scarce._core import EXACT_STEPS, MOST_FREE, REGULAR, ROUNDED_GRADIENT
from scarce.solvers._signed import SignedForm
from scarce.solvers._unbounded import refuse_unbounded

SINGULAR_UP_TO = int(MOST_FREE)
# Free variables for which a Cholesky factorisation pays inside the loop: of more, a step to the
# first bound costs more than the pairwise steps that it saves.
FACTORED_UP_TO = 800
# Share of its terms up to which a rise of the objective, or a negative curvature, is rounding. The
# terms are those of the products |change| |Q| |change|: along a direction without curvature what is
# left of them has any sign.
ROUNDING = 1e-9


def free_variables(form: SignedForm, x: Array) -> Array:
    """Return the variables strictly between their bounds."""
    return np.flatnonzero((x > form.lower) & (x < form.upper))


def newton_steps(
    form: SignedForm, x: Array, gradient: Array, most: int, tol: float
) -> tuple[Array | None, bool]:
    """Return the point after Newton steps on the free variables; None when there are none to take.

    Each step solves ``Q_ff d + beta_g = -gradient_f``, ``sum of d over each group = 0`` and stops
    at the first bound, which then joins the active ones: the objective never rises. A gradient that
    a singular system leaves over, above ``tol``, points along a direction without curvature, which
    is followed to its first bound; without a bound that is an error if the direction proves it.
    Also say whether negative curvature was met: the objective may then rise up to a saddle.
    """
    free = free_variables(form, x)
    if not 0 < free.size <= most:
        return None, False
    bent = False
    Q = form.block(free, np.float64)
    right = -gradient[free]
    rounding = ROUNDED_GRADIENT * float(np.abs(np.diagonal(Q)).max() * np.abs(x).sum())
    if np.abs(_centred(right, form.groups[free], form.n_groups)).max() <= rounding:
        return None, False  # and what is solved stays as it is
    x = x.copy()
    for _ in range(int(EXACT_STEPS) if free.size <= SINGULAR_UP_TO else 2):
        owner = form.groups[free]
        # What a group has in common its multiplier answers; left in, it would hide the rest.
        right = _centred(right, owner, form.n_groups)
        step, longest = _direction(Q, right, x[free], owner, form.n_groups, tol)
        if not np.isfinite(step).all():
            return None, bent
        # Rounding must not add up in a group's sum.
        step = _centred(step, owner, form.n_groups)
        bound = np.where(step > 0, form.upper[free], form.lower[free])
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step == 0, np.inf, (bound - x[free]) / step)
        length = min(longest, float(reach.min()))
        if np.isinf(length):
            refuse_unbounded(form, free, step)
            return None, bent
        target = np.where(reach <= length, bound, x[free] + length * step)
        change = target - x[free]
        bend = Q @ change
        terms = float(np.abs(change) @ (np.abs(Q) @ np.abs(change)))
        bent |= bool(change @ bend < -ROUNDING * terms)
        rise = float(change @ (0.5 * bend - right))
        if rise > ROUNDING * (0.5 * terms + float(np.abs(change) @ np.abs(right))):
            return None, bent  # a saddle or a maximum: the objective would rise
        right -= bend
        x[free] = target
        inside = reach > length
        if inside.all():
            break
        free, right, Q = free[inside], right[inside], Q[np.ix_(inside, inside)]
        if free.size == 0:
            break
    form.snap(x)
    form.balance(x)
    return x, bent


def _centred(values: Array, groups: Array, n_groups: int) -> Array:
    if n_groups == 1:
        return np.asarray(values - values.sum() / values.size)
    means = np.bincount(groups, values) / np.maximum(1, np.bincount(groups))
    return np.asarray(values - means[groups])


def _direction(
    Q: Array, right: Array, x: Array, groups: Array, n_groups: int, tol: float
) -> tuple[Array, float]:
    """Return a direction that keeps every group's sum, and how far it may be followed."""
    if n_groups == 1:
        members = np.ones((groups.size, 1))
    else:
        members = (groups[:, None] == np.unique(groups)).astype(float)
    n = groups.size
    # In units of the kernel, so that its rows and those of the equalities weigh alike.
    scale = float(np.abs(np.diagonal(Q)).max()) or 1.0
    Q, right, tol = Q / scale, right / scale, tol / scale
    small = n <= SINGULAR_UP_TO
    if not small:
        Q.flat[:: n + 1] += 1e-12 * float(np.trace(Q))  # the copy made above
    factor, failed = linalg.lapack.dpotrf(Q, lower=1, clean=0)
    if small and (failed or np.diagonal(factor).min() ** 2 < REGULAR):
        return _least_norm_direction(Q, right, x, members, tol)
    if failed:
        return np.full(n, np.nan), 1.0
    sides = np.concatenate([right[:, None], members], axis=1)
    both, _ = linalg.lapack.dpotrs(factor, sides, lower=1)
    plain, spread = both[:, 0], both[:, 1:]
    multipliers = linalg.lapack.dgesv(members.T @ spread, members.T @ plain)[2]
    return np.asarray(plain - spread @ multipliers), 1.0


def _least_norm_direction(
    Q: Array, right: Array, x: Array, members: Array, tol: float
) -> tuple[Array, float]:
    """Do it for a singular system, of duplicated rows for instance, which are treated alike.

    The direction leads to the solution of least norm, whichever steps led here.
    """
    n, k = members.shape
    system, full = np.zeros((n + k, n + k)), np.zeros(n + k)
    system[:n, :n], system[:n, n:], system[n:, :n] = Q, members, members.T
    full[:n], full[n:] = right + Q @ x, members.T @ x
    answer = linalg.lstsq(system, full, cond=1e-13, lapack_driver="gelsy", check_finite=False)[0]
    flat = full - system @ answer
    if np.abs(flat[:n]).max() > tol:
        return flat[:n], np.inf
    return np.asarray(answer[:n] - x), 1.0
