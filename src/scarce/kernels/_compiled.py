"""Compiled inner loops of the kernel layer: exponentials of a tile, and weighted row sums."""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

import numpy as np

from scarce.solvers._jit import REASSOCIATE, compiled

# exp(x) = 2**k * exp(r) with r = x - k ln 2, |r| <= ln(2) / 2, and exp(r) by its Taylor polynomial.
# Adding 1.5 * 2**(mantissa bits) rounds x / ln 2 to the integer k and leaves k in the low bits of
# the sum, so that shifting those bits into the exponent field gives 2**k; every step is a vector
# instruction. ln 2 is split in two so that k ln 2 is subtracted exactly enough.


@compiled()
def exp_rows_32(tile, row_terms, column_terms, slope, powers, power_bits):  # type: ignore[no-untyped-def]
    """Replace each value of the tile by ``exp(slope * value - row term - column term)``."""
    low, magic = np.float32(-87.0), np.float32(12582912.0)
    log2e = np.float32(1.4426950408889634)
    ln2_high, ln2_low = np.float32(0.693359375), np.float32(-2.12194440e-4)
    one, half, zero = np.float32(1.0), np.float32(0.5), np.float32(0.0)
    c3, c4, c5 = np.float32(1 / 6), np.float32(1 / 24), np.float32(1 / 120)
    c6, c7 = np.float32(1 / 720), np.float32(1 / 5040)
    bias, shift = np.int32(127), np.int32(23)
    columns = tile.shape[1]
    for i in range(tile.shape[0]):
        row, term = tile[i], row_terms[i]
        for j in range(columns):
            x = min(max(slope * row[j] - term - column_terms[j], low), zero)
            v = x * log2e + magic
            k = v - magic
            r = (x - k * ln2_high) - k * ln2_low
            p = ((c7 * r + c6) * r + c5) * r + c4
            row[j] = (((p * r + c3) * r + half) * r + one) * r + one
            powers[j] = v
        for j in range(columns):
            power_bits[j] = (power_bits[j] + bias) << shift
        for j in range(columns):
            row[j] *= powers[j]


@compiled()
def exp_rows_64(tile, row_terms, column_terms, slope, powers, power_bits):  # type: ignore[no-untyped-def]
    """Do the same in double precision."""
    low, magic = -708.0, 6755399441055744.0
    log2e = 1.4426950408889634
    ln2_high, ln2_low = 0.693145751953125, 1.42860682030941723212e-6
    c3, c4, c5, c6, c7 = 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
    c8, c9, c10 = 1 / 40320, 1 / 362880, 1 / 3628800
    c11, c12, c13 = 1 / 39916800, 1 / 479001600, 1 / 6227020800
    bias, shift = np.int64(1023), np.int64(52)
    columns = tile.shape[1]
    for i in range(tile.shape[0]):
        row, term = tile[i], row_terms[i]
        for j in range(columns):
            x = min(max(slope * row[j] - term - column_terms[j], low), 0.0)
            v = x * log2e + magic
            k = v - magic
            r = (x - k * ln2_high) - k * ln2_low
            p = ((((c13 * r + c12) * r + c11) * r + c10) * r + c9) * r + c8
            p = ((((p * r + c7) * r + c6) * r + c5) * r + c4) * r + c3
            row[j] = ((p * r + 0.5) * r + 1.0) * r + 1.0
            powers[j] = v
        for j in range(columns):
            power_bits[j] = (power_bits[j] + bias) << shift
        for j in range(columns):
            row[j] *= powers[j]


@compiled(REASSOCIATE)
def weighted_row_sums(tile, weights, groups, out):  # type: ignore[no-untyped-def]
    """Add to ``out[i]`` row ``i`` of the tile times the weights of its group, in float64."""
    for i in range(tile.shape[0]):
        row, weight = tile[i], weights[groups[i]]
        total = 0.0
        for j in range(row.size):
            total += row[j] * weight[j]
        out[i] += total


@compiled()
def project_sparse(data, indices, indptr, planes, groups, out):  # type: ignore[no-untyped-def]
    """Add to ``out[i]`` the inner product of CSR row ``i`` with its group's plane, in float64."""
    for i in range(indptr.size - 1):
        plane = planes[groups[i]]
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * plane[indices[k]]
        out[i] += total


@compiled()
def sparse_squared_norms(data, indptr):  # type: ignore[no-untyped-def]
    """Return the squared norms of CSR rows in float64."""
    norms = np.zeros(indptr.size - 1)
    for i in range(norms.size):
        for k in range(indptr[i], indptr[i + 1]):
            value = np.float64(data[k])
            norms[i] += value * value
    return norms


