"""Every function of the core again, in plain NumPy, with the same arguments.

Outputs are written to and results returned as in C; what C does with a NaN is done here too where
it is promised.
"""

import itertools
import math

import numpy as np

from scarce._core import AT_BOUND, BALANCED, EXACT_STEPS, REGULAR

SINGULAR, TOO_MANY, STEPPED = -1, 0, 1
ALONE = {np.dtype(np.float32): 87.0, np.dtype(np.float64): 708.0}  # exponents that count


def sides(x, lower, upper):
    return x < upper, x > lower


def group_extremes(gradient, x, lower, upper, groups, m, M):
    up, low = sides(x, lower, upper)
    for g in range(m.size):
        m[g] = np.max(-gradient[up & (groups == g)], initial=-np.inf)
        M[g] = np.min(-gradient[low & (groups == g)], initial=np.inf)


def extreme_rows(gradient, x, lower, upper, groups, top, bottom):
    up, low = sides(x, lower, upper)
    for g in range(top.size):
        ups, lows = np.flatnonzero(up & (groups == g)), np.flatnonzero(low & (groups == g))
        top[g] = ups[np.argmin(gradient[ups])] if ups.size else -1
        bottom[g] = lows[np.argmax(gradient[lows])] if lows.size else -1


def violation_keys(gradient, x, lower, upper, groups, multipliers, keys):
    up, low = sides(x, lower, upper)
    excess = -gradient - multipliers[groups]
    keys[:] = np.where(up & low, np.abs(excess), np.where(up, excess, -excess))
    keys[~(up | low)] = -np.inf


def next_rows(where, lower, upper, starts, gradient, x, asked, tol, rows, keys):
    up, low = sides(x, lower, upper)
    found = np.full(x.size, -np.inf)
    for first, last in itertools.pairwise(starts):
        own = np.arange(first, last)
        m = np.max(-gradient[own[up[own]]], initial=-np.inf)
        M = np.min(-gradient[own[low[own]]], initial=np.inf)
        if m - M > tol:
            excess = -gradient[own] - 0.5 * (m + M)
            found[own] = np.maximum(
                np.where(up[own], excess, -np.inf), np.where(low[own], -excess, -np.inf)
            )
    found[where >= 0] = -np.inf
    worst = np.max(found, initial=0.0)
    order = [asked] if asked >= 0 else []
    for share in (0.5, 0.1, 0.0):
        clear = len(order)
        order += [k for k in range(x.size) if found[k] > share * worst and k not in order]
    rows[: len(order)] = order
    return len(order), clear


def bends_down(values, scale, extra, starts, share):
    for g, (first, last) in enumerate(itertools.pairwise(starts)):
        for i in range(first, last):
            for j in range(first, i):
                q_ii = scale[g, g] * float(values[i, i]) + extra[i]
                q_jj = scale[g, g] * float(values[j, j]) + extra[j]
                twice = 2 * scale[g, g] * float(values[i, j])
                if q_ii + q_jj - twice < -share * (abs(q_ii) + abs(q_jj) + abs(twice)):
                    return 1
    return 0


def whole_matrix(source, lines, columns, signs, scale, extra, starts):
    """Return the matrix of a program, sign_i sign_j scale_gh values_ij + extra on the diagonal."""
    n = lines.size
    groups = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    block = source[lines][:, columns if columns.size else np.arange(n)]
    return signs[:, None] * block * signs * scale[np.ix_(groups, groups)] + np.diag(extra)


def steps_on(Q, lower, upper, starts, gradient, x, tol, most):
    """Take second-order pairwise steps of one group at a time; return their number."""
    for step in range(most):
        up, low = sides(x, lower, upper)
        best, pair = tol, None
        for first, last in itertools.pairwise(starts):
            ups = first + np.flatnonzero(up[first:last])
            lows = first + np.flatnonzero(low[first:last])
            if ups.size and lows.size and gradient[lows].max() - gradient[ups].min() > best:
                best = gradient[lows].max() - gradient[ups].min()
                i = ups[np.argmin(gradient[ups])]
                b = np.maximum(gradient[lows] - gradient[i], 0.0)
                both = Q[i, i] + Q[lows, lows]
                a = np.maximum(both - 2 * Q[i, lows], 1e-12 * both)
                pair = i, lows[np.argmax(b * b / a)]
        if pair is None:
            return step
        i, j = pair
        curvature = max(Q[i, i] + Q[j, j] - 2 * Q[i, j], 1e-12 * (Q[i, i] + Q[j, j]))
        delta = min((gradient[j] - gradient[i]) / curvature, upper[i] - x[i], x[j] - lower[j])
        for k, move in ((i, delta), (j, -delta)):
            before, x[k] = abs(x[k]), x[k] + move
            near = AT_BOUND * min(upper[k] - lower[k], delta + before)
            if x[k] <= lower[k] + near:
                x[k] = lower[k]
            elif x[k] >= upper[k] - near:
                x[k] = upper[k]
        gradient += delta * (Q[:, i] - Q[:, j])
    return most


