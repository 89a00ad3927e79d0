"""Gradients of scores with respect to the scored points, as matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.kernels._kernel import Kernel
from scarce.kernels._operator import center_of
from scarce.kernels._rows import as_rows
from scarce.kernels._sums import Scored, effort
from scarce.kernels._threads import tile_runner

Array = NDArray[Any]

_ROWS = 256  # points per tile


def score_gradients(
    X: Any, support: Any, weights: Array, kernel: Kernel, groups: Array | None = None
) -> Array:
    """Return the gradients of ``s(x) = sum_j weights[g, j] k(support_j, x)`` at many points.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The points.
    support : array or CSR of shape (m, d)
        Rows of the expansion, dense or sparse like `X`.
    weights : ndarray of shape (n_groups, m)
        Weights of the expansion, one line per group.
    kernel : Kernel
        Linear, rbf, poly or sigmoid.
    groups : ndarray of int of shape (n,), optional
        Whose weights each point takes; those of group 0 by default.

    Returns
    -------
    ndarray of shape (n, d)
        The gradients, in float64; the arithmetic is float32 when both sets of rows are and their
        range allows.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import Kernel, score_gradients
    >>> score_gradients(np.zeros((1, 2)), np.eye(2), np.ones((1, 2)), Kernel("linear"))
    array([[1., 1.]])
    """
    if callable(kernel.name) or kernel.name == "precomputed":
        raise ValueError(
            f"kernel {kernel.name!r} has no gradient; use linear, rbf, poly or sigmoid"
        )
    n, d = X.shape
    groups = np.zeros(n, np.int64) if groups is None else groups
    if kernel.name == "linear":
        return np.asarray(weights @ support)[groups]
    if kernel.name == "poly" and kernel.degree == 0:  # a constant
        return np.zeros((n, d))
    if not sparse.issparse(X):
        X, support = np.asarray(X), np.asarray(support)
    center = center_of(support, kernel)
    rows, columns = as_rows(X, center), as_rows(support, center)
    norms, column_norms = rows.squared_norms(), columns.squared_norms()
    largest = max(float(norms.max(initial=0.0)), float(column_norms.max(initial=0.0)))
    single = np.result_type(X.dtype, support.dtype) == np.float32
    single = single and kernel.accurate_in_single_precision(largest)
    dtype = np.float32 if single else np.float64
    inner = _inner_kernel(kernel)
    left = Scored(rows.cast(dtype), inner, norms)
    right = Scored(columns.cast(dtype), inner, column_norms)
    panel, lines = right.rows.panel(), weights.astype(dtype)
    # The rows as the panel has them: shifted to the centre, if the kernel does not notice.
    shifted = panel.T
    gradients = np.empty((n, d))

    def work(start: int, stop: int) -> None:
        slopes = np.empty((stop - start, right.n), dtype)
        left.write(start, stop, panel, right.terms, slopes)
        _turn_into_slopes(slopes, kernel)
        slopes *= lines[groups[start:stop]]
        pulls = np.asarray(slopes @ shifted)  # the sum of slope times support row
        if kernel.name == "rbf":  # the derivative of exp(-gamma |z - x|^2) pulls towards z
            points = left.rows.take(np.arange(start, stop)).panel().T
            points = points.toarray() if sparse.issparse(points) else points
            pulls = pulls - slopes.sum(axis=1, keepdims=True) * points
        gradients[start:stop] = pulls

    with tile_runner(2 * effort(left.rows, right.n)) as run:
        run(n, work, _ROWS)
    return gradients


def _inner_kernel(kernel: Kernel) -> Kernel:
    """Return the kernel whose values the slopes are made of: one degree less for a polynomial."""
    if kernel.name != "poly":
        return kernel
    return Kernel("poly", kernel.gamma, kernel.degree - 1, kernel.coef0)


def _turn_into_slopes(values: Array, kernel: Kernel) -> None:
    """Write what multiplies ``z_j`` (for rbf ``z_j - x_i``) in the gradient of ``k(z_j, x_i)``."""
    if kernel.name == "sigmoid":
        np.multiply(values, values, out=values)
        np.subtract(1.0, values, out=values)
        values *= kernel.gamma
    elif kernel.name == "rbf":
        values *= 2.0 * kernel.gamma
    else:
        values *= kernel.gamma * kernel.degree
