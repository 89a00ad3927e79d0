"""Several classes by one model for every pair of them, in LIBSVM's layout.

Pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...; a decision of a pair is positive for its
first class. A support vector of class c has a coefficient in each of the ``n_classes - 1`` pairs
that c is in: row l of `dual_coef_` holds that of the pair with class l, or l + 1 from c on.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from scarce._arrays import Array


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return all pairs of classes in LIBSVM's order."""
    return list(combinations(range(n_classes), 2))


def pair_coefficients(values: list[Array], codes: Array, n_classes: int) -> Array:
    """Return the table of coefficients, one column a sample, from those of the pairs.

    ``values``: for every pair, one value for each row of its two classes, in the order of the rows.
    """
    table = np.zeros((n_classes - 1, codes.size))
    for (first, second), value in zip(class_pairs(n_classes), values, strict=True):
        own = codes[(codes == first) | (codes == second)]
        table[second - 1, codes == first] = value[own == first]
        table[first, codes == second] = value[own == second]
    return table


def of_pair(table: Array, codes: Array, pair: tuple[int, int]) -> Array:
    """Return the values of the rows of two classes, in the order of the rows."""
    first, second = pair
    rows = (codes == first) | (codes == second)
    return np.asarray(np.where(codes[rows] == first, table[second - 1, rows], table[first, rows]))


def pair_sums(parts: Any, n_classes: int) -> Array:
    """Return what every pair adds up to.

    ``parts``: sums over the support vectors of each class with each row of coefficients.
    """
    return np.array([parts[i, j - 1] + parts[j, i] for i, j in class_pairs(n_classes)])


def class_totals(values: Array, n_classes: int) -> Array:
    """Return for each class the sum over its pairs of what is for it.

    ``values``: what each pair has for its first class; the opposite is for its second.
    """
    totals = np.zeros((values.shape[0], n_classes))
    for column, (first, second) in zip(values.T, class_pairs(n_classes), strict=True):
        totals[:, first] += column
        totals[:, second] -= column
    return totals


def most_votes(decisions: Array, n_classes: int) -> Array:
    """Return the class that wins most pairs, the first of several; zero is for the second."""
    return np.asarray(class_totals(np.where(decisions > 0, 1, -1), n_classes).argmax(axis=1))


def one_vs_rest(decisions: Array, n_classes: int) -> Array:
    """Return a decision for each class: the pairs it wins, and by less than half its confidence.

    As in scikit-learn a decision of zero is here for the pair's first class.
    """
    votes = 0.5 * (class_totals(np.where(decisions >= 0, 1, -1), n_classes) + n_classes - 1)
    sums = class_totals(decisions, n_classes)
    return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))
