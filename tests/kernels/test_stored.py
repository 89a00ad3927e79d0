"""Subsets of a stored kernel matrix are those of the operator it came from."""

import numpy as np
import pytest

from scarce.kernels import StoredOperator, make_kernel, make_operator


@pytest.mark.parametrize("name", ["rbf", "poly", "laplacian"])
def test_subsets(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + 100.0
    base = make_operator(X, make_kernel(name, gamma=0.3))
    rows = np.array([3, 30, 4, 11, 5])
    stored, plain = StoredOperator.of(base).subset(rows), base.subset(rows)
    assert (stored.n, stored.name, stored.definite) == (5, plain.name, plain.definite)
    everyone = np.arange(5)
    expected = base.reference(rows, rows)
    np.testing.assert_array_equal(stored.reference(everyone, everyone), expected)
    np.testing.assert_allclose(stored.diagonal(), plain.diagonal())
    some = np.array([4, 1, 2])
    block = np.empty((3, 3))
    stored.write_block(some, block)
    np.testing.assert_allclose(block, expected[np.ix_(some, some)], rtol=1e-9)
    # Two groups with weights of their own.
    weights, groups, sums = rng.normal(size=(2, 3)), np.array([0, 1, 1, 0, 1]), np.ones(5)
    stored.accumulate(some, weights, groups, sums, np.float64)
    by_hand = 1.0 + (expected[:, some] * weights[groups]).sum(axis=1)
    np.testing.assert_allclose(sums, by_hand, rtol=1e-9)
    absolute_weights = np.bincount(some, np.abs(weights).max(axis=0), minlength=5)
    error = stored.error_bound(absolute_weights, np.float64)
    assert (np.abs(sums - by_hand) <= error + 1e-14 * np.abs(by_hand)).all()
