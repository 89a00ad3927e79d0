"""Compiled parts of the small route: sums over exact rows, the exact last step, tidying up.

The arguments are those of `_step_data`.
"""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

import numpy as np

from scarce.solvers._compiled import add_lines, dot, pairwise_steps
from scarce.solvers._jit import compiled

SINGULAR, TOO_MANY, STEPPED = -1, 0, 1
ROUNDED = 1e-14  # share of its terms up to which a violation is rounding


@compiled()
def follow(source, scale, extra, boxes, x, at, traffic, gradient, fixed):  # type: ignore[no-untyped-def]
    """Bring a gradient from the point ``at`` to ``x``, and return how far that is from optimal.

    Only rows of variables that have moved are taken. The latter is ``max over groups of m_g - M_g``
    of all variables, and of those that are not ``fixed``. ``traffic`` is what has moved so far.
    """
    turn, columns = source.turn, source.columns
    lower, upper, starts = boxes.lower, boxes.upper, boxes.starts
    n, n_groups = x.size, starts.size - 1
    lines, weights, sums = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for h in range(n_groups):
        count = 0
        for k in range(starts[h], starts[h + 1]):
            change = x[k] - at[k]
            if change != 0.0:
                lines[count], weights[count] = source.lines[k], turn[k] * change
                gradient[k] += extra[k] * change
                traffic[k] += abs(change)
                at[k] = x[k]
                count += 1
        if count == 0:
            continue
        for k in range(n):
            sums[k] = 0.0
        if columns.size == 0:
            add_lines(source.values, lines[:count], weights[:count], sums)
        else:
            for a in range(count):
                row, weight = source.values[lines[a]], weights[a]
                for k in range(n):
                    sums[k] += weight * row[columns[k]]
        for g in range(n_groups):
            for k in range(starts[g], starts[g + 1]):
                gradient[k] += scale[g, h] * turn[k] * sums[k]
    worst, worst_loose, total = -np.inf, -np.inf, 0.0
    for g in range(n_groups):
        m, M, loose_m, loose_M = -np.inf, np.inf, -np.inf, np.inf
        for k in range(starts[g], starts[g + 1]):
            pull = -gradient[k]
            total += abs(pull)
            if x[k] < upper[k]:
                m = max(m, pull)
                loose_m = loose_m if fixed[k] else max(loose_m, pull)
            if x[k] > lower[k]:
                M = min(M, pull)
                loose_M = loose_M if fixed[k] else min(loose_M, pull)
        worst, worst_loose = max(worst, m - M), max(worst_loose, loose_m - loose_M)
    if not total < np.inf:  # no comparison with NaN would be true
        return np.inf, np.inf
    return worst, worst_loose


