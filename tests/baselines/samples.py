"""Two related domains of two classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

Array = NDArray[Any]

GAMMA = 0.3


def two_domains(seed: int, n_source: int = 24, n_target: int = 17) -> tuple[Array, Array, Array]:
    """Return rows, labels and domains; the target is the source moved, and comes in between."""
    random = np.random.default_rng(seed)
    n = n_source + n_target
    domain = np.repeat([2, -1], [n_source, n_target])
    y = np.arange(n) % 2
    X = random.normal(size=(n, 3)) + 1.5 * y[:, None] * [1.0, 0.5, 0.0]
    X[domain < 0] += [0.8, -0.4, 1.0]
    order = random.permutation(n)
    return X[order], y[order], domain[order]


def matrix(X: Array, kernel: str) -> Array:
    """Return the kernel matrix."""
    return np.asarray(X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=GAMMA))


def assert_same(found: Array, expected: Array, share: float = 1e-4) -> None:
    """Compare decisions to a share of their range."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * np.ptp(expected))
