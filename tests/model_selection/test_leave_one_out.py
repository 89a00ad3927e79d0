"""The search against plain loops, what it finds, and what it refuses."""

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import OneClassSVM as PeerOneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from scarce import OneClassSVM, TransferOneClassSVM
from scarce.kernels import CPKernel
from scarce.model_selection import LeaveOneOutSearch, margin_score, shuffled_columns_scorer
from tests.published import one_class_stm

pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")  # few samples

LINEAR = OneClassSVM(kernel="linear", tol=1e-8)


def vectors(n, seed=0):
    return np.random.default_rng(seed).normal(2.0, 1.0, size=(n, 4))


def low_rank_class(rank, n, seed, noise=0.6):
    """Return a fixed pattern of the given rank, each sample in its own noise."""
    random = np.random.default_rng(seed)
    left, _ = np.linalg.qr(random.normal(size=(8, rank)))
    right, _ = np.linalg.qr(random.normal(size=(6, rank)))
    return 6.0 * left @ right.T + noise * random.normal(size=(n, 8, 6))


# The measure.


def test_margin_of_a_linear_model():
    X, new = vectors(8), vectors(5, seed=1)
    model = LINEAR.fit(X)
    expected = np.mean(new @ model.coef_[0]) / np.linalg.norm(model.coef_)
    assert margin_score(model, new) == pytest.approx(expected, rel=1e-12)


def test_margin_of_a_tensor_machine():
    X = low_rank_class(2, 6, seed=0)
    model = one_class_stm(rank=2, tol=1e-4).fit(X)
    expected = np.mean([np.sum(model.coef_ * x) for x in X]) / np.linalg.norm(model.coef_)
    assert margin_score(model, X) == pytest.approx(expected, rel=1e-12)


def test_margin_in_feature_space():
    X, new = vectors(8), vectors(5, seed=1)
    model = OneClassSVM(gamma=0.2).fit(X)
    support, dual = X[model.support_], model.dual_coef_[0]
    length = np.sqrt(dual @ rbf_kernel(support, gamma=0.2) @ dual)
    expected = np.mean(rbf_kernel(new, support, gamma=0.2) @ dual) / length
    assert margin_score(model, new) == pytest.approx(expected, rel=1e-9)


def test_scale_of_the_model_does_not_matter():
    X = vectors(8)
    small, large = (OneClassSVM(kernel="linear", nu=nu).fit(X[:1]) for nu in (0.1, 1.0))
    assert np.linalg.norm(small.coef_) < np.linalg.norm(large.coef_)
    assert margin_score(small, X) == pytest.approx(margin_score(large, X))


def test_no_weights_no_margin():
    model = LINEAR.fit(vectors(3))
    model.support_vectors_ = np.zeros_like(model.support_vectors_)
    assert margin_score(model, vectors(3)) == 0.0


# The search.


def test_every_sample_is_left_out_once():
    X = vectors(7)
    search = LeaveOneOutSearch(LINEAR, {"nu": [0.1, 0.5, 0.8]}).fit(X)
    for parameters, margins in zip(
        search.cv_results_["params"], search.cv_results_["margins"], strict=True
    ):
        for row in range(7):
            peer = PeerOneClassSVM(kernel="linear", tol=1e-10, **parameters)
            w = peer.fit(np.delete(X, row, axis=0)).coef_[0]
            assert margins[row] == pytest.approx(X[row] @ w / np.linalg.norm(w), rel=1e-6)
    means = search.cv_results_["margins"].mean(axis=1)
    assert search.best_index_ == means.argmax()
    assert search.best_params_ == search.cv_results_["params"][means.argmax()]
    assert search.best_score_ == pytest.approx(means.max())


@pytest.mark.parametrize(("rejection", "rank"), [(0.1, [0]), (0.2, [0]), (2 / 8, [1]), (1.0, [6])])
def test_offset_is_an_order_statistic_of_the_margins_left_out(rejection, rank):
    search = LeaveOneOutSearch(LINEAR, {"nu": [0.4]}, rejection=rejection).fit(vectors(7))
    expected = np.sort(search.cv_results_["margins"][0])[rank].mean()
    length = np.linalg.norm(search.best_estimator_.coef_)
    np.testing.assert_allclose(search.offset_, [expected * length])


def test_decisions():
    X, new = vectors(7), vectors(30, seed=1) - 1.0
    search = LeaveOneOutSearch(LINEAR, {"nu": [0.4]}).fit(X)
    scores = new @ search.best_estimator_.coef_[0]
    np.testing.assert_allclose(search.score_samples(new), scores)
    np.testing.assert_allclose(search.decision_function(new), scores - search.offset_)
    np.testing.assert_array_equal(search.predict(new), np.where(scores >= search.offset_, 1, -1))
    assert set(search.predict(new)) == {-1, 1}


