"""Scores of new rows against a fitted expansion, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.kernels._kernel import SINGLE_RANGE, Kernel
from scarce.kernels._operator import center_of
from scarce.kernels._rows import as_rows
from scarce.kernels._sums import Scored, add_sums
from scarce.kernels._tensors import prepared

Array = NDArray[Any]


def weighted_scores(
    X: Any, support: Any, coefficients: Array, kernel: Kernel, groups: Array | None = None
) -> Array:
    """Return ``sum_j coefficients[g_i, j] k(x_i, support_j)`` for every row.

    The arithmetic is float32 when both sets of rows are and their range allows, else float64.

    Parameters
    ----------
    X, support : array or CSR of shape (n, d) and (m, d)
        New rows and those of the expansion, both dense or both sparse.
    coefficients : ndarray of shape (m,) or (n_groups, m)
        Weights of the expansion, one line per group.
    kernel : Kernel
        The kernel; not precomputed.
    groups : ndarray of int of shape (n,), optional
        Whose weights each row takes; those of group 0 by default.

    Returns
    -------
    ndarray of shape (n,)
        The scores, in float64.
    """
    if kernel.name == "precomputed":
        kernel.require_formula()
    scores = np.zeros(X.shape[0])
    coefficients = np.atleast_2d(coefficients)
    groups = np.zeros(X.shape[0], np.int64) if groups is None else groups
    if coefficients.size == 0 or scores.size == 0:
        return scores
    if callable(kernel.name):
        support = prepared(kernel.name, support)
        for start in range(0, X.shape[0], 1024):
            tile = slice(start, start + 1024)
            values = kernel.values(X[tile], support)
            scores[tile] = np.einsum("ij,ij->i", values, coefficients[groups[tile]])
        return scores
    center = center_of(support, kernel)
    rows, columns = as_rows(X, center), as_rows(support, center)
    norms = rows.squared_norms()
    largest = max(float(norms.max()), float(columns.squared_norms().max()))
    exact = kernel if sparse.issparse(X) else kernel.without_cancellation(largest)
    if exact is not kernel:
        return weighted_scores(X, support, coefficients, exact, groups)
    single = np.result_type(X.dtype, support.dtype) == np.float32 and kernel.name != "linear"
    single = single and float(np.abs(coefficients).max()) < SINGLE_RANGE
    single = single and kernel.accurate_in_single_precision(largest)
    dtype = np.float32 if single else np.float64
    left = Scored(rows.cast(dtype), kernel, norms)
    right = Scored(columns.cast(dtype), kernel)
    add_sums(left, right, coefficients, groups, scores)
    return scores
