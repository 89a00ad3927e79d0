"""Scores of new rows against a fitted expansion, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels.functions._kernel import SINGLE_RANGE, Kernel
from scarce.kernels.operators._operator import direct_error, is_narrow, packed_sums
from scarce.kernels.operators._rounding import UNIT, NormBins, sum_errors
from scarce.kernels.rows._prepared import prepare_pair
from scarce.kernels.sums._sums import add_sums

FEW_VALUES = 1 << 12  # kernel values that plain means give at once
FEW_DOUBLE_DIFFERENCES = (
    1 << 22
)  # in float32, differences that double precision takes no longer for


def weighted_scores(
    X: Any, support: Any, coefficients: Array, kernel: Kernel, groups: Array | None = None
) -> Array:
    """Return ``sum_j coefficients[g_i, j] k(x_i, support_j)`` for every row.

    The arithmetic is float32 when both sets of rows are large and in float32 and their range
    allows, else float64.

    Parameters
    ----------
    X, support : array or CSR of shape (n, d) and (m, d)
        New rows and those of the expansion, both dense or both sparse.
    coefficients : ndarray of shape (m,) or (n_groups, m)
        Weights of the expansion, one row per group.
    kernel : Kernel
        The kernel; not precomputed.
    groups : ndarray of int of shape (n,), optional
        Whose weights each row takes; those of group 0 by default.

    Returns
    -------
    ndarray of shape (n,)
        The scores, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import make_kernel, weighted_scores
    >>> weighted_scores(np.eye(2), np.ones((1, 2)), np.array([3.0]), make_kernel("linear"))
    array([3., 3.])
    """
    if kernel.pairwise:
        kernel.require_formula()
    scores = np.zeros(X.shape[0])
    coefficients = np.atleast_2d(coefficients)
    groups = np.zeros(X.shape[0], np.int64) if groups is None else groups
    if coefficients.size == 0 or scores.size == 0:
        return scores
    if kernel.has_formula and scores.size * coefficients.shape[1] <= FEW_VALUES:
        # Plain values, in float64: preparing tiles would take longer.
        values = kernel.values(X, support)
        if coefficients.shape[0] == 1:
            return np.asarray(values @ coefficients[0])
        return np.asarray(np.einsum("ij,ij->i", values, coefficients[groups]))
    if is_narrow(support, kernel) and (
        _is_double(support) or _is_double(X) or scores.size * support.size <= FEW_DOUBLE_DIFFERENCES
    ):
        X, support = (np.ascontiguousarray(each, dtype=np.float64) for each in (X, support))
        return packed_sums(kernel, X, support, coefficients, groups)
    left, right = prepare_pair(kernel, X, support)
    # Sums of an explicit kernel cost next to nothing, and large weights leave float32.
    if kernel.explicit or not float(np.abs(coefficients).max()) < SINGLE_RANGE:
        left, right = left.cast(np.float64), right.cast(np.float64)
    add_sums(left, right, coefficients, groups, scores)
    return scores


def _is_double(rows: Any) -> bool:
    return bool(rows.dtype == np.float64)


def score_error(support: Any, coefficients: Array, kernel: Kernel, enough: float = 0.0) -> float:
    """Return how far rounding may move a score of `weighted_scores`, at rows like the expansion's.

    For telling rows on a boundary from others, not for proofs: the errors of an inner product are
    taken to grow with the square root of its length, as they do but in the worst case.

    ``support``: rows of the expansion. ``coefficients``: weights of the expansion. ``kernel``: a
    kernel with a formula. ``enough``: a bound from the largest entry alone is returned when it is
    at most this.
    """
    if support.shape[0] == 0:
        return 0.0
    absolute_weights = np.abs(coefficients)
    if absolute_weights.ndim > 1:
        absolute_weights = absolute_weights.max(axis=0)
    if is_narrow(support, kernel) and _is_double(support):
        each = direct_error(support.shape[1]) + UNIT * (9 + absolute_weights.size)
        return float(each * absolute_weights.sum())
    if not sparse.issparse(support):
        # Of rows centred anywhere among them.
        largest = 4.0 * support.shape[1] * float(np.abs(support).max()) ** 2
        double = support.dtype != np.float32 or kernel.explicit
        if double and not kernel.needs_differences(largest):
            side = np.zeros(1), np.array([np.sqrt(largest)])
            value = kernel.rounding(side, side, UNIT, int(np.sqrt(support.shape[1])), False)
            value = value + UNIT * (9 + absolute_weights.size) * kernel.largest_value(side, side)
            error = float(value[0] * absolute_weights.sum())
            if error <= enough:
                return error
    right = prepare_pair(kernel, support, support)[1]
    bins = NormBins(right.norms)
    single = right.rows.dtype == np.float32 and not kernel.explicit
    eps = float(np.finfo(np.float32).eps) if single else UNIT
    terms = int(np.sqrt(right.rows.longest))
    return float(
        sum_errors(kernel, bins, bins, absolute_weights, eps, terms, right.differences).max()
    )
