"""Positive and unlabelled rows, and two overlapping classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce import MappingConvergence, NuSVC
from scarce.positive_unlabeled import OneClassMapper

Array = NDArray[Any]


def disc_in_a_square(
    seed: int, n_positive: int = 30, n_unlabelled: int = 120
) -> tuple[Array, Array]:
    """Return a class around the origin, part of it unlabelled, among rows spread over a square.

    A ring around the class is empty: the classes can be separated.
    """
    random = np.random.default_rng(seed)
    of_class = random.normal(size=(n_positive + n_unlabelled // 6, 2)) * 0.5
    others = random.uniform(-6, 6, size=(20 * n_unlabelled, 2))
    others = others[np.linalg.norm(others, axis=1) > 2.5]
    X = np.r_[of_class, others][: n_positive + n_unlabelled]
    y = np.r_[np.ones(n_positive, int), np.zeros(n_unlabelled, int)]
    order = random.permutation(len(y))
    return X[order], y[order]


def overlapping(seed: int, n_unlabelled: int = 200) -> tuple[Array, Array]:
    """Return a class whose surroundings are full of other rows."""
    random = np.random.default_rng(seed)
    X = np.r_[random.normal(size=(70, 2)), random.normal(size=(n_unlabelled - 30, 2)) * 3.0]
    y = np.r_[np.ones(40, int), np.zeros(n_unlabelled, int)]
    order = random.permutation(len(y))
    return X[order], y[order]


def two_gaussians(n: int, distance: float, shared: int = 0, seed: int = 0) -> tuple[Array, Array]:
    """Return two classes of n rows in the plane, some rows being in both."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(2 * n, 2))
    X[:n, 0] += distance
    X[n : n + shared] = X[:shared]
    return X, np.repeat([1, 0], n)


def of_the_paper(**parameters: Any) -> MappingConvergence:
    """Return the framework with the parts of the paper, but for the parameters given."""
    parts = {
        "mapper": OneClassMapper(),
        "classifier": NuSVC(nu=0.01),
        "keep": "support",
        "stop": None,
    }
    return MappingConvergence(**{**parts, **parameters})
