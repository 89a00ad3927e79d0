"""Gradients of scores with respect to the scored points, as matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.kernels._kernel import Kernel

Array = NDArray[Any]

_ROWS = 512  # points per block


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
        The gradients, in float64.

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
    if kernel.name == "poly" and kernel.degree == 0:  # a constant
        return np.zeros((n, d))
    groups = np.zeros(n, np.int64) if groups is None else groups
    gradients = np.empty((n, d))
    for start in range(0, n, _ROWS):
        tile = slice(start, start + _ROWS)
        points = X[tile]
        slopes = _slopes(points, support, kernel) * weights[groups[tile]]
        pulls = slopes @ support  # sum of slope * support row
        if kernel.name == "rbf":  # the derivative of exp(-gamma |z - x|^2) pulls towards z
            dense = points.toarray() if sparse.issparse(points) else points
            pulls = pulls - slopes.sum(axis=1, keepdims=True) * dense
        gradients[tile] = pulls
    return gradients


def _slopes(points: Any, support: Any, kernel: Kernel) -> Array:
    """Return what multiplies ``z_j`` (for rbf ``z_j - x_i``) in the gradient of ``k(z_j, x_i)``."""
    if kernel.name == "rbf":
        return 2.0 * kernel.gamma * kernel.values(points, support)
    if kernel.name == "linear":
        return np.ones((points.shape[0], support.shape[0]))
    if kernel.name == "sigmoid":
        return np.asarray(kernel.gamma * (1.0 - kernel.values(points, support) ** 2))
    inner = Kernel("poly", kernel.gamma, kernel.degree - 1, kernel.coef0)
    return kernel.gamma * kernel.degree * inner.values(points, support)
