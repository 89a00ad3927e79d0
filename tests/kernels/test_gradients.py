"""Gradients of scores against differences of scores."""

import numpy as np
import pytest

from scarce.kernels import make_kernel, score_gradients
from tests.kernels.samples import FORMS, FORMULAS, PRECISIONS, cauchy, dense, matrix, rows

STEP = 1e-5
SMOOTH = [name for name, kernel in FORMULAS.items() if kernel.has_gradient]


def differences(X, support, weights, kernel, groups):
    """Return central differences of the scores."""
    X, gradients = dense(X), np.empty(X.shape)
    for k in range(X.shape[1]):
        step = np.zeros(X.shape[1])
        step[k] = STEP
        rise = matrix(X + step, support, kernel) - matrix(X - step, support, kernel)
        gradients[:, k] = np.einsum("ij,ij->i", rise, weights[groups]) / (2 * STEP)
    return gradients


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_gradients_are_slopes(name, form, dtype):
    n, random = 600, np.random.default_rng(2)  # more than one block of points
    X, support = rows(n, form, dtype), rows(15, form, dtype, seed=1)
    weights, groups = random.normal(size=(3, 15)), random.integers(0, 3, n)
    found = score_gradients(X, support, weights, FORMULAS[name], groups)
    assert found.dtype == np.float64
    expected = differences(X, support, weights, FORMULAS[name], groups)
    # Sums of about fifteen terms, in the precision of the rows.
    room = {np.float32: 1e-5, np.float64: 1e-7}[dtype]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=room)
    assert np.abs(expected).max() > 0.1


@pytest.mark.parametrize("name", SMOOTH)
def test_the_first_group_is_everybodys_by_default(name):
    X, weights = rows(20), np.random.default_rng(2).normal(size=(2, 20))
    found = score_gradients(X, X, weights, FORMULAS[name])
    everybody = np.zeros(20, int)
    alone = score_gradients(X, X, weights[:1], FORMULAS[name], everybody)
    np.testing.assert_allclose(found, alone, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_every_degree(degree):
    X, support, kernel = rows(20), rows(9, seed=1), make_kernel("poly", 0.5, degree, 1.0)
    weights = np.random.default_rng(2).normal(size=(1, 9))
    expected = differences(X, support, weights, kernel, np.zeros(20, int))
    np.testing.assert_allclose(
        score_gradients(X, support, weights, kernel), expected, rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("form", FORMS)
def test_a_sum_of_no_terms_has_no_slope(name, form):
    X = rows(20, form)
    found = score_gradients(X, X[:0], np.zeros((1, 0)), FORMULAS[name])
    np.testing.assert_array_equal(found, np.zeros(X.shape))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_constant_has_no_slope():
    found = score_gradients(
        np.zeros((1, 2)), np.eye(2), np.ones((1, 2)), make_kernel("poly", degree=0)
    )
    np.testing.assert_array_equal(found, np.zeros((1, 2)))


def test_an_offset_costs_few_digits():
    X, support = rows(20), rows(9, seed=1)
    weights = np.ones((1, 9))
    near_origin = score_gradients(X, support, weights, FORMULAS["rbf"])
    far_away = score_gradients(X + 1024.0, support + 1024.0, weights, FORMULAS["rbf"])
    np.testing.assert_allclose(far_away, near_origin, atol=1e-10)


@pytest.mark.parametrize("name", ["precomputed", "laplacian", cauchy])
def test_kernels_without_a_formula_are_refused(name):
    with pytest.raises(ValueError, match="has no gradient; use linear"):
        score_gradients(np.eye(2), np.eye(2), np.ones((1, 2)), make_kernel(name))
