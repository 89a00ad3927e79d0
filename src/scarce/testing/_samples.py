"""Data of any size for every kind of model; three columns each."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array

Data = tuple[Array, Array | None]


def one_sample(n: int) -> Data:
    """Return a cloud that lies clear of the origin, with a few rows far away."""
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 3)) * [1.0, 2.0, 0.5] + 4.0
    X[: n // 20] += random.uniform(4.0, 8.0, size=(n // 20, 3))
    return X, None


def two_classes(n: int) -> Data:
    """Return two classes of equal size that overlap a little."""
    random = np.random.default_rng(n)
    y = np.arange(n) % 2
    X = random.normal(size=(n, 3)) + 2.0 * y[:, None]
    return X, y


def smooth_values(n: int) -> Data:
    """Return rows and values of a smooth function, with noise."""
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.2 * random.normal(size=n)


def positive_and_unlabelled(n: int) -> Data:
    """Return a class of which half is labelled, the other half unlabelled among other rows."""
    random = np.random.default_rng(n)
    of_class = np.arange(n) % 3 == 0
    y = (of_class & (np.arange(n) % 2 == 0)).astype(int)
    X = 0.7 * random.normal(size=(n, 3)) + np.where(of_class, 5.0, 1.5)[:, None]
    return X, y