def exact_steps(
    source, lines, columns, signs, scale, extra, lower, upper, starts, gradient, x, most_free
):
    Q = whole_matrix(source, np.maximum(lines, 0), columns, signs, scale, extra, starts)
    groups = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    if np.count_nonzero((lower < x) & (x < upper)) > most_free:
        return TOO_MANY
    for _ in range(int(EXACT_STEPS)):
        free = np.flatnonzero((lower < x) & (x < upper))
        if free.size == 0:
            break
        A = Q[np.ix_(free, free)]
        E = (groups[free][:, None] == np.unique(groups[free])).astype(float)
        if np.linalg.eigvalsh(A)[0] < REGULAR * np.abs(np.diag(A)).max():
            return SINGULAR
        zero = np.zeros((E.shape[1], E.shape[1]))
        system = np.block([[A, E], [E.T, zero]])
        right = np.concatenate([-gradient[free], np.zeros(E.shape[1])])
        step = np.linalg.solve(system, right)[: free.size]
        room = np.where(step > 0, upper[free] - x[free], lower[free] - x[free])
        share = np.divide(room, step, out=np.full(free.size, np.inf), where=step != 0)
        length = min(1.0, share.min())
        hit, ends = share <= length, np.where(step > 0, upper[free], lower[free])
        moved = np.where(hit, room, length * step)
        x[free] = np.where(hit, ends, x[free] + moved)
        if length == 1.0:
            break
        gradient[free] += A @ moved
    return STEPPED


def pairwise_steps(
    values, where, scale, extra, _diagonal, lower, upper, _widths, starts, source, lines, columns,
    signs, gradient, x, tol, most, met, _held,
):  # fmt: skip
    if lines.size == 0:
        source, lines, signs = values.astype(np.float64), where, np.ones(x.size)
    Q = whole_matrix(source, lines, columns, signs, scale, extra, starts)
    met[2] = -1
    return steps_on(Q, lower, upper, starts, gradient, x, tol, most)


def violation(gradient, x, lower, upper, starts):
    """Return the largest m - M of all groups."""
    up, low = sides(x, lower, upper)
    worst = -np.inf
    for first, last in itertools.pairwise(starts):
        own = np.arange(first, last)
        m = np.max(-gradient[own[up[own]]], initial=-np.inf)
        worst = max(worst, m - np.min(-gradient[own[low[own]]], initial=np.inf))
    return worst


def follow_steps(
    source, lines, columns, signs, scale, extra, lower, upper, starts, x, at, moved, gradient, fixed
):
    Q = whole_matrix(source, np.maximum(lines, 0), columns, signs, scale, extra, starts)
    gradient += Q[:, x != at] @ (x - at)[x != at]
    moved += np.abs(x - at)
    at[:] = x
    some = np.concatenate([[0], np.cumsum(~fixed)])[starts]
    free = ~fixed
    worst = violation(gradient, x, lower, upper, starts)
    return worst, violation(gradient[free], x[free], lower[free], upper[free], some)


def tidy_point(lower, upper, widths, starts, totals, x):
    for g, (first, last) in enumerate(itertools.pairwise(starts)):
        own = slice(first, last)
        near = AT_BOUND * np.minimum(widths[own], np.abs(x[own]).sum())
        mass = np.abs(x[own]).sum()
        at_upper = x[own] >= upper[own] - near
        x[own] = np.where(
            x[own] <= lower[own] + near, lower[own], np.where(at_upper, upper[own], x[own])
        )
        missing = totals[g] - x[own].sum()
        room = np.minimum(x[own] - lower[own], upper[own] - x[own])
        if room.size and abs(missing) > BALANCED * mass and room.max() > abs(missing):
            x[first + np.argmax(room)] += missing


