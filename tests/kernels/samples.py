"""Rows, kernels and their matrices computed by others: what the tests here compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_kernels

from scarce.kernels import Kernel, make_kernel

Array = NDArray[Any]

FORMULAS = {
    "linear": make_kernel("linear"),
    "rbf": make_kernel("rbf", gamma=0.3),
    "poly": make_kernel("poly", gamma=0.5, degree=3, coef0=0.7),
    "sigmoid": make_kernel("sigmoid", gamma=0.4, coef0=-0.2),
    "laplacian": make_kernel("laplacian", gamma=0.2),
}
FORMS = ("dense", "sparse")
PRECISIONS = (np.float32, np.float64)

# What rounding may leave of a kernel value near 1, a few units in the last place.
ROUNDING = {np.float32: 4e-6, np.float64: 1e-14}


def rows(n: int, form: str = "dense", dtype: Any = np.float64, seed: int = 0) -> Any:
    """Return rows of 6 features, a third of them nonzero; some rows are all zero."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6)) * (random.random((n, 6)) < 0.35)
    X = X.astype(dtype)
    return sparse.csr_array(X) if form == "sparse" else X


def dense(X: Any) -> Array:
    """Return rows as a dense array in float64."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def matrix(X: Any, Z: Any, kernel: Kernel) -> Array:
    """Return the kernel matrix by scikit-learn."""
    return np.asarray(
        pairwise_kernels(dense(X), dense(Z), metric=kernel.name, **kernel.parameters())
    )


def rbf_matrix(X: Any, Z: Any, gamma: float) -> Array:
    """Return the RBF matrix from differences, exact even where norms are large."""
    return np.asarray(np.exp(-gamma * cdist(dense(X), dense(Z), "sqeuclidean")))


def cauchy(X: Any, Z: Any) -> Array:
    """Be a kernel that is not one of the formulas."""
    return np.asarray(1.0 / (1.0 + cdist(dense(X), dense(Z), "sqeuclidean")))
