"""Compiled loops of the solver, in one place: pairwise steps on a dense block, optimality scans.

Everything here works in the signed variables ``x = a * alpha``, in which every equality reads
``sum of x over the group = total``. ``gradient`` is the gradient in ``x``. A variable is *up* when
it may grow and *low* when it may shrink; free variables are both. With ``m = max over up of
-gradient`` and ``M = min over low of -gradient`` a group is optimal when ``m <= M``.
"""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

import numpy as np

from scarce.solvers._jit import LOOSE, REASSOCIATE, compiled, larger, smaller

CLOSED = 1e307  # stands in for infinity, which the loose arithmetic must not meet
OPEN = 1e306
TINY = 1e-12  # floor of a pair's curvature, as a share of its two diagonal entries
NONE = 1e-300  # floor where both are zero
LONGEST = 1e6  # growth by a step without curvature and without a bound
CHUNK = 64  # variables per partial maximum, from which the position of the largest is found


@compiled(REASSOCIATE)
def dot(a, b):  # type: ignore[no-untyped-def]
    """Return the sum of the products of two arrays."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


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
def extreme_rows(gradient, x, lower, upper, groups, n_groups):  # type: ignore[no-untyped-def]
    """Return the variables at which each group has its ``m`` and ``M``; -1 for an empty side."""
    top, bottom = np.full(n_groups, -1), np.full(n_groups, -1)
    for i in range(x.size):
        g = groups[i]
        if x[i] < upper[i] and (top[g] < 0 or -gradient[i] > -gradient[top[g]]):
            top[g] = i
        if x[i] > lower[i] and (bottom[g] < 0 or -gradient[i] < -gradient[bottom[g]]):
            bottom[g] = i
    return top, bottom


@compiled()
def violation_keys(gradient, x, lower, upper, groups, multipliers, keys):  # type: ignore[no-untyped-def]
    """Write how far each variable is from optimal: positive violates, negative is slack."""
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
def next_rows(where, boxes, gradient, x, asked, tol):  # type: ignore[no-untyped-def]
    """Return the rows, of those that ``where`` calls absent, that clearly violate more than tol.

    The one that was asked for comes first, unless it is -1, then the clearest.
    """
    lower, upper, starts = boxes.lower, boxes.upper, boxes.starts
    n = x.size
    keys = np.empty(n)
    worst = 0.0
    for g in range(starts.size - 1):
        m, M = -np.inf, np.inf
        for k in range(starts[g], starts[g + 1]):
            if x[k] < upper[k]:
                m = max(m, -gradient[k])
            if x[k] > lower[k]:
                M = min(M, -gradient[k])
        for k in range(starts[g], starts[g + 1]):
            keys[k] = -np.inf
            if where[k] < 0 and m - M > tol:
                if x[k] < upper[k]:
                    keys[k] = -gradient[k] - 0.5 * (m + M)
                if x[k] > lower[k]:
                    keys[k] = max(keys[k], gradient[k] + 0.5 * (m + M))
            worst = max(worst, keys[k])
    rows, count = np.empty(n, np.int64), 0
    if asked >= 0:
        rows[0], count = asked, 1
    for share in (0.5, 0.1):
        for k in range(n):
            if keys[k] > share * worst and k != asked:
                rows[count] = k
                keys[k] = -np.inf
                count += 1
    return rows[:count]


@compiled()
def gather_block(values, lines, columns, out):  # type: ignore[no-untyped-def]
    """Write the block of some lines and columns, in the precision of ``out``."""
    for i in range(lines.size):
        row, into = values[lines[i]], out[i]
        for j in range(columns.size):
            into[j] = row[columns[j]]


@compiled()
def add_lines(values, lines, weights, out):  # type: ignore[no-untyped-def]
    """Add some lines times their weights to ``out``, four at a time: it is read less often."""
    n, most = out.size, lines.size - lines.size % 4
    for j in range(0, most, 4):
        a, b, c, d = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        A, B = values[lines[j]], values[lines[j + 1]]
        C, D = values[lines[j + 2]], values[lines[j + 3]]
        for k in range(n):
            out[k] += (a * A[k] + b * B[k]) + (c * C[k] + d * D[k])
    for j in range(most, lines.size):
        a, A = weights[j], values[lines[j]]
        for k in range(n):
            out[k] += a * A[k]


@compiled(LOOSE)
def _update_and_scan(  # type: ignore[no-untyped-def]
    gradient, row_i, row_j, delta, closed_up, closed_low, tops, bottoms
):
    """Add ``delta (row_i - row_j)`` to the gradient, and find each chunk's extremes on the way.

    ``closed_up`` is 0 where a variable may grow and CLOSED where not, so that one subtraction takes
    the place of a branch; likewise ``closed_low``.
    """
    chunk = 0
    for start in range(0, gradient.size, CHUNK):
        some = slice(start, min(gradient.size, start + CHUNK))
        g, q_i, q_j = gradient[some], row_i[some], row_j[some]
        not_up, not_low = closed_up[some], closed_low[some]
        top, bottom = -CLOSED, CLOSED
        for k in range(g.size):
            value = g[k] + delta * (q_i[k] - q_j[k])
            g[k] = value
            top = larger(top, -value - not_up[k])
            bottom = smaller(bottom, not_low[k] - value)
        tops[chunk] = top
        bottoms[chunk] = bottom
        chunk += 1
    return chunk


@compiled(LOOSE)
def _partner_gains(gradient, row_i, twice, diagonal, q_ii, top, closed_low, gains):  # type: ignore[no-untyped-def]
    """Write each chunk's largest second-order decrease ``b * b / curvature``."""
    chunk = 0
    for start in range(0, gradient.size, CHUNK):
        some = slice(start, min(gradient.size, start + CHUNK))
        g, q_i, q_kk, not_low = gradient[some], row_i[some], diagonal[some], closed_low[some]
        best = 0.0
        for k in range(g.size):
            b = larger(top + g[k] - not_low[k], 0.0)
            both = q_ii + q_kk[k]
            c = larger(both - twice * q_i[k], larger(TINY * both, NONE))
            best = larger(best, b * (b / c))  # as b * b may overflow
        gains[chunk] = best
        chunk += 1


