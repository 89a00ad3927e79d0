"""UnbiasedPUSVC against a generic convex solver, and what a class prior is worth."""

import numpy as np
import pytest
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel

from scarce import UnbiasedPUSVC
from scarce.reductions import double_hinge_program, read_double_hinge
from scarce.solvers import DenseMatrix, solve
from tests.oracles.classification import double_hinge
from tests.oracles.convex import feature_map


def sample(seed=0, n_labelled=20, n_unlabelled=60, share=0.4):
    random = np.random.default_rng(seed)
    truth = np.r_[np.ones(n_labelled, bool), random.random(n_unlabelled) < share]
    X = random.normal(size=(truth.size, 2)) + 2.5 * truth[:, None]
    return X, np.r_[np.ones(n_labelled, int), np.zeros(n_unlabelled, int)], truth


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_the_reduction_reaches_the_optimum_of_the_primal(seed, share):
    X, y, _ = sample(seed)
    features = feature_map(rbf_kernel(X, gamma=0.5))
    P, U = features[y == 1], features[y == 0]
    random = np.random.default_rng(seed)
    weights = random.uniform(0.1, 1.0, len(P))
    costs = random.uniform(0.1, 1.0, len(U))
    costs *= weights.sum() / (share * costs.sum())
    program = double_hinge_program(
        DenseMatrix(U @ U.T), U @ P.T @ weights, costs, float(weights.sum())
    )
    model = read_double_hinge(program, solve(program, tol=1e-9))
    primal = double_hinge(P, U, weights, costs)
    best = primal.solve()
    w = P.T @ weights + U.T @ model.coefficients
    assert primal.value_at(w, model.intercept) == pytest.approx(best, rel=1e-6, abs=1e-6)
    own = P.T @ weights
    assert model.objective - own @ own / 2 == pytest.approx(best, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(model.scores, U @ w, atol=1e-6)


def test_the_estimator_is_that_optimum():
    X, y, _ = sample()
    weights = np.random.default_rng(0).integers(1, 4, y.size).astype(float)
    model = UnbiasedPUSVC(class_prior=0.4, C=0.5, gamma=0.5, tol=1e-8)
    model.fit(X, y, sample_weight=weights)
    features = feature_map(rbf_kernel(X, gamma=0.5))
    own, others = weights[y == 1], weights[y == 0]
    costs = 0.5 * others * own.sum() / (0.4 * others.sum())
    primal = double_hinge(features[y == 1], features[y == 0], 0.5 * own, costs)
    assert model.objective_ == pytest.approx(primal.solve(), rel=1e-6)
    expected = primal.scores.value + primal.offsets.value
    np.testing.assert_allclose(model.decision_function(X[y == 0]), expected, atol=1e-4)


def test_it_finds_the_class_with_its_prior_and_asks_for_one():
    X, y, truth = sample(n_labelled=60, n_unlabelled=400)
    new, _, new_truth = sample(1, 60, 400)
    known = UnbiasedPUSVC(class_prior=float(truth[y == 0].mean())).fit(X, y)
    assert f1_score(new_truth, known.predict(new)) > 0.9
    with pytest.raises(ValueError, match=r"class_prior must be given.*PositiveUnlabeledSVC"):
        UnbiasedPUSVC().fit(X, y)


def test_more_is_accepted_for_a_larger_prior():
    X, y, _ = sample(n_labelled=60, n_unlabelled=400)
    shares = [
        np.mean(UnbiasedPUSVC(class_prior=prior).fit(X, y).predict(X[y == 0]))
        for prior in (0.1, 0.4, 0.8)
    ]
    assert shares[0] < shares[1] < shares[2]


def test_the_objective_is_that_of_the_model_that_is_kept():
    """Of large kernel values: two numbers far larger than the optimum must not be subtracted."""
    random = np.random.default_rng(1500)
    X = random.normal(size=(1500, 2)) + 30.0
    y = (X[:, 0] > 30.0) & (np.arange(1500) < 750)
    model = UnbiasedPUSVC(class_prior=0.4, kernel="poly", gamma=0.3, tol=1e-2).fit(X, y)
    assert model.fit_status_ == 0
    rows, beta = X.astype(np.longdouble), model.dual_coef_[0].astype(np.longdouble)
    scores = (np.longdouble(0.3) * (rows @ rows[model.support_].T)) ** 3 @ beta
    values = scores + model.intercept_[0]
    losses = np.maximum(np.maximum((1 + values[~y]) / 2, values[~y]), 0)
    cost = y.sum() / (0.4 * (~y).sum())
    primal = beta @ scores[model.support_] / 2 - values[y].sum() + cost * losses.sum()
    assert model.objective_ == pytest.approx(float(primal), rel=1e-10)