def first_point(lower, upper, widths, starts, totals, x):
    x[:] = np.clip(0.0, lower, upper)
    for g, (first, last) in enumerate(itertools.pairwise(starts)):
        for k in range(first, last):
            missing = totals[g] - x[first:last].sum()
            if abs(missing) > 1e-12 * (abs(totals[g]) + np.abs(x[first:last]).sum()):
                x[k] = np.clip(x[k] + missing, lower[k], upper[k])
    tidy_point(lower, upper, widths, starts, totals, x)


def solve_small(
    values, lines, columns, signs, _diagonal, extra, linear, lower, upper, widths, starts, totals,
    coupling, _codes, _errors, x, _space, field, multipliers, tol, _most, given,
):  # fmt: skip
    """Solve to much less than the tolerance; what is returned is the objective alone."""
    Q = whole_matrix(values, lines, columns, signs, coupling, extra, starts)
    if not given:
        first_point(lower, upper, widths, starts, totals, x)
    gradient = Q @ x + linear
    steps = steps_on(Q, lower, upper, starts, gradient, x, 1e-6 * tol, 100_000)
    field[:] = signs * (Q @ x - extra * x)
    for g, (first, last) in enumerate(itertools.pairwise(starts)):
        free = first + np.flatnonzero((lower < x)[first:last] & (x < upper)[first:last])
        multipliers[g] = -gradient[free].mean() if free.size else np.nan
    return steps, 0.5 * x @ Q @ x + linear @ x


def solve_active(
    square, row_of, active, last, x, field, lower, upper, linear, signs, groups, lacking,
    _value_error, error, largest, quadratic, level, tol, most, _space, multipliers, above, below,
    doubt,
):  # fmt: skip
    """Solve to much less than the tolerance; what is not known of that is 0."""
    order = np.argsort(groups[row_of], kind="stable")
    rows, starts = (
        row_of[order],
        np.searchsorted(groups[row_of][order], np.arange(lacking.size + 1)),
    )
    Q = signs[rows][:, None] * square[np.ix_(order, order)] * signs[rows]
    low, high, u = (lower - x)[rows], (upper - x)[rows], np.zeros(rows.size)
    first_point(low, high, high - low, starts, lacking, u)
    gradient = Q @ u + signs[rows] * active[order] + linear[rows]
    steps = steps_on(Q, low, high, starts, gradient, u, 1e-6 * tol, most)
    x[rows] += u
    active[order] += signs[rows] * (Q @ u)
    since = signs[row_of] * (x[row_of] - last)
    squared = since @ (active - field[row_of])
    quadratic += since @ (active + field[row_of])
    for g, own in enumerate(np.split(np.arange(rows.size), starts[1:-1])):
        free = own[(low[own] < u[own]) & (u[own] < high[own])]
        multipliers[g] = -gradient[free].mean() if free.size else np.nan
    reach = np.sqrt(squared * largest) + 2 * error
    wanted, common = -(signs * field + linear), multipliers[groups]
    doubts = ((x < upper) & (wanted + reach > common)) | ((x > lower) & (wanted - reach < common))
    doubts[row_of] = False
    found = np.flatnonzero(doubts)
    doubt[: found.size] = found
    return 0, steps, found.size, 0.5 * quadratic + linear @ x, 0.0, 0.0, reach


def gather_block(values, rows, columns, out):
    out[:] = values[np.ix_(rows, columns)]


def add_rows(values, rows, weights, out):
    out += weights @ values[rows].astype(np.float64)


def copy_transposed(tile, out):
    out[:] = tile.T


def distances(X, panel, squared, out):
    difference = X[:, :, None] - panel[None]
    out[:] = (difference**2 if squared else np.abs(difference)).sum(axis=1)


def add_group_sums(tile, first_row, first_column, codes, weights, _buffer, out):
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            row, column = first_row + i, first_column + j
            share = 1.0 if column > row else 0.5 if column == row else 0.0
            if share:
                value = share * weights[row] * weights[column] * tile[i, j]
                out[codes[row], codes[column]] += value


def add_row_sums(tile, codes, weights, out):
    np.add.at(out, codes, weights[:, None] * tile)


def weighted_row_sums(tile, weights, groups, out):
    out += np.einsum("ij,ij->i", tile.astype(np.float64), weights[groups].astype(np.float64))


def dense(data, indices, indptr, width):
    """Return CSR rows as a matrix; entries of one place are added up."""
    found = np.zeros((indptr.size - 1, width))
    for i, (first, last) in enumerate(itertools.pairwise(indptr)):
        np.add.at(found[i], indices[first:last], data[first:last])
    return found


