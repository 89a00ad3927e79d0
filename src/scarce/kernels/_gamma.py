"""The kernel width that scikit-learn calls "scale", with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]

_ROWS = 8192  # rows held in float64 at a time


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
        tiles = [slice(start, start + _ROWS) for start in range(0, n, _ROWS)]
        mean = sum(float((w[t] @ X[t]).sum(dtype=np.float64)) for t in tiles) / total
        variance = sum(float((w[t] @ (X[t] - mean) ** 2).sum()) for t in tiles) / total
    # Rounding alone can leave a variance of constant data, as small as the mean's last digit squared.
    noise = (4 * np.finfo(np.float64).eps * abs(mean)) ** 2
    return 1.0 / (d * variance) if variance > noise and np.isfinite(1.0 / (d * variance)) else 1.0
