"""The certificate of an ordinary small program in one compiled call.

The same quantities as `judge` and `duality_gap`, whose names are used, for bounded boxes and a
definite matrix without an added diagonal. On short arrays dozens of NumPy calls would take longer
than the rest of a fit.
"""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

import numpy as np

from scarce.solvers._jit import compiled


@compiled()
def judge_ordinary(  # type: ignore[no-untyped-def]
    x,
    field,
    error,
    turn,
    linear,
    lower,
    upper,
    groups,
    totals,
    coupling,
    diagonal,
    rules,
    multipliers,
):
    """Write the multipliers; return what a `Certificate` holds beside, the worst within the error.

    That is objective, duality gap, relative gap, violation, infeasibility and relative
    infeasibility.
    """
    n, n_groups = x.size, totals.size
    gradient = np.empty(n)
    masses, missing = np.zeros(n_groups), totals.copy()
    m, M = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
    highest, lowest = m.copy(), M.copy()  # the same within the error
    quadratic, level, terms, prices, spread = 0.0, 0.0, 0.0, 0.0, 0.0
    all_parts, unknown = 0.0, 0.0
    for i in range(n):
        g = groups[i]
        masses[g] += abs(x[i])
        missing[g] -= x[i]
        kernel_part = turn[i] * field[i]
        gradient[i] = kernel_part + linear[i]
        all_parts += abs(gradient[i]) + error[i]
        unknown += 0.5 * abs(x[i]) * error[i]
        quadratic += x[i] * kernel_part
        level += x[i] * linear[i]
        own = abs(coupling[g, g] * diagonal[i])
        terms += own * x[i] * x[i]
        prices += abs(linear[i]) * abs(x[i])
        spread += np.sqrt(own) * abs(x[i])
    if not all_parts + abs(quadratic) < np.inf:  # every comparison below would be false
        multipliers[:] = 0.0
        return np.nan, np.inf, np.inf, np.inf, np.inf, np.inf
    for i in range(n):
        g = groups[i]
        room = rules.at_bound * min(upper[i] - lower[i], masses[g])
        if x[i] < upper[i] - room:
            m[g] = max(m[g], -gradient[i])
            highest[g] = max(highest[g], -gradient[i] + error[i])
        if x[i] > lower[i] + room:
            M[g] = min(M[g], -gradient[i])
            lowest[g] = min(lowest[g], -gradient[i] - error[i])
    violation = 0.0
    for g in range(n_groups):
        violation = max(violation, highest[g] - lowest[g])
        low = m[g] if np.isfinite(m[g]) else (M[g] if np.isfinite(M[g]) else 0.0)
        high = M[g] if np.isfinite(M[g]) else low
        multipliers[g] = 0.5 * (low + high)
    objective = 0.5 * quadratic + level
    if linear.any():
        terms = min(terms, prices)
    zero = abs(objective) <= rules.rounded * terms

    # A slope below the rounding of its terms, and of those that gave the multiplier, is zero when
    # the optimum is. Otherwise every slope may be steeper by its rounding, over all of its box.
    common = np.zeros(n_groups)
    for i in range(n):
        if x[i] != 0.0:
            g = groups[i]
            root = np.sqrt(abs(coupling[g, g] * diagonal[i]))
            common[g] = max(common[g], rules.rounding * (root * spread + abs(linear[i])))
    gap = 0.0
    for i in range(n):
        g = groups[i]
        root = np.sqrt(abs(coupling[g, g] * diagonal[i]))
        unsure = rules.rounding * (root * spread + abs(linear[i]))
        small = unsure + common[g]
        if linear[i] != 0.0:
            small = min(small, rules.resolved * abs(linear[i]))
        wrong = error[i] + (0.0 if zero else unsure)
        gain = 0.0
        for sign in (-1.0, 1.0):
            slope = gradient[i] + multipliers[g] + sign * wrong
            room = x[i] - lower[i] if slope > 0.0 else upper[i] - x[i]
            if not zero or abs(slope) > small:
                gain = max(gain, abs(slope) * room)
        gap += gain
    off, share, unmet = 0.0, 0.0, 0.0
    for g in range(n_groups):
        unmet += multipliers[g] * missing[g]
        off = max(off, abs(missing[g]))
        scale = masses[g] + abs(totals[g])
        share = max(share, abs(missing[g]) / scale if scale > 0.0 else abs(missing[g]))
    gap += abs(unmet)
    for i in range(n):
        outside = max(lower[i] - x[i], x[i] - upper[i])
        if outside > 0.0:
            scale = masses[groups[i]] + abs(totals[groups[i]])
            off = max(off, outside)
            share = max(share, outside / scale if scale > 0.0 else outside)
    bound = max(max(abs(objective) - unknown, abs(objective - gap)), rules.rounded * terms)
    relative = gap / bound if bound > 0.0 else gap
    return objective, gap, relative, violation, off, share
