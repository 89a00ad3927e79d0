"""Compiled parts of the small route: gradients from kept rows, shrinking, the exact last step.

The arguments are those of `_step_data`.
"""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

import numpy as np

from scarce.solvers._compiled import add_lines, copy_row, dot, pairwise_steps
from scarce.solvers._jit import compiled
from scarce.solvers._step_data import Boxes, Source, StepMatrix

SINGULAR, ABSENT, STEPPED = -1, -2, 1
SHRINK_FROM = 128  # variables, of which so many cost little more in a step than half of them
ROUGHLY = 0.3  # share of the violation to which steps go while the rows of others are absent


@compiled()
def add_to_gradient(matrix, change, starts, out):  # type: ignore[no-untyped-def]
    """Add what a change of the variables is worth, from the rows of those that change."""
    scale, extra = matrix.scale, matrix.extra
    lines, weights = np.empty(change.size, np.int64), np.empty(change.size)
    for k in range(change.size):
        out[k] += extra[k] * change[k]
    for h in range(starts.size - 1):
        count = 0
        for k in range(starts[h], starts[h + 1]):
            if change[k] != 0.0:
                lines[count], weights[count] = matrix.where[k], change[k]
                count += 1
        sums = np.zeros(change.size)
        add_lines(matrix.values, lines[:count], weights[:count], sums)
        for g in range(starts.size - 1):
            for k in range(starts[g], starts[g + 1]):
                out[k] += scale[g, h] * sums[k]


@compiled()
def write_gradient(matrix, linear, x, starts, out):  # type: ignore[no-untyped-def]
    """Write the gradient at ``x`` from the rows of the variables that are not zero."""
    for k in range(x.size):
        out[k] = linear[k]
    add_to_gradient(matrix, x, starts, out)


@compiled()
def violation(boxes, gradient, x):  # type: ignore[no-untyped-def]
    """Return ``max over groups of m_g - M_g``, not below 0."""
    lower, upper, starts = boxes.lower, boxes.upper, boxes.starts
    worst = 0.0
    for g in range(starts.size - 1):
        m, M = -np.inf, np.inf
        for k in range(starts[g], starts[g + 1]):
            if x[k] < upper[k]:
                m = max(m, -gradient[k])
            if x[k] > lower[k]:
                M = min(M, -gradient[k])
        if m > M:
            worst = max(worst, m - M)
    return worst


@compiled()
def active_variables(boxes, gradient, x, fixed):  # type: ignore[no-untyped-def]
    """Return the variables that a step may still want, and where their groups begin.

    LIBSVM's rule of shrinking: a variable at a bound is left out if it violates with none of its
    group, ``-gradient < M`` where it may only grow and ``-gradient > m`` where it may only shrink.
    Those that are ``fixed`` have no part in it.
    """
    lower, upper, starts = boxes.lower, boxes.upper, boxes.starts
    active, count = np.empty(x.size, np.int64), 0
    begins = np.zeros(starts.size, np.int64)
    for g in range(starts.size - 1):
        m, M = -np.inf, np.inf
        for k in range(starts[g], starts[g + 1]):
            if x[k] < upper[k] and not fixed[k]:
                m = max(m, -gradient[k])
            if x[k] > lower[k] and not fixed[k]:
                M = min(M, -gradient[k])
        for k in range(starts[g], starts[g + 1]):
            up, low = x[k] < upper[k] and not fixed[k], x[k] > lower[k] and not fixed[k]
            if (up and low) or (up and -gradient[k] >= M) or (low and -gradient[k] <= m):
                active[count] = k
                count += 1
        begins[g + 1] = count
    return active[:count], begins


@compiled()
def shrunk_steps(  # type: ignore[no-untyped-def]
    matrix, boxes, source, gradient, x, tol, max_steps, at_bound, met, held, active, begins
):
    """Take pairwise steps on the ``active`` variables alone, on a copy of their block.

    ``begins`` is where their groups begin. The gradient of all variables follows at the end.
    """
    Q, where, scale, extra, diagonal = matrix
    block = np.empty((active.size, active.size))
    for a in range(active.size):
        if where[active[a]] < 0:
            copy_row(source, active[a], where)
        row, into = Q[where[active[a]]], block[a]
        for b in range(active.size):
            into[b] = row[active[b]]
    all_there = np.arange(active.size)
    part = x[active]
    steps = pairwise_steps(
        StepMatrix(block, all_there, scale, extra[active], diagonal[active]),
        Boxes(boxes.lower[active], boxes.upper[active], boxes.widths[active], begins),
        Source(source.values[:0], source.rows, source.turn, source.copies),
        gradient[active],
        part,
        tol,
        max_steps,
        at_bound,
        met,
        held,
    )
    change = np.zeros(x.size)
    for a in range(active.size):
        change[active[a]] = part[a] - x[active[a]]
        x[active[a]] = part[a]
    add_to_gradient(matrix, change, boxes.starts, gradient)
    return steps


