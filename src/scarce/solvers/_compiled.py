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

TINY = 1e-12  # floor of a pair's curvature, as a share of its two diagonal entries
NONE = 1e-300  # floor where both are zero
LONGEST = 1e6  # growth by a step without curvature and without a bound
U = np.uint64  # as an index: none is negative, so that loops are not scalar
CHUNK = 64  # variables per partial maximum, from which the position of the largest is found


@compiled(REASSOCIATE)
def dot(a, b, n):  # type: ignore[no-untyped-def]
    """Return the sum of the products of the first numbers of two arrays."""
    total = 0.0
    for k in range(n):
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
    """Return the rows that violate of those that ``where`` calls absent, and how many do clearly.

    The one that was asked for comes first, unless it is -1, then the clearest. There are none if
    nothing violates by more than ``tol``.
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
    clear = 0
    for share in (0.5, 0.1, 0.0):
        clear = count if share == 0.0 else clear
        for k in range(n):
            if keys[k] > share * worst and k != asked:
                rows[count] = k
                keys[k] = -np.inf
                count += 1
    return rows[:count], clear


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
    gradient, row_i, row_j, delta, closed_up, closed_low, first, last, closed, tops, bottoms
):
    """Add ``delta (row_i - row_j)`` to a group's gradient; find each chunk's extremes on the way.

    ``closed_up`` is 0 where a variable may grow and ``closed`` where not, so that one subtraction
    takes the place of a branch; likewise ``closed_low``.
    """
    chunk = 0
    for start in range(first, last, CHUNK):
        top, bottom = -closed, closed
        for k in range(U(start), U(min(last, start + CHUNK))):
            value = gradient[k] + delta * (row_i[k] - row_j[k])
            gradient[k] = value
            top = larger(top, -value - closed_up[k])
            bottom = smaller(bottom, closed_low[k] - value)
        tops[chunk], bottoms[chunk] = top, bottom
        chunk += 1
    return chunk


@compiled(LOOSE)
def _best_partner(  # type: ignore[no-untyped-def]
    gradient, row_i, twice, own, own_i, top, closed_low, first, last, tiny, gains
):
    """Return the variable with the largest second-order decrease ``b * b / curvature``.

    The chunk that has it is found first, and then looked at again.
    """
    zero = top - top
    best, at = zero, first
    for start in range(first, last, CHUNK):
        most = zero
        for k in range(U(start), U(min(last, start + CHUNK))):
            b = larger(top + gradient[k] - closed_low[k], zero)
            both = own_i + own[k]
            c = larger(both - twice * row_i[k], tiny * both)
            most = larger(most, b * (b / c))  # as b * b may overflow
        if most > best:
            best, at = most, start
    most, size = zero, U(min(last, at + CHUNK) - at)
    for k in range(size):
        b = larger(top + gradient[U(at) + k] - closed_low[U(at) + k], zero)
        both = own_i + own[U(at) + k]
        c = larger(both - twice * row_i[U(at) + k], tiny * both)
        gains[k] = b * (b / c)
    for k in range(size):
        most = larger(most, gains[k])
    for k in range(size):
        if gains[k] == most:
            return at + np.int64(k)
    return at


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
def copy_row(source, i, values, where):  # type: ignore[no-untyped-def]
    """Copy a row of the source to line ``i``, with its signs, in the arithmetic of the steps."""
    row, turn, columns = source.values[source.lines[i]], source.turn, source.columns
    into, sign = values[i], turn[i]
    if columns.size == 0:
        for k in range(turn.size):
            into[k] = sign * turn[k] * row[k]
    else:
        for k in range(turn.size):
            into[k] = sign * turn[k] * row[columns[k]]
    where[i] = i


@compiled()
def pairwise_steps(  # type: ignore[no-untyped-def]
    matrix, boxes, source, gradient, x, tol, max_steps, at_bound, met, held
):
    """Second-order pairwise steps on a small problem until ``max (m - M) <= tol``.

    The gradient is kept in the arithmetic of the rows, from each group's multiplier on: nothing but
    differences within a group matters to a step, and next to the multiplier, where they matter
    most, single precision then has the most digits. A step has the curvature of the ``source``, if
    there is one.
    Within ``at_bound`` of a bound, as a share of the box and of the values just added, is at the
    bound. Without curvature a step goes to the first bound. Returns the number of steps. What ends
    a run early is told in ``met``. The first two are a pair of no curvature and no bound; if they
    hold that pair already, a long step is taken. The third is a row that neither the matrix nor the
    source has, or -1. If ``held``, variables whose rows are absent stay where they are instead.
    """
    Q, where, scale, extra, diagonal = matrix
    lower, upper, widths, starts = boxes
    exact, lines = source.values, source.lines
    n, n_groups = x.size, starts.size - 1
    real, single = Q.dtype.type, Q.itemsize == 4
    # In place of infinity, which the loose arithmetic must not meet.
    closed, wide = real(1e30 if single else 1e307), 1e29 if single else 1e306
    tiny = real(1e-7 if single else TINY)
    local, own = np.empty(n, Q.dtype), np.empty(n, Q.dtype)
    closed_up, closed_low = np.empty(n, Q.dtype), np.empty(n, Q.dtype)
    middle = np.zeros(n_groups)
    for g in range(n_groups):
        m, M = -np.inf, np.inf
        for k in range(starts[g], starts[g + 1]):
            fixed = held and where[k] < 0 and (lines.size == 0 or lines[k] < 0)
            up, low = x[k] < upper[k] and not fixed, x[k] > lower[k] and not fixed
            closed_up[k], closed_low[k] = 0.0 if up else closed, 0.0 if low else closed
            own[k] = max(diagonal[k], NONE)
            if up and -gradient[k] > m:
                m = -gradient[k]
            if low and -gradient[k] < M:
                M = -gradient[k]
        if m > -np.inf and M < np.inf:
            middle[g] = 0.5 * (m + M)
        for k in range(starts[g], starts[g + 1]):
            local[k] = gradient[k] + middle[g]
            if not abs(local[k]) < 0.1 * wide:
                max_steps = 0  # nothing is open that this arithmetic could tell from closed
    n_chunks = n // CHUNK + 1
    tops, bottoms = np.empty((n_groups, n_chunks), Q.dtype), np.empty((n_groups, n_chunks), Q.dtype)
    counts, gains = np.empty(n_groups, np.int64), np.empty(CHUNK, Q.dtype)
    met[2] = -1
    i, j, delta, group, step = 0, 0, 0.0, 0, 0  # the first scan changes nothing
    row_i = row_j = np.zeros(n, Q.dtype)  # no row of Q, which may hold NaN where none is kept yet
    while True:
        if delta != 0.0:
            local[i] += delta * extra[i]
            local[j] -= delta * extra[j]
        best_gap, top = tol, real(0.0)
        last_group, group = group, -1
        for g in range(n_groups):
            counts[g] = _update_and_scan(
                local,
                row_i,
                row_j,
                real(delta * scale[last_group, g]),
                closed_up,
                closed_low,
                starts[g],
                starts[g + 1],
                closed,
                tops[g],
                bottoms[g],
            )
            m, M = -closed, closed
            for c in range(counts[g]):
                m = max(m, tops[g, c])
                M = min(M, bottoms[g, c])
            if m > -wide and M < wide and m - M > best_gap:
                best_gap, group, top = m - M, g, m
        if group < 0 or step == max_steps:
            break
        first, last = starts[group], starts[group + 1]
        i = first
        for c in range(counts[group]):
            if tops[group, c] == top:
                i = first + c * CHUNK
                break
        for k in range(i, min(last, i + CHUNK)):
            if -local[k] - closed_up[k] == top:
                i = k
                break
        if where[i] < 0:
            if lines.size == 0 or lines[i] < 0:
                met[2] = i
                break
            copy_row(source, i, Q, where)
        row_i = Q[where[i]]
        twice = 2.0 * scale[group, group]
        j = _best_partner(
            local, row_i, real(twice), own, own[i], top, closed_low, first, last, tiny, gains
        )
        if where[j] < 0:
            if lines.size == 0 or lines[j] < 0:
                met[2] = j
                break
            copy_row(source, j, Q, where)
        row_j = Q[where[j]]
        value = np.float64(row_i[j])
        if exact.size > 0:
            column = j if source.columns.size == 0 else source.columns[j]
            value = source.turn[i] * source.turn[j] * exact[lines[i], column]
        both = diagonal[i] + diagonal[j]
        least = max(TINY * both, NONE)
        curvature = max(both - twice * value, least)
        delta = (np.float64(top) + local[j]) / curvature
        if not 0.0 < delta < np.inf:  # of rows beyond the range of their arithmetic
            break
        room_i, room_j = upper[i] - x[i], x[j] - lower[j]
        if curvature <= least and room_i == np.inf and room_j == np.inf:
            if met[0] != i or met[1] != j:
                met[0], met[1] = i, j
                break
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
            closed_up[k] = 0.0 if x[k] < upper[k] else closed
            closed_low[k] = 0.0 if x[k] > lower[k] else closed
        step += 1
    for g in range(n_groups):
        for k in range(starts[g], starts[g + 1]):
            gradient[k] = local[k] - middle[g]
    return step
