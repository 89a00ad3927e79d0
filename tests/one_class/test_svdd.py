"""Support vector data description against generic solvers and the one-class SVM."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_kernels

from scarce import SVDD, OneClassSVM
from scarce.model_selection import margin_score
from scarce.testing import one_sample


def weights_of(n, weighted):
    return np.random.default_rng(n).uniform(0.2, 3.0, n) if weighted else np.ones(n)


def ball(X, nu, weights):
    """Return optimum, centre and squared radius of the primal, by a generic solver."""
    center, square = cp.Variable(X.shape[1]), cp.Variable()
    slacks = [cp.pos(cp.sum_squares(row - center) - square) for row in X]
    cost = weights / (nu * weights.sum())
    problem = cp.Problem(cp.Minimize(square + cost @ cp.hstack(slacks)))
    return problem.solve(solver=cp.CLARABEL), center.value, float(square.value)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.33, 0.77])
def test_the_ball_of_a_generic_solver(nu, weighted):
    X, _ = one_sample(30)
    weights = weights_of(30, weighted)
    expected, center, square = ball(X, nu, weights)
    model = SVDD(kernel="linear", nu=nu, tol=1e-9).fit(X, sample_weight=weights)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], center, atol=1e-4)
    decisions = square - ((X - center) ** 2).sum(axis=1)
    room = 1e-4 * np.abs(decisions).max()
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=room)
    assert model.dual_coef_.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "rbf", "gamma": 0.1},
        {"kernel": "poly", "gamma": 0.05, "degree": 2, "coef0": 1.0},
        {"kernel": "linear"},
    ],
    ids=lambda each: each["kernel"],
)
def test_the_dual_of_a_generic_solver(parameters, weighted):
    X, _ = one_sample(40)
    weights, nu = weights_of(40, weighted), 0.3
    values = {name: value for name, value in parameters.items() if name != "kernel"}
    K = pairwise_kernels(X, metric=parameters["kernel"], **values)
    root = np.linalg.cholesky(K + 1e-12 * np.trace(K) * np.eye(40)).T
    b = cp.Variable(40, nonneg=True)
    bounds = [cp.sum(b) == 1, b <= weights / (nu * weights.sum())]
    problem = cp.Problem(cp.Maximize(np.diag(K) @ b - cp.sum_squares(root @ b)), bounds)
    expected = problem.solve(solver=cp.CLARABEL)
    model = SVDD(nu=nu, tol=1e-9, **parameters).fit(X, sample_weight=weights)
    assert model.objective_ == pytest.approx(expected, rel=1e-5)
    assert model.dual_gap_ <= 1e-6
    # The scores are what they are said to be, and the offset has the share nu below it.
    center = np.zeros(40)
    center[model.support_] = model.dual_coef_[0]
    scores = 2.0 * K @ center - np.diag(K)
    np.testing.assert_allclose(model.score_samples(X), scores, rtol=1e-9, atol=1e-9 * K.max())
    outside, inside = scores < model.offset_ - 1e-6, scores > model.offset_ + 1e-6
    assert weights[outside].sum() <= nu * weights.sum() <= weights[~inside].sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.5, 1.0])
@pytest.mark.parametrize(
    "kernel", ["rbf", lambda X, Z: np.exp(-0.3 * cdist(X, Z, "cityblock"))], ids=["rbf", "laplace"]
)
def test_with_a_shift_invariant_kernel_it_is_the_one_class_svm(kernel, nu, weighted):
    X, _ = one_sample(120)
    weights = weights_of(120, weighted)
    ours = SVDD(kernel=kernel, nu=nu).fit(X, sample_weight=weights)
    plane = OneClassSVM(kernel=kernel, nu=nu).fit(X, sample_weight=weights)
    new = np.random.default_rng(1).uniform(0.0, 12.0, size=(500, 3))
    for rows in (X, new):
        np.testing.assert_array_equal(ours.predict(rows), plane.predict(rows))
        np.testing.assert_allclose(
            ours.decision_function(rows),
            2.0 / (nu * weights.sum()) * plane.decision_function(rows),
            atol=1e-9,
        )
    np.testing.assert_array_equal(ours.support_, plane.support_)


def test_a_ball_moves_with_its_rows():
    X, _ = one_sample(60)
    here = SVDD(kernel="linear", nu=0.2, tol=1e-8).fit(X)
    there = SVDD(kernel="linear", nu=0.2, tol=1e-8).fit(X - 7.0)
    np.testing.assert_allclose(there.coef_, here.coef_ - 7.0, atol=1e-6)
    np.testing.assert_allclose(
        there.decision_function(X - 7.0), here.decision_function(X), atol=1e-5
    )


def test_the_smallest_ball_of_all_rows():
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [1.0, 1.0]])
    model = SVDD(kernel="linear", nu=0.1, tol=1e-9).fit(X)
    np.testing.assert_allclose(model.coef_, [[1.5, 2.0]], atol=1e-8)
    assert model.objective_ == pytest.approx(6.25, rel=1e-9)
    np.testing.assert_array_equal(model.predict(X), [1, 1, 1, 1])


def test_an_approximation_with_every_row_is_exact():
    X, _ = one_sample(80)
    exact = SVDD(kernel="poly", gamma=0.05, coef0=1.0, nu=0.2, tol=1e-5).fit(X)
    full = SVDD(
        kernel="poly", gamma=0.05, coef0=1.0, nu=0.2, tol=1e-5, approximation="nystroem"
    ).fit(X)
    scale = np.abs(exact.decision_function(X)).max()
    np.testing.assert_allclose(
        full.decision_function(X), exact.decision_function(X), atol=1e-4 * scale
    )


def test_a_precomputed_kernel_does_not_show_the_norms_of_new_rows():
    X, _ = one_sample(30)
    model = SVDD(kernel="precomputed").fit(X @ X.T)
    expected = SVDD(kernel="linear").fit(X)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    with pytest.raises(ValueError, match=r'"precomputed" does not show k\(x, x\) of new rows'):
        model.predict(X @ X.T)


def test_margins_of_a_ball_are_refused():
    X, _ = one_sample(30)
    with pytest.raises(ValueError, match="finds a ball, whose scores are distances"):
        margin_score(SVDD().fit(X), X)


def test_left_out_scores_are_those_of_a_ball_without_the_row():
    """With a linear kernel rows have norms of their own, which are part of their scores."""
    X = np.random.default_rng(4).normal(size=(30, 2)) + np.array([3.0, 0.0])
    model = SVDD(kernel="linear", nu=0.3, offset="left_out", false_alarms=0.2, tol=1e-8).fit(X)
    assert 4 <= (model.left_out_scores_ < model.offset_).sum() <= 6
    for row, found in enumerate(model.left_out_scores_):
        # The bounds of the others stay, for the rest of the weight.
        others = SVDD(kernel="linear", nu=0.3 * 30 / 29, tol=1e-8).fit(np.delete(X, row, axis=0))
        centre = others.dual_coef_[0] @ others.support_vectors_
        score = centre @ centre - ((X[row] - centre) ** 2).sum()
        assert found == pytest.approx(score, abs=1e-5)