@compiled()
def _factorise(A, regular):  # type: ignore[no-untyped-def]
    """Replace the lower half of a matrix by its Cholesky factor; say whether it is regular."""
    for i in range(A.shape[0]):
        row = A[i]
        for j in range(i):
            row[j] = (row[j] - dot(row[:j], A[j, :j])) / A[j, j]
        pivot = row[i] - dot(row[:i], row[:i])
        if not pivot >= regular:
            return False
        row[i] = np.sqrt(pivot)
    return True


@compiled()
def _solve_in_place(factor, b):  # type: ignore[no-untyped-def]
    n = b.size
    for i in range(n):
        b[i] = (b[i] - dot(factor[i, :i], b[:i])) / factor[i, i]
    for i in range(n - 1, -1, -1):
        b[i] /= factor[i, i]
        for k in range(i):
            b[k] -= factor[i, k] * b[i]


@compiled()
def _centre(values, owner, sizes):  # type: ignore[no-untyped-def]
    for g in range(sizes.size):
        total = 0.0
        for k in range(values.size):
            if owner[k] == g:
                total += values[k]
        for k in range(values.size):
            if owner[k] == g:
                values[k] -= total / sizes[g]


@compiled()
def newton(matrix, boxes, gradient, x, rules):  # type: ignore[no-untyped-def]
    """Newton steps on the free variables, each to the first bound met; ``x`` is changed in place.

    Returns STEPPED, 0 when there are none or too many free variables, and SINGULAR when a system
    is not regular: what it takes then is not worth compiling.
    """
    Q, where, scale, extra = matrix.values, matrix.where, matrix.scale, matrix.extra
    lower, upper, starts, most = boxes.lower, boxes.upper, boxes.starts, rules.most_free
    n_groups = starts.size - 1
    free = np.empty(most, np.int64)
    owner = np.empty(most, np.int64)
    n = 0
    for g in range(n_groups):
        for k in range(starts[g], starts[g + 1]):
            if lower[k] < x[k] < upper[k]:
                if n == most:
                    return 0
                free[n], owner[n] = k, g
                n += 1
    if n == 0:
        return 0
    right = np.empty(n)
    for a in range(n):
        right[a] = -gradient[free[a]]
    for _ in range(rules.most_newton):
        # Groups without free variables have no part in the system.
        at, n_active = np.full(n_groups, -1), 0
        for a in range(n):
            if at[owner[a]] < 0:
                at[owner[a]] = n_active
                n_active += 1
        sizes, member = np.zeros(n_active), np.empty(n, np.int64)
        for a in range(n):
            member[a] = at[owner[a]]
            sizes[member[a]] += 1.0
        block = np.empty((n, n))
        unit = 0.0
        for a in range(n):
            i, row = free[a], Q[where[free[a]]]
            for b in range(n):
                block[a, b] = scale[owner[a], owner[b]] * row[free[b]]
            block[a, a] += extra[i]
            unit = max(unit, abs(block[a, a]))
        unit = unit if unit > 0.0 else 1.0
        factor = block / unit
        if not _factorise(factor, rules.regular):
            return SINGULAR
        _centre(right, member, sizes)
        step = right / unit
        _solve_in_place(factor, step)
        spread = np.zeros((n_active, n))
        for g in range(n_active):
            for a in range(n):
                if member[a] == g:
                    spread[g, a] = 1.0
            _solve_in_place(factor, spread[g])
        schur, beta = np.zeros((n_active, n_active)), np.zeros(n_active)
        for a in range(n):
            beta[member[a]] += step[a]
            for g in range(n_active):
                schur[member[a], g] += spread[g, a]
        if not _factorise(schur, 0.0):
            return SINGULAR
        _solve_in_place(schur, beta)
        for g in range(n_active):
            for a in range(n):
                step[a] -= beta[g] * spread[g, a]
        _centre(step, member, sizes)  # rounding must not add up in a group's sum
        length = 1.0
        for a in range(n):
            k = free[a]
            if step[a] > 0.0:
                length = min(length, (upper[k] - x[k]) / step[a])
            elif step[a] < 0.0:
                length = min(length, (lower[k] - x[k]) / step[a])
            if not abs(step[a]) < np.inf:
                return SINGULAR
        inside = 0
        change = np.empty(n)
        for a in range(n):
            k = free[a]
            target = x[k] + length * step[a]
            if step[a] > 0.0 and (upper[k] - x[k]) <= length * step[a]:
                target = upper[k]
            elif step[a] < 0.0 and (lower[k] - x[k]) >= length * step[a]:
                target = lower[k]
            change[a] = target - x[k]
        for a in range(n):
            right[a] -= dot(block[a], change)
        for a in range(n):
            k = free[a]
            x[k] += change[a]
            if change[a] > 0.0 and (upper[k] - x[k]) <= 0.0:
                x[k] = upper[k]
            if change[a] < 0.0 and (lower[k] - x[k]) >= 0.0:
                x[k] = lower[k]
            if lower[k] < x[k] < upper[k]:
                free[inside], owner[inside], right[inside] = k, owner[a], right[a]
                inside += 1
        if inside == n or inside == 0:
            return STEPPED
        n = inside
        right = right[:n].copy()
    return STEPPED