@compiled()
def sparse_product(data, indices, indptr, z_data, z_indices, z_indptr, out):  # type: ignore[no-untyped-def]
    """Write CSR rows times a transposed CSR panel to a dense tile."""
    out[:] = 0
    for i in range(indptr.size - 1):
        row = out[i]
        for k in range(indptr[i], indptr[i + 1]):
            feature, value = indices[k], data[k]
            for j in range(z_indptr[feature], z_indptr[feature + 1]):
                row[z_indices[j]] += value * z_data[j]


@compiled()
def squared_distances(X, panel, out):  # type: ignore[no-untyped-def]
    """Write ``|x_i - z_j|^2`` for the columns ``z_j`` of a panel, from differences."""
    out[:] = 0
    for i in range(X.shape[0]):
        row = out[i]
        for k in range(X.shape[1]):
            value, others = X[i, k], panel[k]
            for j in range(row.size):
                difference = value - others[j]
                row[j] += difference * difference


@compiled()
def gather_runs(values, indices, out):  # type: ignore[no-untyped-def]
    """Write the square block of some rows and the same columns, which stand in a few runs."""
    n = indices.size
    ends, count = np.empty(n, np.int64), 0
    for j in range(1, n + 1):
        if j == n or indices[j] != indices[j - 1] + 1:
            ends[count] = j
            count += 1
    for i in range(n):
        row, start = values[indices[i]], 0
        for run in range(count):
            stop, first = ends[run], indices[start]
            out[i, start:stop] = row[first : first + stop - start]
            start = stop


@compiled()
def city_distances(X, panel, out):  # type: ignore[no-untyped-def]
    """Write ``|x_i - z_j|_1`` for the columns ``z_j`` of a panel."""
    out[:] = 0
    for i in range(X.shape[0]):
        row = out[i]
        for k in range(X.shape[1]):
            value, others = X[i, k], panel[k]
            for j in range(row.size):
                row[j] += abs(value - others[j])


@compiled()
def merged_distances(data, indices, indptr, z_data, z_indices, z_indptr, squared, out):  # type: ignore[no-untyped-def]
    """Write distances of CSR rows, whose columns are sorted, entry by entry."""
    for i in range(indptr.size - 1):
        for j in range(z_indptr.size - 1):
            a, a_end = indptr[i], indptr[i + 1]
            b, b_end = z_indptr[j], z_indptr[j + 1]
            total = 0.0
            while a < a_end or b < b_end:
                if b == b_end or (a < a_end and indices[a] < z_indices[b]):
                    difference = np.float64(data[a])
                    a += 1
                elif a == a_end or z_indices[b] < indices[a]:
                    difference = np.float64(z_data[b])
                    b += 1
                else:
                    difference = np.float64(data[a]) - np.float64(z_data[b])
                    a += 1
                    b += 1
                total += difference * difference if squared else abs(difference)
            out[i, j] = total


@compiled()
def copy_transposed(tile, out):  # type: ignore[no-untyped-def]
    """Write the transposed tile to ``out``, in small squares that stay in the nearest cache."""
    rows, columns = tile.shape
    for first in range(0, rows, 16):
        for start in range(0, columns, 16):
            for j in range(start, min(columns, start + 16)):
                for i in range(first, min(rows, first + 16)):
                    out[j, i] = tile[i, j]


@compiled()
def add_group_sums(tile, first_row, first_column, codes, weights, buffer, out):  # type: ignore[no-untyped-def]
    """Add the weighted values right of the diagonal, and half of those on it, to the groups' cells.

    Rows are sorted by group: those of one group are added up first, along the columns, and only
    their sum is sorted into the cells.
    """
    columns = tile.shape[1]
    for i in range(tile.shape[0]):
        at = first_row + i
        row, weight, diagonal = tile[i], weights[at], at - first_column
        if i == 0 or codes[at] != codes[at - 1]:
            buffer[:columns] = 0.0
        if 0 <= diagonal < columns:
            buffer[diagonal] += 0.5 * weight * row[diagonal]
        for j in range(max(0, diagonal + 1), columns):
            buffer[j] += weight * row[j]
        if i == tile.shape[0] - 1 or codes[at] != codes[at + 1]:
            sums = out[codes[at]]
            for j in range(columns):
                sums[codes[first_column + j]] += weights[first_column + j] * buffer[j]


@compiled()
def add_row_sums(tile, codes, weights, out):  # type: ignore[no-untyped-def]
    """Add every row of the tile, times its weight, to the line of its group."""
    for i in range(tile.shape[0]):
        row, weight, sums = tile[i], weights[i], out[codes[i]]
        for j in range(row.size):
            sums[j] += weight * row[j]