def sparse_squared_norms(data, indptr, out):
    squares = np.concatenate([[0.0], np.cumsum(data.astype(np.float64) ** 2)])
    out[:] = squares[indptr[1:]] - squares[indptr[:-1]]


def project_sparse(data, indices, indptr, planes, groups, out):
    out += np.einsum("ij,ij->i", dense(data, indices, indptr, planes.shape[1]), planes[groups])


def sparse_product(data, indices, indptr, panel_data, panel_indices, panel_indptr, out):
    panel = dense(panel_data, panel_indices, panel_indptr, out.shape[1])
    out[:] = dense(data, indices, indptr, panel.shape[0]) @ panel


def merged_distances(data, indices, indptr, panel_data, panel_indices, panel_indptr, squared, out):
    width = int(max(indices.max(initial=-1), panel_indices.max(initial=-1))) + 1
    difference = (
        dense(data, indices, indptr, width)[:, None]
        - dense(panel_data, panel_indices, panel_indptr, width)[None]
    )
    out[:] = (difference**2 if squared else np.abs(difference)).sum(axis=2)


def add_trees(X, feature, threshold, left, right, value, roots, out):
    for i, row in enumerate(X):
        for node in roots:
            while feature[node] >= 0:
                node = left[node] if row[feature[node]] <= threshold[node] else right[node]
            out[i] += value[node]


def add_tree_shares(X, baseline, columns, *trees_and_out):
    """Shapley values by their definition, over all sets of the columns."""
    *trees, out = trees_and_out
    n_columns = out.shape[1]

    def said(taken):
        scores = np.zeros(len(X))
        add_trees(np.where(np.isin(columns, taken), X, baseline), *trees, scores)
        return scores

    for column in range(n_columns):
        rest = [each for each in range(n_columns) if each != column]
        for size in range(n_columns):
            weight = 1.0 / (n_columns * math.comb(n_columns - 1, size))
            for taken in itertools.combinations(rest, size):
                out[:, column] += weight * (said([*taken, column]) - said(taken))


def add_product_shares(rows, baseline, weights, nodes, widths, out):
    for node, width in zip(nodes, widths, strict=True):
        factors = baseline + node * (rows - baseline)
        for column in range(out.size):
            others = np.delete(factors, column, axis=1).prod(axis=1)
            out[column] += width * weights @ ((rows - baseline)[:, column] * others)


def exponentials(tile, row_terms, column_terms, slope):
    exponent = slope * tile.astype(np.float64) - row_terms[:, None] - column_terms
    least = -ALONE[tile.dtype]
    tile[:] = np.exp(np.clip(np.nan_to_num(exponent, nan=least), least, 0.0))  # NaN: far away


def pack(Z, packed):
    n, width = Z.shape
    blocks = np.zeros((-(-n // 64) * 64, width))
    blocks[:n] = Z
    used = blocks.reshape(-1, 64, width).transpose(0, 2, 1).ravel()
    packed[: used.size] = used


def unpacked(packed, n, width):
    blocks = -(-n // 64)
    return (
        packed[: blocks * 64 * width]
        .reshape(blocks, width, 64)
        .transpose(0, 2, 1)
        .reshape(-1, width)[:n]
    )


def gaussian(X, Z, gamma):
    with np.errstate(over="ignore", invalid="ignore"):
        exponent = -gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2)
        return np.exp(np.maximum(np.nan_to_num(exponent, nan=-np.inf, neginf=-1e300), -708.3964))


def gaussian_rows(X, rows, packed, gamma, out):
    out[:] = gaussian(X[rows], unpacked(packed, out.shape[1], X.shape[1]), gamma)


def gaussian_square(X, start, stop, packed, gamma, out):
    values = gaussian(X, unpacked(packed, *X.shape), gamma)
    for i in range(start, stop):
        before, end = i // 64 * 64, min(X.shape[0], (i // 64 + 1) * 64)
        out[i, :end] = values[i, :end]
        out[:before, i] = values[:before, i]


def gaussian_scores(X, packed, gamma, weights, groups, out):
    values = gaussian(X, unpacked(packed, weights.shape[1], X.shape[1]), gamma)
    out[:] = np.einsum("ij,ij->i", values, weights[groups])


def gaussian_sums(X, rows, columns, gamma, weights, groups, out):
    values = gaussian(X[rows], X[columns], gamma)
    values[values < 1e-307] = 0.0
    out[:] = np.einsum("ij,ij->i", values, weights[groups])
