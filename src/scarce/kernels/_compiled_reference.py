"""Plain sums of kernel values of few rows, compiled: what certificates of small programs rest on.

Nothing here is shared with the tiles and blocks that solvers work on: one difference after the
other of the rows as they were given, and another exponential, the quotient of two polynomials.
"""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

import numpy as np

from scarce.solvers._jit import compiled, of_bits


@compiled(frozenset())
def _exponential(x):  # type: ignore[no-untyped-def]
    """Return ``exp(x)`` for ``x`` up to 0, and 0 for what is below the normal range of numbers.

    With ``k`` the integer next to ``x / ln 2`` and ``r = x - k ln 2`` it is
    ``2**k (1 + 2 r P / (Q - r P))``, where ``P`` and ``Q`` are the polynomials in ``r**2`` of the
    Cephes library: good to 3e-16.
    """
    k = np.floor(1.4426950408889634 * x + 0.5)
    r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6
    square = r * r
    p = (1.26177193074810590878e-4 * square + 3.02994407707441961300e-2) * square + 1.0
    q = (3.00198505138664455042e-6 * square + 2.52448340349684104192e-3) * square
    q = (q + 2.27265548208155028766e-1) * square + 2.0
    fraction = 1.0 + 2.0 * (r * p / (q - r * p))
    return fraction * of_bits((np.int64(k) + 1023) << 52) if x > -708.0 else 0.0


@compiled(frozenset())
def gaussian_sums(X, rows, columns, gamma, weights, groups):  # type: ignore[no-untyped-def]
    """Return ``sum_j weights[groups[i], j] exp(-gamma |x_rows[i] - x_columns[j]|^2)``."""
    sums, squares = np.zeros(rows.size), np.empty(columns.size)
    width, m = X.shape[1], columns.size
    others = np.empty((width, m))
    for j in range(m):
        for k in range(width):
            others[k, j] = X[columns[j], k]
    for i in range(rows.size):
        squares[:] = 0.0
        for k in range(0, width - 1, 2):
            one, two, first, second = X[rows[i], k], X[rows[i], k + 1], others[k], others[k + 1]
            for j in range(m):
                squares[j] += (one - first[j]) ** 2 + (two - second[j]) ** 2
        if width % 2:
            one, first = X[rows[i], width - 1], others[width - 1]
            for j in range(m):
                squares[j] += (one - first[j]) ** 2
        weight = weights[groups[i]]
        for j in range(m):
            squares[j] = weight[j] * _exponential(-gamma * squares[j])
        a = b = c = d = 0.0  # four sums, none of which waits for the others
        for j in range(0, m - 3, 4):
            a += squares[j]
            b += squares[j + 1]
            c += squares[j + 2]
            d += squares[j + 3]
        for j in range(m - m % 4, m):
            a += squares[j]
        sums[i] = (a + b) + (c + d)
    return sums
