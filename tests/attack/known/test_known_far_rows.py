"""Gradients and group means of rows far from the origin, against float64 differences."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from scarce import kernels

# gamma |x|^2 from harmless to hopeless for |x|^2 + |z|^2 - 2 x'z, which is known to its last digit.
DISTANCES = [1e2, 1e4, 3e5, 1e6, 1e7]
GAMMA = 0.5


def kernel():
    """Return an RBF kernel object, of the present interface or of `make_kernel`."""
    make = getattr(kernels, "make_kernel", None) or kernels.Kernel
    return make("rbf", gamma=GAMMA)


def two_places(distance, n=40):
    """Return rows in two clusters far from each other, so that no centre is near both."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(n, 3))
    rows[n // 2 :] += distance
    rows[: n // 2] -= distance
    return rows


@pytest.mark.parametrize("distance", DISTANCES)
def test_scores(distance):
    rows, weights = two_places(distance), np.random.default_rng(1).normal(size=40)
    expected = np.exp(-GAMMA * cdist(rows, rows, "sqeuclidean")) @ weights
    found = kernels.weighted_scores(rows, rows, weights[None, :], kernel())
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(weights).sum())


@pytest.mark.parametrize("distance", DISTANCES)
def test_gradients(distance):
    rows, weights = two_places(distance), np.random.default_rng(1).normal(size=40)
    differences = rows[None, :, :] - rows[:, None, :]
    values = np.exp(-GAMMA * (differences**2).sum(axis=2))
    expected = 2.0 * GAMMA * np.einsum("j,ij,ijk->ik", weights, values, differences)
    found = kernels.score_gradients(rows, rows, weights[None, :], kernel())
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("distance", DISTANCES)
def test_group_means(distance):
    rows = two_places(distance)
    codes = np.tile(np.arange(4), 10)
    members = (codes == np.arange(4)[:, None]) / 10.0
    K = np.exp(-GAMMA * cdist(rows, rows, "sqeuclidean"))
    found = kernels.group_mean_kernel(rows, codes, kernel(), 4)
    np.testing.assert_allclose(found, members @ K @ members.T, atol=1e-7)
    found = kernels.group_mean_values(rows, codes, kernel(), 4, rows[:7])
    np.testing.assert_allclose(found, members @ K[:, :7], atol=1e-7)
