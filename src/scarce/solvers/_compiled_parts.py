"""A small program on a part of a stored matrix, solved and judged in one compiled call."""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

import numpy as np

from scarce.solvers._compiled import group_extremes, violation_keys
from scarce.solvers._compiled_certificate import judge_ordinary
from scarce.solvers._compiled_small import SINGULAR, descend_whole, fill
from scarce.solvers._jit import compiled
from scarce.solvers._step_data import StepMatrix

UNIT = float(np.finfo(np.float64).eps)


@compiled()
def bound_errors(traffic, field, coupling, bins, out):  # type: ignore[no-untyped-def]
    """Write what rounding may have done to the sums, from bins that rows of like norms are in."""
    codes, errors, sizes = bins
    mass, terms = np.zeros(errors.shape[1]), 0
    largest = 0.0
    for g in range(coupling.shape[0]):
        for h in range(coupling.shape[0]):
            largest = max(largest, abs(coupling[g, h]))
    for k in range(traffic.size):
        if traffic[k] != 0.0:
            mass[codes[k]] += largest * traffic[k]
            terms += 1
    bounds = np.zeros(errors.shape[0])
    for a in range(errors.shape[0]):
        for b in range(mass.size):
            if mass[b] > 0.0:
                bounds[a] += (errors[a, b] + UNIT * (8 + terms) * sizes[a, b]) * mass[b]
    for k in range(traffic.size):
        out[k] = bounds[codes[k]] + UNIT * abs(field[k])


@compiled()
def solve_part(  # type: ignore[no-untyped-def]
    source,
    rows,
    diagonal,
    linear,
    boxes,
    groups,
    totals,
    coupling,
    bins,
    tol,
    goal,
    aims,
    limit,
    rules,
    x,
    field,
    multipliers,
):
    """Begin, take steps, the last one, judge; ``x``, ``field`` and ``multipliers`` are written.

    Steps have their ``rows`` from the source.

    ``aims`` are the share of the tolerance that a row may be off for its bound to do, the most
    goals that are tried, and what is feasible. Returns whether the point is proved to be optimal,
    the steps and what `judge_ordinary` found. A program that would need plain kernel values for its
    proof is left to others.
    """
    little, most_goals, feasible = aims
    n, turn, lower, upper = x.size, source.turn, boxes.lower, boxes.upper
    where, met, error, own = np.full(n, -1), np.full(3, -1), np.empty(n), np.empty(n)
    at, traffic, gradient, keys = np.zeros(n), np.zeros(n), linear.copy(), np.empty(n)
    fill(boxes, totals, x, rules)
    for k in range(n):
        own[k] = coupling[groups[k], groups[k]] * diagonal[k]
    matrix = StepMatrix(rows, where, coupling, np.zeros(n), own)
    steps, share = 0, 1.0
    judged = (np.nan, np.nan, np.nan, np.nan, np.nan, np.nan)
    for _ in range(most_goals):
        found, more = descend_whole(
            matrix,
            source,
            boxes,
            totals,
            x,
            at,
            traffic,
            gradient,
            share * tol,
            share * goal,
            limit - steps,
            rules,
            met,
        )
        steps += more
        if found == SINGULAR or steps >= limit:
            return False, steps, judged
        for k in range(n):
            field[k] = turn[k] * (gradient[k] - linear[k])
        bound_errors(traffic, field, coupling, bins, error)
        m, M = group_extremes(gradient, x, lower, upper, groups, totals.size)
        middle = np.zeros(totals.size)
        for g in range(totals.size):
            low = m[g] if np.isfinite(m[g]) else M[g]
            high = M[g] if np.isfinite(M[g]) else m[g]
            middle[g] = 0.5 * (low + high)
        violation_keys(gradient, x, lower, upper, groups, middle, keys)
        for k in range(n):
            if keys[k] + error[k] > little * tol:
                return False, steps, judged
        judged = judge_ordinary(
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
        )
        gap, violation, off = judged[2], judged[3], judged[5]
        if violation <= tol and gap <= tol and off <= feasible:
            return True, steps, judged
        if not gap > tol:
            break
        share *= min(0.3, max(1e-3, 0.3 * tol / gap))
    return False, steps, judged
