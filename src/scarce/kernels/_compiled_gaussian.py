"""Compiled Gaussian values of narrow rows, from differences: no centre, no norms, no BLAS.

The rows of the right-hand side are *packed*: transposed, in blocks of `BLOCK` of them. A block
stays in the nearest cache while rows of the left-hand side go over it, two at a time.
"""

# Compiled functions take their types from the arrays they get, hence "no-untyped-def".
from __future__ import annotations

from math import factorial

import numpy as np

from scarce.solvers._compiled import dot
from scarce.solvers._jit import bits_of, compiled, larger, of_bits

BLOCK = 64  # with 32 columns a block has 16 kB
TOGETHER = 32  # rows that go over a block before the next one is read

# 2**y = 2**k * 2**f with |f| <= 1/2. Adding 1.5 * 2**52 rounds y to the integer k and leaves it in
# the low bits of the sum; shifted into the exponent field they are 2**k. 2**f is its Taylor
# polynomial, the rest of which is below 2e-16. Every step is a vector instruction.
MAGIC = 6755399441055744.0
LOWEST = -1021.0  # of y: a value below the normal range of numbers becomes its lowest
BIAS, SHIFT = np.int64(1023), np.int64(52)
_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12 = (
    np.log(2.0) ** i / factorial(i) for i in range(1, 13)
)
LOG2_E = 1.0 / np.log(2.0)

U = np.uint64  # a sum of unsigned numbers is no negative index, for which loops would be scalar


def packed_size(n, width):  # type: ignore[no-untyped-def]
    """Return how many numbers `pack` writes."""
    return -(-n // BLOCK) * BLOCK * width


@compiled()
def pack(Z, packed):  # type: ignore[no-untyped-def]
    """Write rows in blocks, each of them columns x BLOCK; zeros behind the last row."""
    n, width = Z.shape
    for first in range(0, n, BLOCK):
        for k in range(width):
            at = first * width + k * BLOCK
            for j in range(BLOCK):
                packed[at + j] = Z[first + j, k] if first + j < n else 0.0


@compiled()
def _write_squares(X, first, second, packed, start, tile):  # type: ignore[no-untyped-def]
    """Write the squared distances of two rows to those of the block that begins at ``start``."""
    width = X.shape[1]
    for j in range(U(2 * BLOCK)):
        tile[j] = 0.0
    for k in range(0, width - 3, 4):
        a, b, c, d = X[first, k], X[first, k + 1], X[first, k + 2], X[first, k + 3]
        e, f, g, h = X[second, k], X[second, k + 1], X[second, k + 2], X[second, k + 3]
        at = U(start + k * BLOCK)
        for j in range(U(BLOCK)):
            p, q = packed[at + j], packed[at + U(BLOCK) + j]
            r, s = packed[at + U(2 * BLOCK) + j], packed[at + U(3 * BLOCK) + j]
            one, two = tile[j], tile[U(BLOCK) + j]
            one = ((one + (a - p) * (a - p)) + (b - q) * (b - q)) + (c - r) * (c - r)
            two = ((two + (e - p) * (e - p)) + (f - q) * (f - q)) + (g - r) * (g - r)
            tile[j] = one + (d - s) * (d - s)
            tile[U(BLOCK) + j] = two + (h - s) * (h - s)
    for k in range(width - width % 4, width):
        a, e, at = X[first, k], X[second, k], U(start + k * BLOCK)
        for j in range(U(BLOCK)):
            p = packed[at + j]
            tile[j] += (a - p) * (a - p)
            tile[U(BLOCK) + j] += (e - p) * (e - p)


@compiled()
def _write_powers(tile, start, factor, row):  # type: ignore[no-untyped-def]
    """Write ``2 ** (factor * tile)``, from ``start`` on; no value is above 1."""
    start = U(start)
    for j in range(U(row.size)):
        y = larger(factor * tile[start + j], LOWEST)
        rounded = y + MAGIC
        f = y - (rounded - MAGIC)
        p = (((((_12 * f + _11) * f + _10) * f + _9) * f + _8) * f + _7) * f + _6
        p = (((((p * f + _5) * f + _4) * f + _3) * f + _2) * f + _1) * f + 1.0
        row[j] = p * of_bits((bits_of(rounded) + BIAS) << SHIFT)


@compiled()
def gaussian_rows(X, rows, packed, gamma, out):  # type: ignore[no-untyped-def]
    """Write ``exp(-gamma |x - z_j|^2)`` of some rows ``x`` with packed rows ``z_j``."""
    tile, factor, n = np.empty(2 * BLOCK), -gamma * LOG2_E, out.shape[1]
    for start in range(0, rows.size, TOGETHER):
        stop = min(rows.size, start + TOGETHER)
        for first in range(0, n, BLOCK):
            some = slice(first, min(n, first + BLOCK))
            for i in range(start, stop, 2):
                j = min(i + 1, stop - 1)
                _write_squares(X, rows[i], rows[j], packed, first * X.shape[1], tile)
                _write_powers(tile, 0, factor, out[i, some])
                _write_powers(tile, BLOCK, factor, out[j, some])


@compiled()
def gaussian_square(X, start, stop, packed, gamma, out):  # type: ignore[no-untyped-def]
    """Write the blocks of rows ``start:stop`` up to the diagonal, and what they are mirrored in.

    The packed rows are ``X`` itself, and ``start`` is a multiple of BLOCK.
    """
    tile, factor, n = np.empty(2 * BLOCK), -gamma * LOG2_E, X.shape[0]
    for top in range(start, stop, BLOCK):
        bottom = min(stop, top + BLOCK)
        for first in range(0, top + 1, BLOCK):
            last = min(n, first + BLOCK)
            for i in range(top, bottom, 2):
                j = min(i + 1, bottom - 1)
                _write_squares(X, i, j, packed, first * X.shape[1], tile)
                _write_powers(tile, 0, factor, out[i, first:last])
                _write_powers(tile, BLOCK, factor, out[j, first:last])
            if first < top:
                for j in range(first, last):
                    for i in range(top, bottom):
                        out[j, i] = out[i, j]


@compiled()
def gaussian_scores(X, packed, gamma, weights, groups, out):  # type: ignore[no-untyped-def]
    """Write ``sum_j weights[groups[i], j] exp(-gamma |x_i - z_j|^2)``, ``z_j`` packed rows."""
    n, m = X.shape[0], weights.shape[1]
    tile, values, factor = np.empty(2 * BLOCK), np.empty(2 * BLOCK), -gamma * LOG2_E
    for i in range(n):
        out[i] = 0.0
    for start in range(0, n, TOGETHER):
        stop = min(n, start + TOGETHER)
        for first in range(0, m, BLOCK):
            size = min(m - first, BLOCK)
            for i in range(start, stop, 2):
                j = min(i + 1, stop - 1)
                _write_squares(X, i, j, packed, first * X.shape[1], tile)
                _write_powers(tile, 0, factor, values)
                out[i] += dot(values, weights[groups[i], first:], size)
                if j > i:
                    out[j] += dot(values[BLOCK:], weights[groups[j], first:], size)