def test_the_same_choice_as_a_grid_search():
    X, grid = vectors(7), {"nu": [0.1, 0.5, 0.8]}
    ours = LeaveOneOutSearch(LINEAR, grid).fit(X)
    theirs = GridSearchCV(LINEAR, grid, scoring=margin_score, cv=LeaveOneOut()).fit(X)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(
        ours.cv_results_["mean_margin"], theirs.cv_results_["mean_test_score"]
    )


def test_acceptance_is_that_of_the_models_of_the_others():
    X = vectors(7)
    found = LeaveOneOutSearch(LINEAR, {"nu": [0.1, 0.5]}).fit(X).cv_results_["acceptance"]
    for nu, acceptance in zip([0.1, 0.5], found, strict=True):
        peer = PeerOneClassSVM(kernel="linear", tol=1e-10, nu=nu)
        inside = [peer.fit(np.delete(X, i, axis=0)).predict(X[[i]])[0] == 1 for i in range(7)]
        assert acceptance == pytest.approx(np.mean(inside))


def test_labels_are_not_looked_at():
    X = vectors(6)
    first, second = (
        LeaveOneOutSearch(LINEAR, {"nu": [0.3, 0.6]}).fit(X, y) for y in (None, np.arange(6))
    )
    np.testing.assert_array_equal(first.offset_, second.offset_)


def test_jobs_change_nothing():
    X, grid = vectors(6), {"nu": [0.3, 0.6]}
    with parallel_config(backend="threading"):
        one, two = (LeaveOneOutSearch(LINEAR, grid, n_jobs=jobs).fit(X) for jobs in (None, 2))
    np.testing.assert_array_equal(one.cv_results_["margins"], two.cv_results_["margins"])


# What it finds.


def chosen_ranks(rank, n=6, draws=12):
    machine = one_class_stm(tol=1e-3)
    return [
        LeaveOneOutSearch(machine, {"rank": [1, 2, 3]})
        .fit(low_rank_class(rank, n, seed))
        .best_params_["rank"]
        for seed in range(draws)
    ]


def test_rank_of_the_pattern_is_found():
    assert chosen_ranks(1).count(1) >= 9
    assert chosen_ranks(2).count(2) >= 9


def test_about_the_asked_share_is_rejected():
    """Eight samples in sixty dimensions: the model's own offset rejects half of the class."""
    own, ours = [], []
    for seed in range(20):
        X = np.random.default_rng(seed).normal(0.5, 1.0, size=(508, 60))
        search = LeaveOneOutSearch(LINEAR, {"nu": [0.1]}).fit(X[:8])
        own.append(np.mean(search.best_estimator_.predict(X[8:]) < 0))
        ours.append(np.mean(search.predict(X[8:]) < 0))
    # The smallest of 8 exchangeable margins has 1 / 9 below it in the mean.
    assert np.mean(ours) == pytest.approx(1 / 9, abs=0.06)
    assert np.mean(own) > 0.3


# Input.


def test_repeated_hard_margins_are_not_tried():
    X, grid = vectors(5), {"nu": [0.25, 0.1, 0.2, 0.5], "kernel": ["linear", "poly"]}
    with pytest.warns(UserWarning, match=r"up to 0.25 is the same .* not tried: nu = 0.2, 0.25"):
        search = LeaveOneOutSearch(LINEAR, grid).fit(X)
    tried = [(each["kernel"], each["nu"]) for each in search.cv_results_["params"]]
    assert sorted(tried) == [("linear", 0.1), ("linear", 0.5), ("poly", 0.1), ("poly", 0.5)]


def test_different_models_are_all_tried():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grid = [{"nu": [0.1, 0.6]}, {"nu": [0.1], "kernel": [CPKernel(), CPKernel(gamma=2.0)]}]
        search = LeaveOneOutSearch(LINEAR, grid, rejection=0.2).fit(vectors(5))
    assert len(search.cv_results_["params"]) == 4


