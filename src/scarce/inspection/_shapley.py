"""Contributions of the columns in the difference of two scores: Shapley values against a baseline.

The value of a set of columns is the score of the baseline with these columns taken from the row. A
column's contribution is the mean, over all orders of the columns, of what it adds when it is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import add_product_shares
from scarce._kernel_sum import KernelSum

MOST_NODES = 64  # of a quadrature that is exact for twice as many columns
MOST_ORDERS, FEWEST_ORDERS, STEPS = 32, 2, 2048
AT_ONCE = 1 << 22  # numbers in memory
IN_CACHE = 1 << 15  # numbers that are used again before others take their place


def additive_shares(model: KernelSum, rows: Array, baseline: Array, outputs: Array) -> Array:
    """Return the contributions for a linear kernel, where every column adds its own term."""
    weights = (model.weights @ model.dense_vectors)[outputs]
    return np.asarray(weights * (rows - baseline) + model.own * (rows**2 - baseline**2))


def separable_shares(
    model: KernelSum, rows: Array, baseline: Array, outputs: Array, members: Array
) -> tuple[Array, bool]:
    """Return contributions for a kernel that is a product over the columns, and if they are exact.

    With the factors ``k`` of a row and ``b`` of its baseline, the mean over all orders is
    ``integral_0^1 (k_j - b_j) prod_{l != j} (b_l + t (k_l - b_l)) dt`` for every term of the sum, a
    polynomial in ``t``: Gauss's rule is exact with half as many nodes as there are columns.

    ``rows``, ``baseline``: rows and what they are compared with, as the model sees them.
    ``outputs``: decision value to be explained of each row. ``members``: which column of the table
    each of the model's columns is made from: one 1 in a line.
    """
    vectors, n_columns = model.dense_vectors, members.shape[1]
    whole = members.shape[0] == n_columns and np.array_equal(members, np.eye(n_columns))
    nodes, parts = np.polynomial.legendre.leggauss(min(MOST_NODES, n_columns // 2 + 1))
    nodes, parts = (nodes + 1.0) / 2.0, parts / 2.0
    shares = np.zeros((rows.shape[0], n_columns))
    step = max(1, IN_CACHE // vectors.shape[1])

    def factors(row: Array, some: Array) -> Array:
        exponents = model.kernel.exponents(row - some)
        exponents = exponents if whole else exponents @ members
        return np.asarray(np.exp(exponents, out=exponents))

    with np.errstate(under="ignore"):
        for row, other, output, out in zip(rows, baseline, outputs, shares, strict=True):
            weights = np.ascontiguousarray(model.weights[output])
            for start in range(0, vectors.shape[0], step):
                part = slice(start, start + step)
                pair = factors(row, vectors[part]), factors(other, vectors[part])
                add_product_shares(*pair, weights[part], nodes, parts, out)
    return shares, 2 * nodes.size >= n_columns


def sampled_shares(
    score: Callable[[Any], Array],
    mix: Callable[[Array, Array], Any],
    n_rows: int,
    n_columns: int,
    outputs: Array,
) -> Array:
    """Return the mean over some orders, each with its reverse; they add up in every order.

    ``score``: scores of mixed rows, one column for each output. ``mix``: of row numbers and of a
    table, which columns are taken from the row: the mixed rows. ``outputs``: decision value to be
    explained of each row.
    """
    random = np.random.default_rng(0)  # the same question, the same answer
    n_orders = int(np.clip(STEPS // max(1, n_columns), FEWEST_ORDERS, MOST_ORDERS))
    shares = np.zeros((n_rows, n_columns))
    step = max(1, AT_ONCE // (n_columns + 1) ** 2)
    for _ in range(n_orders // 2):
        first = random.permutation(n_columns)
        for order in (first, first[::-1]):
            taken = np.zeros((n_columns + 1, n_columns), dtype=bool)
            for place, column in enumerate(order):
                taken[place + 1 :, column] = True
            for start in range(0, n_rows, step):
                part = np.arange(start, min(n_rows, start + step))
                mixed = mix(np.repeat(part, n_columns + 1), np.tile(taken, (part.size, 1)))
                scores = score(mixed).reshape(part.size, n_columns + 1, -1)
                own = np.take_along_axis(scores, outputs[part, None, None], axis=2)[:, :, 0]
                shares[np.ix_(part, order)] += np.diff(own, axis=1)
    return shares / (2 * (n_orders // 2))
