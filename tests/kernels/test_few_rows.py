"""Few dense rows: values and sums that need no preparation, against plain NumPy."""

import numpy as np
import pytest

from scarce import _core
from scarce.kernels import make_kernel, make_operator


def gaussian_sums(X, rows, columns, gamma, weights, groups):
    out = np.empty(rows.size)
    _core.gaussian_sums(X, rows, columns, gamma, weights, groups, out)
    return out


def plain(X, gamma):
    X = X.astype(np.longdouble)
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "d"), [(1, 3), (2, 1), (30, 4), (41, 7), (64, 16), (65, 33), (130, 5)]
)
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


@pytest.mark.parametrize("far", [0.0, 1e3, 1e7])
@pytest.mark.parametrize("gamma", [1e-12, 0.5, 40.0])
def test_error_bounds_cover_direct_values(far, gamma):
    random = np.random.default_rng(2)
    X = random.normal(size=(150, 4)) * 10.0 ** random.integers(-4, 3, size=(150, 1)) + far
    operator, K = make_operator(X, make_kernel("rbf", gamma=gamma)), plain(X, gamma)
    weights, everyone = random.normal(size=(1, 150)), np.arange(150)
    exact = (K * weights[0]).sum(axis=1)
    bound = operator.error_bound(np.abs(weights[0]), np.float64)
    groups, added, rows = np.zeros(150, np.int64), np.zeros(150), np.empty((150, 150))
    operator.accumulate(everyone, weights, groups, added, np.float64)
    operator.write_rows(everyone, rows)
    seventh = everyone[::7].copy()
    some = operator.sums(seventh, everyone, weights, groups[: seventh.size], np.float64)
    for sums in (added, rows @ weights[0]):
        assert (np.abs(sums - exact) <= bound).all()
    assert (np.abs(some - exact[::7]) <= bound[::7]).all()
    np.testing.assert_array_equal(rows, rows.T)


@pytest.mark.parametrize("d", [1, 4, 32, 33, 70])
def test_some_rows_are_those_of_the_whole(d):
    X = np.random.default_rng(d).normal(size=(100, d))
    operator, K = make_operator(X, make_kernel("rbf", gamma=0.3)), plain(X, 0.3)
    rows = np.array([99, 0, 64, 63, 7])
    out = np.empty((5, 100))
    operator.write_rows(rows, out)
    np.testing.assert_allclose(out, K[rows].astype(float), rtol=0, atol=1e-15 * (d + 8))


def test_the_two_exponentials_are_exact_in_their_whole_range():
    steps = np.concatenate([[0.0], np.logspace(-9, np.log10(26.6), 400)])  # up to exp(-708)
    X = np.append(0.0, steps)[:, None]
    exact = np.exp(-(steps.astype(np.longdouble) ** 2))
    rows = np.empty((1, X.size))
    make_operator(X, make_kernel("rbf", gamma=1.0)).write_rows(np.zeros(1, np.int64), rows)
    zero, groups = np.zeros(1, np.int64), np.zeros(steps.size, np.int64)
    sums = gaussian_sums(X, np.arange(1, X.size), zero, 1.0, np.ones((1, 1)), groups)
    # The exponent is rounded once: a relative error of the value that grows with it.
    allowed = (4 + steps**2) * np.finfo(float).eps
    assert (np.abs(rows[0, 1:] / exact - 1) <= allowed).all()
    assert (np.abs(sums / exact - 1) <= allowed).all()


def test_far_apart_and_equal_rows():
    X = np.array([[0.0], [0.0], [1e8]])
    rows, groups, weights = np.arange(3), np.zeros(3, np.int64), np.ones((1, 3))
    np.testing.assert_array_equal(
        gaussian_sums(X, rows, rows, 1.0, weights, groups), [2.0, 2.0, 1.0]
    )
    out = np.empty((3, 3))
    make_operator(X, make_kernel("rbf", gamma=1.0)).write_block(np.arange(3), out)
    assert out[0, 2] < 1e-307
    np.testing.assert_array_equal(out[:2, :2], 1.0)