@compiled()
def bends_down(matrix, starts, share):  # type: ignore[no-untyped-def]
    """Say whether a pair of one group has a negative curvature beyond a share of its terms.

    All rows must be there, in the order of the variables.
    """
    Q, scale, extra = matrix.values, matrix.scale, matrix.extra
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            q_ii = scale[g, g] * Q[i, i] + extra[i]
            for j in range(starts[g], i):
                q_jj = scale[g, g] * Q[j, j] + extra[j]
                twice = 2.0 * scale[g, g] * Q[i, j]
                if q_ii + q_jj - twice < -share * (abs(q_ii) + abs(q_jj) + abs(twice)):
                    return True
    return False


@compiled()
def copy_row(source, i, where):  # type: ignore[no-untyped-def]
    """Copy row ``i`` of a part of a stored matrix, with its signs."""
    index, turn = source.rows, source.turn
    row, into, sign = source.values[index[i]], source.copies[i], turn[i]
    for k in range(index.size):
        into[k] = sign * turn[k] * row[index[k]]
    where[i] = i


@compiled()
def pairwise_steps(  # type: ignore[no-untyped-def]
    matrix, boxes, source, gradient, x, tol, max_steps, at_bound, met, held
):
    """Second-order pairwise steps on a small problem until ``max (m - M) <= tol``.

    Within ``at_bound`` of a bound, as a share of the box and of the values just added, is at the
    bound. Without curvature a step goes to the first bound. Returns the number of steps. What ends
    a run early is told in ``met``. The first two are a pair of no curvature and no bound; if they
    hold that pair already, a long step is taken. The third is a row that is absent, or -1: such
    rows are copied from the ``source`` if there is one. If ``held``, variables whose rows are
    absent stay where they are instead.
    """
    Q, where, scale, extra, diagonal = matrix
    lower, upper, widths, starts = boxes
    copies = source.values.size > 0
    n = x.size
    n_groups = starts.size - 1
    n_chunks = n // CHUNK + n_groups + 1
    tops, bottoms = np.empty((n_groups, n_chunks)), np.empty((n_groups, n_chunks))
    counts = np.empty(n_groups, np.int64)
    gains = np.empty(n_chunks)
    closed_up, closed_low = np.empty(n), np.empty(n)
    for k in range(n):
        fixed = held and where[k] < 0
        closed_up[k] = 0.0 if x[k] < upper[k] and not fixed else CLOSED
        closed_low[k] = 0.0 if x[k] > lower[k] and not fixed else CLOSED
    met[2] = -1
    i, j, delta, group = 0, 0, 0.0, 0  # the first scan changes nothing
    row_i = row_j = np.zeros(n, Q.dtype)  # no row of Q, which may hold NaN where none is kept yet
    for step in range(max_steps):
        if delta != 0.0:
            gradient[i] += delta * extra[i]
            gradient[j] -= delta * extra[j]
        best_gap = tol
        last_group, group = group, -1
        top = 0.0
        for g in range(n_groups):
            own = slice(starts[g], starts[g + 1])
            counts[g] = _update_and_scan(
                gradient[own],
                row_i[own],
                row_j[own],
                delta * scale[last_group, g],
                closed_up[own],
                closed_low[own],
                tops[g],
                bottoms[g],
            )
            m, M = -CLOSED, CLOSED
            for c in range(counts[g]):
                m = max(m, tops[g, c])
                M = min(M, bottoms[g, c])
            if m > -OPEN and M < OPEN and m - M > best_gap:
                best_gap, group, top = m - M, g, m
        if group < 0:
            return step
        first, last = starts[group], starts[group + 1]
        at = first
        for c in range(counts[group]):
            if tops[group, c] == top:
                at = first + c * CHUNK
                break
        i = at
        best_up = -CLOSED
        for k in range(at, min(last, at + CHUNK)):
            if -gradient[k] - closed_up[k] > best_up:
                best_up = -gradient[k] - closed_up[k]
                i = k
        if where[i] < 0:
            if not copies:
                met[2] = i
                return step
            copy_row(source, i, where)
        q_ii = diagonal[i]
        row_i = Q[where[i]]
        own = slice(first, last)
        twice = 2.0 * scale[group, group]
        _partner_gains(
            gradient[own], row_i[own], twice, diagonal[own], q_ii, top, closed_low[own], gains
        )
        best, at = 0.0, first
        for c in range(counts[group]):
            if gains[c] > best:
                best, at = gains[c], first + c * CHUNK
        j, best, curvature, least = at, -1.0, NONE, NONE
        for k in range(at, min(last, at + CHUNK)):
            b = top + gradient[k] - closed_low[k]
            both = q_ii + diagonal[k]
            floor = max(TINY * both, NONE)
            c = max(both - twice * row_i[k], floor)
            if b > 0.0 and b * (b / c) > best:
                best, j, curvature, least = b * (b / c), k, c, floor
        if where[j] < 0:
            if not copies:
                met[2] = j
                return step
            copy_row(source, j, where)
        row_j = Q[where[j]]
        delta = (top + gradient[j]) / curvature
        room_i, room_j = upper[i] - x[i], x[j] - lower[j]
        if curvature <= least and room_i == np.inf and room_j == np.inf:
            if met[0] != i or met[1] != j:
                met[0], met[1] = i, j
                return step
            delta = min(delta, LONGEST * max(1.0, max(abs(x[i]), abs(x[j]))))
        before_i, before_j = abs(x[i]), abs(x[j])
        if delta >= room_i and room_i <= room_j:
            delta = room_i
            x[i] = upper[i]
            x[j] = max(x[j] - delta, lower[j])
        elif delta >= room_j:
            delta = room_j
            x[j] = lower[j]
            x[i] = min(x[i] + delta, upper[i])
        else:
            x[i] += delta
            x[j] -= delta
        for k in (i, j):
            # Rounding is relative to the values, not to a box that may be wider by any factor.
            added = abs(delta) + (before_i if k == i else before_j)
            near = at_bound * min(widths[k], added)
            if x[k] <= lower[k] + near:
                x[k] = lower[k]
            elif x[k] >= upper[k] - near:
                x[k] = upper[k]
            closed_up[k] = 0.0 if x[k] < upper[k] else CLOSED
            closed_low[k] = 0.0 if x[k] > lower[k] else CLOSED
    if delta != 0.0:  # the last step's share of the gradient
        gradient[i] += delta * extra[i]
        gradient[j] -= delta * extra[j]
        for g in range(n_groups):
            for k in range(starts[g], starts[g + 1]):
                gradient[k] += delta * scale[group, g] * (row_i[k] - row_j[k])
    return max_steps