def test_pipeline_and_tensors():
    X = np.abs(vectors(6))
    pipeline = make_pipeline(MaxAbsScaler(), one_class_stm(tensor_shape=(2, 2), tol=1e-3))
    search = LeaveOneOutSearch(pipeline, {"onclass__nu": [0.1]})
    with pytest.raises(ValueError, match="onclass"):
        search.fit(X)
    search.set_params(param_grid={"oneclassstm__nu": [0.1, 0.5]}).fit(X)
    assert search.n_features_in_ == 4
    assert search.predict(X).shape == (6,)
    images = low_rank_class(1, 5, seed=0)
    callable_kernel = OneClassSVM(kernel=CPKernel(gamma=0.01))
    for machine in (one_class_stm(), callable_kernel):
        search = LeaveOneOutSearch(machine, {"nu": [0.2, 0.6]}).fit(images)
        assert search.predict(images).shape == (5,)


class Fragile(OneClassSVM):
    """Has no solution for one value of nu."""

    def fit(self, X, y=None, sample_weight=None):
        if self.nu == 0.6:
            raise ValueError("degenerate: nothing to separate")
        return super().fit(X, y, sample_weight)


def test_a_candidate_without_a_solution_does_not_end_the_search():
    X, grid = vectors(5), {"nu": [0.3, 0.6, 0.9]}
    search = LeaveOneOutSearch(Fragile(kernel="linear", tol=1e-8), grid)
    with pytest.warns(FitFailedWarning, match="1 of 3 candidates .*: degenerate"):
        search.fit(X)
    expected = LeaveOneOutSearch(LINEAR, {"nu": [0.3, 0.9]}).fit(X)
    assert search.best_params_ == expected.best_params_
    assert np.isnan(search.cv_results_["mean_margin"]).tolist() == [False, True, False]
    assert search.cv_results_["margins"][[0, 2]] == pytest.approx(expected.cv_results_["margins"])
    with pytest.raises(ValueError, match=r"no candidate of param_grid .*: degenerate"):
        LeaveOneOutSearch(Fragile(kernel="linear"), {"nu": [0.6]}).fit(X)


def test_refused():
    with pytest.raises(ValueError, match=r"n_samples=1; .* at least 2"):
        LeaveOneOutSearch(LINEAR, {}).fit(vectors(1))
    with pytest.raises(ValueError, match="precomputed"):
        LeaveOneOutSearch(OneClassSVM(kernel="precomputed"), {}).fit(np.eye(3))
    with pytest.raises(ValueError, match="rejection"):
        LeaveOneOutSearch(LINEAR, {}, rejection=0.0).fit(vectors(3))
    with pytest.raises(ValueError, match=r"'nu' parameter of OneClassSVM .* Got 'small'"):
        LeaveOneOutSearch(LINEAR, {"nu": ["small", 0.1]}).fit(vectors(3))
    forest = IsolationForest(n_estimators=2, random_state=0)
    for attempt in (
        lambda: LeaveOneOutSearch(forest, {"max_samples": [2]}).fit(vectors(3)),
        lambda: margin_score(forest.fit(vectors(3)), vectors(3)),
    ):
        with pytest.raises(ValueError, match=r"IsolationForest.* has neither coef_ nor dual_coef_"):
            attempt()
    with pytest.raises(NotFittedError):
        LeaveOneOutSearch(LINEAR, {}).predict(vectors(3))


@parametrize_with_checks([LeaveOneOutSearch(OneClassSVM(), {"nu": [0.5]})])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_widths_are_refused():
    with pytest.raises(ValueError, match="several values of gamma"):
        LeaveOneOutSearch(OneClassSVM(), {"gamma": [0.1, 1.0]}).fit(vectors(5))


def test_domains_reach_the_machine():
    X = vectors(40)
    domain = np.r_[np.zeros(30, int), np.full(10, -1)]
    machine = TransferOneClassSVM(offset="original")
    for estimator, name in ((machine, "nu"), (make_pipeline(MaxAbsScaler(), machine), None)):
        grid = {name or "transferoneclasssvm__nu": [0.2, 0.5]}
        search = LeaveOneOutSearch(estimator, grid).fit(X, sample_domain=domain)
        assert search.cv_results_["margins"].shape == (2, 10)
        assert search.predict(X).shape == (40,)


def test_shuffled_columns_find_a_width():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, size=150)
    ring = np.c_[np.cos(angle), np.sin(angle)] + 3.0
    search = GridSearchCV(
        OneClassSVM(nu=0.1), {"gamma": [0.01, 10.0]}, scoring=shuffled_columns_scorer(), cv=3
    ).fit(ring)
    assert search.best_params_ == {"gamma": 10.0}
    assert 0.7 < search.best_score_ < 1.0


@pytest.mark.parametrize("wrong", [OneClassSVM(), 0, 2.5])
def test_a_scorer_that_was_not_made_is_told(wrong):
    with pytest.raises(ValueError, match=r"n_shuffles .* got .*; .* with brackets"):
        shuffled_columns_scorer(wrong)
