"""The baselines that learn from shares: scikit-learn's checks, labels as a limit, known data."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmarks.untuned.share_baselines import (
    AlternatingLabelSVM,
    GroupMeanLogistic,
    MeanMapClassifier,
    labels_of_shares,
)
from scarce.baselines import ProportionLogistic
from scarce.proportions import RowGroups, expand_proportions, group_proportions

KINDS = [AlternatingLabelSVM, GroupMeanLogistic, MeanMapClassifier, ProportionLogistic]


@parametrize_with_checks(
    [
        # A strong ridge: the checks of weights compare more digits than the minimiser finds else.
        ProportionLogistic(C=0.05, kernel="linear", tol=1e-10),
        ProportionLogistic(C=0.05, tol=1e-10, random_state=0),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # rows unscaled
def test_scikit_learn_check(estimator, check):
    check(estimator)


def clouds(n=400, classes=2, size=8, seed=0):
    """Clouds whose groups differ much in their shares."""
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(classes, size=n))
    swap = rng.random(n) < 0.3
    labels[swap] = rng.permutation(labels[swap])
    X = rng.normal(size=(n, 3)) + 2.0 * np.eye(3)[labels % 3]
    groups = np.arange(n) // size
    return X, labels, groups, expand_proportions(group_proportions(labels, groups), groups)


@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_groups_nearly_suffice(kind):
    X, labels, groups, shares = clouds()
    best = SVC().fit(X, labels).score(X, labels)
    assert (kind().fit(X, shares, groups).predict(X) == labels).mean() > best - 0.06


@pytest.mark.parametrize("kind", [GroupMeanLogistic, MeanMapClassifier, ProportionLogistic])
def test_several_classes(kind):
    X, labels, groups, shares = clouds(classes=3)
    model = kind().fit(X, shares, groups)
    assert (model.predict(X) == labels).mean() > 0.75
    p = model.predict_proba(X)
    assert p.shape == (400, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "model",
    [
        GroupMeanLogistic(C=0.7, tol=1e-9),
        MeanMapClassifier(C=0.7, tol=1e-9),
        ProportionLogistic(C=0.7, kernel="linear", tol=1e-9),
    ],
)
def test_with_labels_it_is_logistic_regression(model, container):
    X, labels, _, _ = clouds(classes=2)
    known = LogisticRegression(C=0.7, tol=1e-9).fit(X, labels)
    model.fit(container(X), labels)
    np.testing.assert_allclose(model.coef_, known.coef_, rtol=1e-4)
    np.testing.assert_allclose(model.intercept_, known.intercept_, rtol=1e-4)


@pytest.mark.parametrize(
    "model", [MeanMapClassifier(tol=1e-9), ProportionLogistic(C=1.0, kernel="linear", tol=1e-9)]
)
def test_several_labels_are_logistic_regression_too(model):
    X, labels, _, _ = clouds(classes=3)
    known = LogisticRegression(tol=1e-9).fit(X, labels)
    np.testing.assert_allclose(
        model.fit(X, labels).predict_proba(X), known.predict_proba(X), atol=1e-5
    )


def test_class_means_by_hand():
    means = np.array([[0.0, 1.0], [4.0, -1.0]])
    X = means[[0, 0, 1, 0, 1, 1]]  # shares 1/3 and 2/3, the same mean of a class in both groups
    model = MeanMapClassifier().fit(X, [1 / 3] * 3 + [2 / 3] * 3, [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.class_means_, means, atol=1e-12)


def test_proportion_logistic_is_the_minimum_of_its_definition():
    X, _, groups, shares = clouds(n=60, size=6)
    q = shares[::6]

    def objective(place):
        p = expit(X @ place[:3] + place[3]).reshape(10, 6).mean(axis=1)
        return -6 * (q * np.log(p) + (1 - q) * np.log(1 - p)).sum() + place[:3] @ place[:3] / 2

    plain = minimize(objective, np.zeros(4), options={"gtol": 1e-6})
    model = ProportionLogistic(C=1.0, kernel="linear", tol=1e-9).fit(X, shares, groups)
    found = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(found, plain.x, atol=1e-3)


def test_labels_meet_the_shares():
    in_groups = RowGroups.of(np.array([0, 1, 0, 1, 0, 1]), np.ones(6), 2)
    decisions = np.array([3.0, 1.0, 2.0, 2.0, 1.0, 3.0])
    labels = labels_of_shares(decisions, in_groups, np.array([1 / 3, 2 / 3]))
    assert labels.tolist() == [1, 0, 0, 1, 0, 1]
    assert labels_of_shares(decisions, in_groups, np.array([0.0, 1.0])).tolist() == [
        0,
        1,
        0,
        1,
        0,
        1,
    ]


def test_alternating_labels_settle():
    X, labels, groups, shares = clouds()
    model = AlternatingLabelSVM().fit(X, shares, groups)
    assert model.converged_
    found = np.bincount(
        groups, labels_of_shares(model.svc_.decision_function(X), *_groups_and_shares(groups))
    )
    np.testing.assert_allclose(found, np.bincount(groups, labels))


def _groups_and_shares(groups):
    _, labels, _, _ = clouds()
    in_groups = RowGroups.of(groups, np.ones(groups.size), groups.max() + 1)
    return in_groups, np.bincount(groups, labels) / in_groups.sizes


def test_what_they_cannot_do_is_said():
    X, _, groups, shares = clouds(n=24)
    with pytest.raises(ValueError, match="Only binary"):
        AlternatingLabelSVM().fit(X, np.full((24, 3), 1 / 3), groups)
    with pytest.raises(ValueError, match="no row to class 1"):
        AlternatingLabelSVM().fit(X, 0.01 * (1 + groups), groups)
    with pytest.raises(ValueError, match="8 rows as common"):
        MeanMapClassifier().fit(X, shares, np.where(groups == 0, -1, groups))
    with pytest.raises(ValueError, match="class 1 no share"):
        GroupMeanLogistic().fit(X, np.zeros(24), groups)
