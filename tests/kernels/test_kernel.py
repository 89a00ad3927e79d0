"""Kernel values against scikit-learn's."""

import numpy as np
import pytest
from scipy import sparse

from scarce.kernels import SigmoidKernel, make_kernel
from tests.kernels.samples import FORMS, FORMULAS, PRECISIONS, cauchy, dense, matrix, rows


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("form", FORMS)
def test_values_are_those_of_scikit_learn(name, dtype, form):
    X, Z = rows(30, form, dtype), rows(20, form, dtype, seed=1)
    values = FORMULAS[name].values(X, Z)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, matrix(X, Z, FORMULAS[name]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", FORMULAS)
def test_dense_rows_meet_sparse_ones(name):
    X, Z = rows(30), rows(20, "sparse", seed=1)
    expected = matrix(X, Z, FORMULAS[name])
    np.testing.assert_allclose(FORMULAS[name].values(X, Z), expected, rtol=1e-12, atol=1e-14)


def test_values_of_whole_numbers_and_lists():
    X, Z = [[3, 0], [200, 7]], np.array([[3, 1], [199, 7]], dtype=np.uint8)
    expected = np.exp(-0.5 * np.array([[1.0, 196**2 + 49], [197**2 + 36, 1.0]]))
    np.testing.assert_allclose(
        make_kernel("rbf", gamma=0.5).values(X, Z), expected, rtol=1e-10, atol=1e-300
    )


@pytest.mark.parametrize("name", FORMULAS)
def test_squared_norms_give_the_diagonal(name):
    X = rows(30)
    values = FORMULAS[name].diagonal((X**2).sum(axis=1))
    np.testing.assert_allclose(values, np.diagonal(matrix(X, X, FORMULAS[name])), rtol=1e-12)


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 1.5])
def test_every_degree_of_the_diagonal_is_a_power(degree):
    norms = np.array([0.0, 0.5, 3.0])
    values = make_kernel("poly", gamma=0.5, degree=degree, coef0=1.0).diagonal(norms)
    np.testing.assert_allclose(values, (0.5 * norms + 1.0) ** degree, rtol=1e-14)


def test_squared_norms_are_left_alone():
    norms = np.array([1.0, 2.0])
    FORMULAS["poly"].diagonal(norms)
    np.testing.assert_array_equal(norms, [1.0, 2.0])


@pytest.mark.parametrize("form", FORMS)
def test_a_callable_gets_the_rows_as_given(form):
    seen = []

    def kernel(X, Z):
        seen.append((type(X), type(Z)))
        return cauchy(X, Z)

    X = rows(12, form)
    np.testing.assert_array_equal(make_kernel(kernel).values(X, X[:5]), cauchy(X, X[:5]))
    assert seen == [(type(X), type(X))]


def test_a_callable_may_return_a_sparse_matrix():
    X = rows(12, "sparse")
    values = make_kernel(lambda a, b: a @ b.T).values(X, X)
    assert not sparse.issparse(values)
    np.testing.assert_allclose(values, dense(X) @ dense(X).T, atol=1e-15)


def test_a_callable_of_the_wrong_shape_is_refused():
    wrong = make_kernel(lambda X, Z: np.ones((Z.shape[0], X.shape[0])))
    with pytest.raises(ValueError, match=r"must return an array of shape \(4, 3\), got \(3, 4\)"):
        wrong.values(np.ones((4, 2)), np.ones((3, 2)))


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"kernel must be one of .*'rbf'.* got 'gauss'"):
        make_kernel("gauss")


def test_a_precomputed_kernel_has_no_values():
    with pytest.raises(ValueError, match="precomputed"):
        make_kernel("precomputed").values(np.eye(2), np.eye(2))


def test_the_sigmoid_has_no_constant_unless_asked():
    X = np.array([[0.5, -1.0], [0.25, 2.0]])
    found = SigmoidKernel(gamma=0.3).values(X, X)
    assert found == pytest.approx(np.tanh(0.3 * X @ X.T), rel=1e-14)
