"""Kernel values in plain float64, and the size of the terms they are computed from."""

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist


def dense(X):
    """Return rows as a plain array of float64, whatever they came as."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def values(kernel, X, Z, gamma=1.0, degree=3, coef0=0.0):
    """Return kernel values, and bounds of the terms whose rounding errors they carry."""
    if callable(kernel):
        found = np.asarray(kernel(X, Z), dtype=np.float64)
        return found, np.abs(found)
    if kernel in ("rbf", "laplacian"):
        exponents = gamma * cdist(X, Z, "sqeuclidean" if kernel == "rbf" else "cityblock")
        found = np.exp(-exponents)
        return found, found * (1.0 + exponents)
    products = X @ Z.T
    reach = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Z, axis=1))
    if kernel == "linear":
        return products, reach
    inner, size = gamma * products + coef0, gamma * reach + abs(coef0)
    if kernel == "poly":
        return inner**degree, degree * size**degree
    if kernel == "sigmoid":
        found = np.tanh(inner)
        return found, np.abs(found) + size * (1.0 - found**2)
    raise ValueError(kernel)


def scale_gamma(kernel, rows, weights):
    """Return what "scale" means: ``1 / (n_features * spread of all entries)``, rows by weight."""
    share = weights / weights.sum()
    mean = float(share @ rows.mean(axis=1))
    spread = float(share @ ((rows - mean) ** 2).mean(axis=1))
    if kernel == "laplacian":
        spread = spread**0.5
    return 1.0 / (rows.shape[1] * spread) if spread > 0 else 1.0


def is_definite(kernel, coef0=0.0):
    """Say whether a kernel is positive semidefinite for certain."""
    if callable(kernel):
        return False
    return kernel in ("linear", "rbf", "laplacian") or (kernel == "poly" and coef0 >= 0)
