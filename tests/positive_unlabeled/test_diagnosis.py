"""A boundary around the rows shown, and not around the class, does not pass in silence."""

import numpy as np
import pytest
from sklearn.svm import NuSVC

from scarce import SVC, SVMC, ScarceDataWarning
from tests.positive_unlabeled.samples import of_the_paper, two_gaussians


def clear_class(seed=0):
    random = np.random.default_rng(seed)
    X = np.r_[random.normal(size=(120, 2)), random.uniform(-9, 9, size=(400, 2))]
    return X, np.r_[np.ones(60, int), np.zeros(460, int)]


def test_a_class_that_was_found_passes():
    X, y = clear_class()
    model = SVMC(gamma=0.1, learner="csvc").fit(X, y)  # warnings are errors
    assert model.class_prior_ == model.accepted_share_
    low, high = model.class_prior_interval_
    assert low <= high
    assert model.held_out_recall_ > 0.7


def test_a_boundary_around_single_rows_warns_with_figures():
    X, y = clear_class()
    with pytest.warns(ScarceDataWarning, match=r"recall is .* but 0\.?\d* on those left out"):
        model = SVMC(gamma=50.0, learner="csvc").fit(X, y)
    assert np.isnan(model.class_prior_)
    assert np.isnan(model.class_prior_interval_).all()


def test_accepting_nothing_warns():
    X, y = two_gaussians(30, 30.0)
    with pytest.warns(ScarceDataWarning, match="accepts 0 of the unlabelled weight, almost none"):
        model = SVMC().fit(X, y)
    assert model.accepted_share_ == 0.0


def test_without_diagnosis_nothing_is_refitted():
    X, y = two_gaussians(30, 30.0)
    model = SVMC(diagnose=False).fit(X, y)
    assert np.isnan(model.held_out_recall_)
    assert model.class_prior_ == model.accepted_share_


def test_held_out_recall_is_that_of_refits():
    X, y = clear_class()
    mask = np.hypot(*X.T) > 4.0
    model = of_the_paper(
        mapper=mask, classifier=NuSVC(nu=0.2, gamma=0.1), keep="all", max_rounds=1, tol=1e-3
    )
    with pytest.warns(UserWarning, match="max_rounds=1"):
        model.fit(X, y)
    negatives = np.flatnonzero(mask & (y == 0))
    # Whatever the folds are, a refit without ten positives has nearly the recall of any other.
    recalls = []
    for left in np.array_split(np.random.default_rng(0).permutation(60), 5):
        rows = np.r_[np.setdiff1d(np.arange(60), left), negatives]
        refit = NuSVC(nu=0.2, gamma=0.1).fit(X[rows], y[rows])
        recalls.append(np.mean(refit.decision_function(X[left]) >= 0))
    assert model.held_out_recall_ == pytest.approx(np.mean(recalls), abs=0.1)


def test_equal_totals():
    X, y = clear_class()
    model = SVC(class_weight="equal-total").fit(X, y)
    np.testing.assert_allclose(model.class_weight_, [60 / 460, 1.0])
    given = SVC(class_weight={0: 60 / 460, 1: 1.0}).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(X))
