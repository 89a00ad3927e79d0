"""Small problems with everything in them, and their primals in explicit features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from tests.oracles import proportions
from tests.oracles.convex import feature_map

GAMMA = 0.3


def calibrated(share, size, epsilon):
    """Wanted scores and tubes as the contract states them, written anew."""
    kappa = [max(1e-3, min(1 / (2 * s), 0.25)) for s in size]
    q = np.array([min(max(p, k), 1 - k) for p, k in zip(share, kappa, strict=True)])
    return np.log(q / (1 - q)), epsilon / (q * (1 - q))


def gram(X, Z, kernel):
    """Kernel values, by differences."""
    if kernel == "linear":
        return X @ Z.T
    return np.exp(-GAMMA * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


@dataclass
class Problem:
    """Rows, ids and shares, a source, and what the generic solver needs of them."""

    X: Any
    y: Any
    groups: Any
    source: Any
    kernel: str
    common: Any  # features of the common rows
    means: Any  # features of the groups' means
    weights: Any  # features of the source
    offset: float
    share: Any
    size: Any
    shown: Any  # new rows
    shown_features: Any

    def settings(self):
        return {"kernel": self.kernel, "gamma": GAMMA}

    def primal(self, costs, transfer, epsilon):
        wanted, tube = calibrated(self.share, self.size, epsilon)
        return proportions.transfer_group_probability(
            self.common, self.means, (self.weights, self.offset), wanted, tube, costs, transfer
        )

    def absolute_primal(self, cost, epsilon):
        wanted, tube = calibrated(self.share, self.size, epsilon)
        return proportions.inverse_calibration_svm(self.means, wanted, tube, cost)


def problem(kernel, n_common, sizes=(4, 3, 5, 1, 4, 2, 6), seed=0):
    """Make a problem of unequal groups, rows in any order."""
    rng = np.random.default_rng(seed)
    source_X = rng.normal(size=(30, 3))
    source_y = (source_X[:, 0] + 0.3 * rng.normal(size=30) > 0).astype(int)
    machine = SVC(kernel=kernel, gamma=GAMMA, C=1.0).fit(source_X, source_y)
    ids = np.repeat(np.arange(len(sizes)) + 10, sizes)
    n = ids.size + n_common
    groups = np.concatenate([np.full(n_common, -1), ids])[rng.permutation(n)]
    X = rng.normal(size=(n, 3))
    positive = X[:, 0] + 0.5 * X[:, 1] > 0.2
    share = np.array([positive[groups == g].mean() for g in np.unique(ids)])
    y = np.array([np.nan if g == -1 else share[g - 10] for g in groups])
    shown = rng.normal(size=(20, 3))

    everything = np.vstack([X, machine.support_vectors_, shown])
    features = feature_map(gram(everything, everything, kernel))
    rows, vectors, new = np.split(features, [n, n + len(machine.support_vectors_)])
    return Problem(
        X=X,
        y=y,
        groups=groups,
        source=FrozenEstimator(machine),
        kernel=kernel,
        common=rows[groups == -1],
        means=np.array([rows[groups == g].mean(axis=0) for g in np.unique(ids)]),
        weights=machine.dual_coef_[0] @ vectors,
        offset=float(machine.intercept_[0]),
        share=share,
        size=np.array(sizes),
        shown=shown,
        shown_features=new,
    )
