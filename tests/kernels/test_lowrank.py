"""Low-rank matrices against scikit-learn's features and the matrix formula."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_approximation import Nystroem

from scarce.kernels import make_kernel, nystroem_operator, weighted_scores
from tests.kernels.samples import FORMS, FORMULAS, cauchy, dense, matrix

WELL = make_kernel("rbf", gamma=2.0)


def distinct(n, form="dense", seed=0):
    """Return rows no two of which are near each other in the kernel's eyes."""
    X = np.random.default_rng(seed).normal(size=(n, 6))
    return sparse.csr_array(X) if form == "sparse" else X


def full(operator):
    everything = np.arange(operator.n)
    return operator.reference(everything, everything)


@pytest.mark.parametrize("form", FORMS)
def test_all_rows_as_landmarks_give_the_exact_matrix(form):
    X = distinct(60, form)
    operator = nystroem_operator(X, WELL, np.random.default_rng(0).permutation(60))
    np.testing.assert_allclose(full(operator), matrix(X, X, WELL), atol=1e-10)


@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("form", FORMS)
def test_the_matrix_is_that_of_scikit_learns_features(name, form):
    X = distinct(120, form)
    kernel = {
        "rbf": WELL,
        "linear": make_kernel("linear"),
        "poly": make_kernel("poly", 0.2, 2, 1.0),
    }[name]
    m = 6 if name == "linear" else 20  # the rank of the matrix, where scikit-learn is exact
    other = Nystroem(
        kernel=name,
        gamma=None if name == "linear" else kernel.gamma,
        degree=kernel.degree if name == "poly" else None,
        coef0=kernel.coef0 if name == "poly" else None,
        n_components=m,
        random_state=0,
    ).fit(dense(X))
    features = other.transform(dense(X))
    operator = nystroem_operator(X, kernel, other.component_indices_)
    expected = features @ features.T
    room = 1e-8 * np.abs(expected).max()
    np.testing.assert_allclose(full(operator), expected, rtol=0, atol=room)
    if name != "linear":
        assert np.abs(expected - matrix(X, X, kernel)).max() > 0.01  # it is an approximation


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_blocks_and_sums_are_those_of_the_matrix(form, precision):
    n, random = 700, np.random.default_rng(1)
    X = distinct(n, form)
    operator = nystroem_operator(X, WELL, np.arange(0, n, 20))
    K, room = full(operator), 2e-5 if precision is np.float32 else 1e-11
    indices = random.permutation(n)[:300]
    block = np.empty((300, 300), precision)
    operator.write_block(indices, block)
    np.testing.assert_allclose(block, K[np.ix_(indices, indices)], rtol=0, atol=room)
    weights, groups = random.normal(size=(2, 300)), random.integers(0, 2, n)
    out = np.ones(n)
    operator.accumulate(indices, weights, groups, out, precision)
    expected = 1 + np.einsum("ij,ij->i", K[:, indices], weights[groups])
    np.testing.assert_allclose(out, expected, rtol=0, atol=20 * room)


def test_rows_that_are_chosen_keep_their_landmarks():
    operator = nystroem_operator(distinct(80), WELL, np.arange(10))
    indices = np.array([70, 3, 40])
    part = operator.subset(indices)
    assert part.n == 3
    np.testing.assert_allclose(full(part), full(operator)[np.ix_(indices, indices)], atol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_diagonal_is_that_of_the_exact_matrix(name):
    X, kernel = distinct(50), FORMULAS[name]
    operator = nystroem_operator(X, kernel, np.arange(10))
    np.testing.assert_allclose(operator.diagonal(), np.diagonal(matrix(X, X, kernel)), rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_combination_of_rows_is_one_of_landmarks(form):
    n = 5000  # more than one block
    X, landmarks = distinct(n, form), np.arange(0, n, 250)
    operator = nystroem_operator(X, WELL, landmarks)
    weights = np.random.default_rng(1).normal(size=(1, n))
    combination = operator.landmark_weights(np.arange(n), weights)
    scores = weighted_scores(X, X[landmarks], combination[0], WELL)
    half = matrix(X, X[landmarks], WELL)
    inner = np.linalg.solve(matrix(X[landmarks], X[landmarks], WELL), half.T @ weights[0])
    np.testing.assert_allclose(scores, half @ inner, rtol=0, atol=1e-8)


def test_single_precision_is_on_offer_for_landmarks_that_differ():
    X, landmarks = distinct(600), np.arange(0, 600, 30)
    assert nystroem_operator(X, WELL, landmarks).precisions == (np.float32, np.float64)
    assert nystroem_operator(X[:500], WELL, np.arange(20)).precisions == (np.float64,)
    wide = nystroem_operator(X, make_kernel("rbf", gamma=1e-4), landmarks)
    assert wide.root.condition > 1e5
    assert wide.precisions == (np.float64,)


def test_condition_is_that_of_the_landmark_matrix():
    X = distinct(40)
    operator = nystroem_operator(X, WELL, np.arange(12))
    K = matrix(X[:12], X[:12], WELL)
    assert operator.root.condition == pytest.approx(np.linalg.cond(K), rel=1e-9)
    np.testing.assert_allclose(operator.inverse, np.linalg.inv(K), atol=1e-10)


def test_landmarks_given_twice_are_harmless():
    X = distinct(60)
    once = nystroem_operator(X, WELL, np.arange(10))
    twice = nystroem_operator(X, WELL, np.repeat(np.arange(10), 2))
    np.testing.assert_allclose(full(twice), full(once), atol=1e-10)


@pytest.mark.parametrize("name", ["precomputed", cauchy])
def test_kernels_without_a_formula_are_refused(name):
    with pytest.raises(ValueError, match="formula"):
        nystroem_operator(np.eye(3), make_kernel(name), np.arange(2))


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_rounding_of_sums_over_rows_of_very_different_norms_is_within_its_bound(precision):
    n, random = 900, np.random.default_rng(0)
    X = random.normal(size=(n, 3)) * np.where(np.arange(n) % 2, 1e-4, 1.0)[:, None]
    operator = nystroem_operator(X, make_kernel("linear"), np.arange(0, 12, 2))
    weights, sums = random.normal(size=(1, n)), np.zeros(n)
    operator.accumulate(np.arange(n), weights, np.zeros(n, int), sums, precision)
    exact = X.astype(np.longdouble)  # six landmarks of three columns: the matrix is the kernel's
    error = np.abs(sums - exact @ (exact.T @ weights[0]))
    assert (error <= operator.error_bound(np.abs(weights[0]), precision)).all()
    assert error.max() > 0


def test_a_very_narrow_kernel_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 2)) * 1e3
    with pytest.raises(ValueError, match="gamma=1e\\+11 is too large for"):
        nystroem_operator(X, make_kernel("rbf", gamma=1e11), np.arange(20))
