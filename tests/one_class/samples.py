"""Samples of several tasks, and their models by a generic solver."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from tests.oracles.convex import feature_map
from tests.oracles.one_class import multitask_one_class

Array = NDArray[Any]

GAMMA = 0.3


def several_tasks(
    seed: int, sizes: tuple[int, ...] = (7, 12), n_features: int = 3, centre: float = 1.5
) -> tuple[Array, Array]:
    """Return related clouds and their domains, the target's rows first."""
    random = np.random.default_rng(seed)
    tasks = np.repeat(np.arange(len(sizes)), sizes)
    centres = centre + 0.4 * random.normal(size=(len(sizes), n_features))
    return random.normal(size=(tasks.size, n_features)) + centres[tasks], tasks - 1


def matrix(X: Array, kernel: str) -> Array:
    """Return the kernel matrix."""
    return np.asarray(X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=GAMMA))


def reference(
    X: Array, tasks: Array, new: Array, kernel: str, own: Any, costs: Any, masses: Any = None
) -> tuple[float, Array]:
    """Return the primal optimum and every task's decisions on new rows.

    ``costs`` has one value per row, and includes weights and masses.
    """
    features = feature_map(matrix(np.r_[X, new], kernel))
    primal = multitask_one_class(features[: len(X)], tasks, own, costs, masses)
    value = primal.solve()
    weight_vectors = primal.weights.value[0] + primal.weights.value[1:]
    return value, weight_vectors @ features[len(X) :].T - primal.offsets.value[:, None]


def all_decisions(model: Any, new: Array) -> Array:
    """Return every task's decisions on new rows."""
    every = [np.full(len(new), domain) for domain in model.domains_]
    return np.array([model.decision_function(new, sample_domain=each) for each in every])


def assert_same_decisions(found: Array, expected: Array) -> None:
    """Compare to the share of their range that the theory page names."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.ptp(expected))
