"""Detectors that a user would take instead, as scores that are higher for more normal rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

Array = NDArray[Any]
Scorer = Callable[[Array], Array]


def neighbours(k: int) -> Callable[[Array], Scorer]:
    """Return a detector by the distance to the k-th neighbour."""

    def fit(X: Array) -> Scorer:
        search = NearestNeighbors(n_neighbors=min(k, len(X))).fit(X)
        return lambda T: -search.kneighbors(T)[0][:, -1]

    return fit


def local_outlier_factor(X: Array) -> Scorer:
    """Return LOF with the neighbours that scikit-learn has by default."""
    return LocalOutlierFactor(n_neighbors=min(20, len(X) - 1), novelty=True).fit(X).score_samples


def forest(X: Array) -> Scorer:
    """Return an isolation forest."""
    return IsolationForest(random_state=0).fit(X).score_samples


def mixture(X: Array) -> Scorer:
    """Return a mixture of Gaussians, as many as BIC says, with full covariances."""
    fits = [
        GaussianMixture(k, reg_covar=1e-2, random_state=0).fit(X) for k in (1, 2, 4) if k < len(X)
    ]
    return min(fits, key=lambda model: model.bic(X)).score_samples


def ecod(X: Array) -> Scorer:
    """Return ECOD: the sum over the columns of how rare a value is at its tail."""
    columns, skewed = np.sort(X, axis=0), np.sign(((X - X.mean(axis=0)) ** 3).mean(axis=0))

    def score(T: Array) -> Array:
        n = len(X)
        low, high, tails = (np.zeros(len(T)) for _ in range(3))
        for column, values, skew in zip(columns.T, T.T, skewed, strict=True):
            left = -np.log(np.maximum(np.searchsorted(column, values, "right"), 1) / (n + 1))
            right = -np.log(np.maximum(n - np.searchsorted(column, values), 1) / (n + 1))
            low, high = low + left, high + right
            tails += left if skew < 0 else right
        return -np.max([low, high, tails], axis=0)

    return score


PEERS: dict[str, Callable[[Array], Scorer]] = {
    "1-NN": neighbours(1),
    "kNN (5)": neighbours(5),
    "kNN (20)": neighbours(20),
    "LocalOutlierFactor": local_outlier_factor,
    "IsolationForest": forest,
    "GaussianMixture": mixture,
    "ECOD": ecod,
}