@compiled()
def tidy(boxes, totals, x, rules):  # type: ignore[no-untyped-def]
    """Put values at a bound up to rounding there; give what rounding took from a total back."""
    lower, upper, widths, starts = boxes
    for g in range(starts.size - 1):
        own = slice(starts[g], starts[g + 1])
        mass = np.abs(x[own]).sum()
        total, most, best = 0.0, -1.0, -1
        for k in range(starts[g], starts[g + 1]):
            near = rules.at_bound * min(widths[k], mass)
            if x[k] <= lower[k] + near:
                x[k] = lower[k]
            elif x[k] >= upper[k] - near:
                x[k] = upper[k]
            total += x[k]
            room = min(x[k] - lower[k], upper[k] - x[k])
            if room > most:
                most, best = room, k
        missing = totals[g] - total
        if abs(missing) > rules.balanced * mass and most > abs(missing):
            x[best] += missing


@compiled()
def fill(boxes, totals, x, rules):  # type: ignore[no-untyped-def]
    """Write the point next to zero, each group's variables moved in order to its total."""
    lower, upper, starts = boxes.lower, boxes.upper, boxes.starts
    for g in range(starts.size - 1):
        missing, mass = totals[g], abs(totals[g])
        for k in range(starts[g], starts[g + 1]):
            x[k] = max(min(upper[k], 0.0), lower[k])
            missing -= x[k]
            mass += abs(x[k])
        if abs(missing) <= 1e-12 * mass:
            continue
        for k in range(starts[g], starts[g + 1]):
            bound = upper[k] if missing > 0.0 else lower[k]
            room = abs(bound - x[k])
            if room >= abs(missing):
                x[k] += missing
                break
            x[k] = bound
            missing -= room if missing > 0.0 else -room
    tidy(boxes, totals, x, rules)


@compiled()
def last_step(matrix, boxes, linear, totals, gradient, x, tol, rules):  # type: ignore[no-untyped-def]
    """Tidy up after pairwise steps, and take the exact last step if that is within tolerance.

    ``x`` and ``gradient`` are changed in place, the gradient to one that is added up anew. Returns
    what `newton` does.
    """
    tidy(boxes, totals, x, rules)
    exact, there = x.copy(), np.empty(x.size)
    found = newton(matrix, boxes, gradient, exact, rules)
    if found == STEPPED:
        tidy(boxes, totals, exact, rules)
        write_gradient(matrix, linear, exact, boxes.starts, there)
        allowed = max(violation(boxes, gradient, x), 0.5 * tol)
        if violation(boxes, there, exact) <= allowed:
            for k in range(x.size):
                x[k], gradient[k] = exact[k], there[k]
            return found
    write_gradient(matrix, linear, x, boxes.starts, gradient)
    return found


@compiled()
def descend_kept(  # type: ignore[no-untyped-def]
    matrix, boxes, source, linear, totals, gradient, x, tol, goal, limit, begun, rules, met
):
    """Pairwise steps to ``goal`` and the last step; return their number and what `newton` said.

    Ends early when a pair has no bound, with SINGULAR, and when absent rows are in the way, with
    ABSENT: the others are then solved for, up to a share of what those violate.
    """
    where = matrix.where
    if not begun:
        write_gradient(matrix, linear, x, boxes.starts, gradient)
    complete, steps = source.values.size > 0 or where.min() >= 0, 0
    # Steps on all variables after which it is asked which of them can be left out.
    every = x.size // 2 if x.size >= SHRINK_FROM else limit
    more = 0
    while True:
        worst = violation(boxes, gradient, x)
        if worst <= goal or steps >= limit:
            break
        aim = goal if complete else max(goal, ROUGHLY * worst)
        left, near, held = limit - steps, rules.at_bound, not complete
        active, begins = np.empty(0, np.int64), boxes.starts
        if more == every:
            fixed = np.zeros(x.size, np.bool_) if complete else where < 0
            active, begins = active_variables(boxes, gradient, x, fixed)
        if 0 < active.size <= 0.75 * x.size:
            more = shrunk_steps(
                matrix, boxes, source, gradient, x, aim, left, near, met, held, active, begins
            )
        else:
            more = pairwise_steps(
                matrix, boxes, source, gradient, x, aim, min(every, left), near, met, held
            )
        steps += more
        if met[0] >= 0:
            return steps, SINGULAR
        if more == 0:
            if complete:
                break
            return steps, ABSENT
    return steps, last_step(matrix, boxes, linear, totals, gradient, x, tol, rules)
