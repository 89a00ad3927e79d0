"""Plain sums of kernel values of few rows, compiled: what certificates of small programs rest on.

Nothing here is shared with the tiles and blocks that solvers work on: differences of the rows as
they were given, and the C library's exponential.
"""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

from math import exp

import numpy as np

from scarce.solvers._jit import compiled


@compiled(frozenset())
def gaussian_sums(X, Z, gamma, weights, groups):  # type: ignore[no-untyped-def]
    """Return ``sum_j weights[groups[i], j] exp(-gamma |x_i - z_j|^2)`` in float64."""
    sums, squares = np.zeros(X.shape[0]), np.empty(Z.shape[0])
    others = np.ascontiguousarray(Z.T).astype(np.float64)
    for i in range(X.shape[0]):
        squares[:] = 0.0
        for k in range(X.shape[1]):
            value, column = np.float64(X[i, k]), others[k]
            for j in range(squares.size):
                difference = value - column[j]
                squares[j] += difference * difference
        for j in range(squares.size):
            sums[i] += weights[groups[i], j] * exp(-gamma * squares[j])
    return sums
