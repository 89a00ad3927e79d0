"""Compiled loops of the solver, in one place: pairwise steps on a dense block, and optimality scans.

Everything here works in the signed variables ``x = a * alpha``, in which every equality reads
``sum of x over the group = total``. ``gradient`` is the gradient in ``x``. A variable is *up* when it
may grow and *low* when it may shrink; free variables are both. With ``m = max over up of -gradient``
and ``M = min over low of -gradient`` a group is optimal when ``m <= M``.
"""

from __future__ import annotations

import numpy as np

from scarce.solvers._jit import compiled

UNBOUNDED = -1


@compiled()
def group_extremes(gradient, x, lower, upper, groups, n_groups):  # type: ignore[no-untyped-def]
    """Return ``m`` and ``M`` of every group; an empty side is minus or plus infinity."""
    m = np.full(n_groups, -np.inf)
    M = np.full(n_groups, np.inf)
    for i in range(x.size):
        g = groups[i]
        v = -gradient[i]
        if x[i] < upper[i] and v > m[g]:
            m[g] = v
        if x[i] > lower[i] and v < M[g]:
            M[g] = v
    return m, M


@compiled()
def violation_keys(gradient, x, lower, upper, groups, multipliers, keys):  # type: ignore[no-untyped-def]
    """Write how far each variable is from optimal: positive violates, negative is the slack left."""
    for i in range(x.size):
        excess = -gradient[i] - multipliers[groups[i]]
        can_grow = x[i] < upper[i]
        can_shrink = x[i] > lower[i]
        if can_grow and can_shrink:
            keys[i] = abs(excess)
        elif can_grow:
            keys[i] = excess
        elif can_shrink:
            keys[i] = -excess
        else:
            keys[i] = -np.inf


@compiled()
def _pairwise(Q, gradient, x, lower, upper, starts, tol, max_steps):  # type: ignore[no-untyped-def]
    """Second-order pairwise steps on a small dense problem until ``max (m - M) <= tol``.

    ``starts`` holds the boundaries of the groups, whose variables stand together. Returns the number
    of steps, or UNBOUNDED when a direction without curvature has no bound.
    """
    n = x.size
    tiny = 1e-12
    for step in range(max_steps):
        best_gap = tol
        i = -1
        first = last = 0
        top = 0.0
        for g in range(starts.size - 1):
            m = -np.inf
            M = np.inf
            at = -1
            for k in range(starts[g], starts[g + 1]):
                v = -gradient[k]
                if v > m and x[k] < upper[k]:
                    m = v
                    at = k
                if v < M and x[k] > lower[k]:
                    M = v
            if m - M > best_gap:
                best_gap = m - M
                i, top = at, m
                first, last = starts[g], starts[g + 1]
        if i < 0:
            return step
        # Second-order choice of the partner: the largest decrease b * b / curvature.
        row_i = Q[i]
        q_ii = float(row_i[i])
        best = -1.0
        j = -1
        curvature = tiny
        for k in range(first, last):
            if x[k] > lower[k]:
                b = top + gradient[k]
                if b > 0.0:
                    c = q_ii + Q[k, k] - 2.0 * row_i[k]
                    if c < tiny:
                        c = tiny
                    if b * b > best * c:
                        best = b * b / c
                        j = k
                        curvature = c
        delta = (top + gradient[j]) / curvature
        room_i, room_j = upper[i] - x[i], x[j] - lower[j]
        if curvature <= tiny * (1.0 + q_ii) and room_i == np.inf and room_j == np.inf:
            return UNBOUNDED
        if delta >= room_i and room_i <= room_j:
            delta = room_i
            x[i] = upper[i]
            x[j] = upper[j] if x[j] - delta > upper[j] else x[j] - delta
        elif delta >= room_j:
            delta = room_j
            x[j] = lower[j]
            x[i] += delta
        else:
            x[i] += delta
            x[j] -= delta
        row_j = Q[j]
        for k in range(n):
            gradient[k] += delta * (row_i[k] - row_j[k])
    return max_steps


@compiled()
def solve_block(Q, gradient, x, lower, upper, starts, tol, size, max_steps):  # type: ignore[no-untyped-def]
    """Solve a dense problem in place: the most violating ``size`` variables at a time, pairwise.

    Returns the number of pairwise steps, or UNBOUNDED.
    """
    n = x.size
    n_groups = starts.size - 1
    if n <= size:
        return _pairwise(Q, gradient, x, lower, upper, starts, tol, max_steps)
    groups = np.empty(n, np.int64)
    for g in range(n_groups):
        groups[starts[g] : starts[g + 1]] = g
    keys = np.empty(n)
    chosen = np.empty(size, np.int64)
    block = np.empty((size, size), Q.dtype)
    sub_starts = np.empty(n_groups + 1, np.int64)
    total = 0
    while total < max_steps:
        m, M = group_extremes(gradient, x, lower, upper, groups, n_groups)
        gap = 0.0
        for g in range(n_groups):
            gap = max(gap, m[g] - M[g])
        if gap <= tol:
            break
        middle = np.empty(n_groups)
        for g in range(n_groups):
            if np.isfinite(m[g]) and np.isfinite(M[g]):
                middle[g] = 0.5 * (m[g] + M[g])
            else:
                middle[g] = 0.0
        violation_keys(gradient, x, lower, upper, groups, middle, keys)
        threshold = np.partition(keys, n - size)[n - size]
        count = 0
        for k in range(n):  # everything above the threshold, then ties until full
            if keys[k] > threshold:
                count += 1
        ties = size - count
        count = 0
        g = 0
        sub_starts[0] = 0
        for k in range(n):
            while k >= starts[g + 1]:
                g += 1
                sub_starts[g] = count
            take = keys[k] > threshold
            if not take and ties > 0 and keys[k] == threshold:
                ties -= 1
                take = True
            if take:
                chosen[count] = k
                count += 1
        while g < n_groups:
            g += 1
            sub_starts[g] = count
        for a in range(count):
            for b in range(count):
                block[a, b] = Q[chosen[a], chosen[b]]
        sub_gradient = gradient[chosen]
        sub_x = x[chosen]
        steps = _pairwise(
            block,
            sub_gradient,
            sub_x,
            lower[chosen],
            upper[chosen],
            sub_starts,
            max(0.1 * gap, 0.5 * tol),
            min(max_steps - total, 50 * size),
        )
        if steps == UNBOUNDED:
            return UNBOUNDED
        total += max(steps, 1)
        for a in range(count):
            delta = sub_x[a] - x[chosen[a]]
            if delta != 0.0:
                row = Q[chosen[a]]
                for k in range(n):
                    gradient[k] += delta * row[k]
                x[chosen[a]] = sub_x[a]
    return total
