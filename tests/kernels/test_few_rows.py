"""Few dense rows: values and sums that need no preparation, against plain NumPy."""

import numpy as np
import pytest

from scarce.kernels import make_kernel, make_operator
from scarce.kernels._compiled_reference import gaussian_sums


def plain(X, gamma):
    X = X.astype(np.longdouble)
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 1), (30, 4), (41, 7), (64, 16)])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_block_and_sums(n, d, dtype, far):
    random = np.random.default_rng(n)
    X = (random.normal(size=(n, d)) + far).astype(dtype)
    operator, K = make_operator(X, make_kernel("rbf", gamma=0.7)), plain(X, 0.7)
    out = np.empty((n, n))
    operator.write_block(np.arange(n), out)
    np.testing.assert_allclose(out, K.astype(float), rtol=0, atol=1e-15 * (d + 8))
    np.testing.assert_array_equal(operator.diagonal(), np.ones(n))

    weights, groups = random.normal(size=(2, n)), np.arange(n) % 2
    sums = operator.reference_sums(np.arange(n), np.arange(n), weights, groups)
    expected = (K * weights[groups]).sum(axis=1).astype(float)
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-15 * (d + 8) * n)


def test_blocks_of_some_rows_in_any_order():
    X = np.random.default_rng(1).normal(size=(20, 3))
    operator, K = make_operator(X, make_kernel("rbf", gamma=0.5)), plain(X, 0.5)
    for rows in (np.array([3, 1, 7]), np.arange(20)[::-1]):
        out = np.empty((rows.size, rows.size))
        operator.write_block(rows, out)
        np.testing.assert_allclose(out, K[np.ix_(rows, rows)].astype(float), atol=1e-14)
        part = operator.subset(rows)
        part.write_block(np.arange(rows.size), out)
        np.testing.assert_allclose(out, K[np.ix_(rows, rows)].astype(float), atol=1e-14)


def test_error_bounds_cover_direct_values():
    X = np.random.default_rng(2).normal(size=(50, 4)) + 1e3
    operator, K = make_operator(X, make_kernel("rbf", gamma=0.5)), plain(X, 0.5)
    out = np.empty((50, 50))
    operator.write_block(np.arange(50), out)
    error = np.abs(out @ np.ones(50) - K.sum(axis=1).astype(float))
    assert (error <= operator.error_bound(np.ones(50), np.float64)).all()


def test_far_apart_and_equal_rows():
    X = np.array([[0.0], [0.0], [1e8]])
    groups, weights = np.zeros(3, np.int64), np.ones((1, 3))
    np.testing.assert_array_equal(gaussian_sums(X, X, 1.0, weights, groups), [2.0, 2.0, 1.0])
