"""The kernel width that scikit-learn calls "scale", with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]


def row_slices(X: Array) -> list[slice]:
    """Return slices of rows small enough to stay in a cache when turned into float64."""
    step = max(1, 65536 // max(1, X.shape[1]))
    return [slice(start, start + step) for start in range(0, X.shape[0], step)]


def scale_gamma(X: Any, weights: Array | None = None) -> float:
    """Return ``1 / (n_features * variance of all entries)``, rows counted by their weights.

    A row of weight 2 counts as the row given twice. Constant data give 1.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The rows.
    weights : ndarray of shape (n,), optional
        Weights, not negative.

    Returns
    -------
    float
        The value of ``gamma``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [2.0], [2.0]])
    >>> scale_gamma(X) == scale_gamma(X[:2], np.array([1.0, 2.0]))
    True
    """
    n, d = X.shape
    w = np.ones(n) if weights is None else weights
    total = float(w.sum()) * d
    if sparse.issparse(X):
        mean = float((w @ X).sum()) / total
        variance = float((w @ X.multiply(X)).sum()) / total - mean**2
    else:
        # Around a value near the mean, one pass gives both moments without cancellation.
        origin = float(np.mean(X[np.flatnonzero(w)[:64]], dtype=np.float64))
        first = second = 0.0
        for rows in row_slices(X):
            tile = np.subtract(X[rows], origin, dtype=np.float64)
            tile[w[rows] == 0] = 0.0  # however far away
            first += float(w[rows] @ tile.sum(axis=1))
            second += float(w[rows] @ np.einsum("ij,ij->i", tile, tile))
        mean = origin + first / total
        variance = second / total - (first / total) ** 2
    # Rounding alone can leave a variance of constant data: the mean's last digit, squared.
    noise = (4 * np.finfo(np.float64).eps * abs(mean)) ** 2
    return 1.0 / (d * variance) if variance > noise and np.isfinite(1.0 / (d * variance)) else 1.0