@compiled()
def _factorise(A, least):  # type: ignore[no-untyped-def]
    """Replace the lower half of a matrix by its Cholesky factor; say whether it is regular."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - dot(A[i], A[j], j)) / A[j, j]
        pivot = A[i, i] - dot(A[i], A[i], i)
        if not pivot >= least:
            return False
        A[i, i] = np.sqrt(pivot)
    return True


@compiled()
def _solve_in_place(factor, b):  # type: ignore[no-untyped-def]
    n = factor.shape[0]
    for i in range(n):
        b[i] = (b[i] - dot(factor[i], b, i)) / factor[i, i]
    for i in range(n - 1, -1, -1):
        b[i] /= factor[i, i]
        for k in range(i):
            b[k] -= factor[i, k] * b[i]


@compiled()
def newton(source, scale, extra, boxes, gradient, x, rules):  # type: ignore[no-untyped-def]
    """Take Newton steps on the free variables, each to the first bound met, as `newton_steps` does.

    ``x`` and the gradient of those variables are changed in place. Returns STEPPED, TOO_MANY when
    there are more of them than the rules allow, and SINGULAR when a system is not regular: what it
    takes then is not worth compiling.
    """
    values, columns, turn = source.values, source.columns, source.turn
    lower, upper, starts, most = boxes.lower, boxes.upper, boxes.starts, rules.most_free
    free, owner, member = (
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
    )
    for _ in range(rules.most_newton):
        n, n_groups = 0, 0  # of free variables, and of groups that have any
        for g in range(starts.size - 1):
            code = n_groups
            for k in range(starts[g], starts[g + 1]):
                if lower[k] < x[k] < upper[k]:
                    if n == most:
                        return TOO_MANY
                    free[n], owner[n], member[n], n_groups = k, g, code, code + 1
                    n += 1
        if n == 0:
            return STEPPED
        # The system, twice: a factor takes the place of the lower half. Its diagonal apart.
        system, own, unit = np.empty((n, n)), np.empty(n), 0.0
        for a in range(n):
            i = free[a]
            row = values[source.lines[i]]
            for b in range(n):
                k = free[b]
                value = row[k] if columns.size == 0 else row[columns[k]]
                system[a, b] = scale[owner[a], owner[b]] * turn[i] * turn[k] * value
            own[a] = system[a, a] + extra[i]
            unit = max(unit, abs(own[a]))
        if not unit > 0.0:
            return SINGULAR
        for a in range(n):
            for b in range(a):
                system[a, b] /= unit
            system[a, a] = own[a] / unit
        if not _factorise(system, rules.regular):
            return SINGULAR
        # Its answers to the gradient and to one of every group, and by how much of the latter the
        # former is off.
        answers, schur = np.zeros((n_groups + 1, n)), np.zeros((n_groups, n_groups))
        beta, sizes, total = np.zeros(n_groups), np.zeros(n_groups), np.zeros(n_groups)
        for a in range(n):
            sizes[member[a]] += 1.0
            total[member[a]] -= gradient[free[a]] / unit
        for a in range(n):
            g = member[a]
            answers[0, a] = -gradient[free[a]] / unit - total[g] / sizes[g]
            answers[1 + g, a] = 1.0
        for g in range(n_groups + 1):
            _solve_in_place(system, answers[g])
        for a in range(n):
            beta[member[a]] += answers[0, a]
            for g in range(n_groups):
                schur[member[a], g] += answers[1 + g, a]
        if not _factorise(schur, 0.0):
            return SINGULAR
        _solve_in_place(schur, beta)
        total[:] = 0.0
        for a in range(n):
            for g in range(n_groups):
                answers[0, a] -= beta[g] * answers[1 + g, a]
            total[member[a]] += answers[0, a]
        length = 1.0
        for a in range(n):
            k = free[a]
            # Rounding must not add up in a group's sum.
            step = answers[0, a] - total[member[a]] / sizes[member[a]]
            if not abs(step) < np.inf:
                return SINGULAR
            if step > 0.0:
                length = min(length, (upper[k] - x[k]) / step)
            elif step < 0.0:
                length = min(length, (lower[k] - x[k]) / step)
            answers[0, a] = step
        for a in range(n):
            k, step = free[a], answers[0, a]
            target = x[k] + length * step
            if step > 0.0 and upper[k] - x[k] <= length * step:
                target = upper[k]
            elif step < 0.0 and lower[k] - x[k] >= length * step:
                target = lower[k]
            answers[0, a] = target - x[k]
            x[k] = target
        if length == 1.0:
            return STEPPED
        for a in range(n):
            for b in range(n):
                value = system[a, b] if b > a else (own[a] if b == a else system[b, a])
                gradient[free[a]] += value * answers[0, b]
    return STEPPED


@compiled()
def tidy(boxes, totals, x, rules):  # type: ignore[no-untyped-def]
    """Put values at a bound up to rounding there; give what rounding took from a total back."""
    lower, upper, widths, starts = boxes
    for g in range(starts.size - 1):
        mass, total, most, best = 0.0, 0.0, -1.0, -1
        for k in range(starts[g], starts[g + 1]):
            mass += abs(x[k])
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
def descend_whole(  # type: ignore[no-untyped-def]
    matrix, source, boxes, totals, x, at, traffic, gradient, tol, goal, limit, rules, met
):
    """Do what `Descent.go` does when all rows are there, in one call; return what was found, steps.

    The gradient belongs to ``at``, at first the linear term to zero. What was found is what
    `newton` says, and SINGULAR if steps on all variables in the rows' arithmetic do not get there.
    """
    scale, extra, fixed = matrix.scale, matrix.extra, np.zeros(x.size, np.bool_)
    local, before, steps, taken, most = gradient.copy(), x.copy(), 0, 0, 0
    aim, last = rules.early * goal, np.inf  # of steps, and what the last exact step left
    while True:
        seen = np.inf
        while True:
            worst, _ = follow(source, scale, extra, boxes, x, at, traffic, gradient, fixed)
            if worst <= aim:
                break
            lost = not worst < (0.5 * seen if taken < most else seen)  # steps do not see the rest
            for k in range(x.size):
                if boxes.lower[k] < x[k] < boxes.upper[k] and seen < np.inf:
                    lost = lost or not abs(local[k] - gradient[k]) <= rules.lost * seen
                local[k] = gradient[k]
            if lost or not worst < np.inf or steps >= limit or met[0] >= 0:
                return SINGULAR, steps
            most, seen = min(limit - steps, rules.most_steps * x.size), worst
            taken = pairwise_steps(
                matrix, boxes, source, local, x, aim, most, rules.at_bound, met, fixed[0]
            )
            steps += taken
        tidy(boxes, totals, x, rules)
        follow(source, scale, extra, boxes, x, at, traffic, gradient, fixed)
        before[:] = x
        found, mass = newton(source, scale, extra, boxes, gradient.copy(), x, rules), 0.0
        if found == STEPPED:
            tidy(boxes, totals, x, rules)
            worst, _ = follow(source, scale, extra, boxes, x, at, traffic, gradient, fixed)
            for k in range(x.size):
                mass += abs(x[k]) * matrix.diagonal[k]
            if worst <= max(rules.exact * goal, ROUNDED * mass):
                return STEPPED, steps
            if worst < 0.5 * last:
                # Some bounds were wrong ones: steps find others, and there is another exact step.
                aim, last = min(aim, 0.1 * worst), worst
                continue
            if worst <= goal:
                return STEPPED, steps
        if aim <= goal:
            x[:] = before
            follow(source, scale, extra, boxes, x, at, traffic, gradient, fixed)
            return min(found, TOO_MANY), steps
        aim, last = goal, 0.0
