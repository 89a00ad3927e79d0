"""The Lee-Liu criterion."""

from typing import ClassVar

import numpy as np
import pytest
from pulearn.metrics import lee_liu_score as pulearn_score
from scipy.stats import binomtest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce import SVMC
from scarce.model_selection import lee_liu_score, lee_liu_scorer
from tests.positive_unlabeled.samples import disc_in_a_square


def labels(seed=0, n=40_000, prior=0.2):
    """Return true classes, PU labels and noisy answers; a tenth is a sample of positives."""
    random = np.random.default_rng(seed)
    truth = random.random(n) < prior
    labelled = np.zeros(n, bool)
    labelled[: n // 10] = truth[: n // 10] = True
    answers = np.where(random.random(n) < 0.15, ~truth, truth)
    return truth, labelled.astype(int), answers.astype(int)


def test_by_hand():
    y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    y_pred = [1, 1, 1, 0, 1, 1, 0, 0, 0]
    assert lee_liu_score(y_true, y_pred) == pytest.approx((3 / 4) ** 2 / (2 / 5))


def test_is_precision_times_recall_over_the_prior():
    truth, labelled, answers = labels()
    score = lee_liu_score(labelled, answers)
    of_population = labelled == 0
    precision = precision_score(truth[of_population], answers[of_population])
    recall = recall_score(truth[of_population], answers[of_population])
    prior = truth[of_population].mean()
    assert score == pytest.approx(precision * recall / prior, rel=0.05)


def test_agrees_with_pulearn_on_its_rows():
    # The same recall; the share of positive answers is of the unlabelled rows here, of all there.
    _, labelled, answers = labels(1)
    ratio = answers.mean() / answers[labelled == 0].mean()
    expected = pulearn_score(labelled, answers) * ratio
    assert lee_liu_score(labelled, answers) == pytest.approx(expected)


def test_weights_equal_repetition():
    _, labelled, answers = labels(2, n=400)
    counts = np.random.default_rng(0).integers(0, 4, size=400)
    one = lee_liu_score(labelled, answers, sample_weight=counts)
    many = lee_liu_score(np.repeat(labelled, counts), np.repeat(answers, counts))
    assert one == pytest.approx(many)
    assert one != pytest.approx(lee_liu_score(labelled, answers))


def test_labels_in_any_coding():
    _, labelled, answers = labels(3, n=400)
    expected = lee_liu_score(labelled, answers)
    for positive, other in ((1, -1), (True, False), ("yes", "no")):
        found = lee_liu_score(
            np.where(labelled, positive, other), np.where(answers, positive, other)
        )
        assert found == expected
    found = lee_liu_score(np.where(labelled, "a", "b"), np.where(answers, "a", "b"), pos_label="a")
    assert found == expected


def test_extremes_and_errors():
    assert lee_liu_score([1, 0, 0], [1, 0, 0]) == 0.0  # nothing unlabelled is accepted
    assert lee_liu_score([1, 0, 0], [0, 1, 0]) == 0.0
    assert lee_liu_score([1, 0, 0], [1, 1, 1]) == 1.0
    with pytest.raises(ValueError, match=r"got the labels \[0, 1, 2\]"):
        lee_liu_score([0, 1, 2], [0, 1, 1])
    with pytest.raises(ValueError, match=r"got the labels \[1\]; name the positive one"):
        lee_liu_score([1, 1], [1, 1])
    with pytest.raises(ValueError, match="weight of 2 labelled 1 and 0 others"):
        lee_liu_score([1, 1], [1, 1], pos_label=1)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        lee_liu_score([1, 0], [1, 1, 1])


class Answer(ClassifierMixin, BaseEstimator):
    """Answers with the sign of a feature."""

    __metadata_request__fit: ClassVar = {"sample_weight": True}

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.feature] > 0).astype(int)]


def test_scorer_passes_weights_on_without_set_up():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = np.r_[np.ones(80, int), np.zeros(120, int)]
    weights = random.uniform(0.1, 3.0, size=200)
    search = GridSearchCV(Answer(), {"feature": [0, 1]}, scoring=lee_liu_scorer, cv=2)
    with config_context(enable_metadata_routing=True):
        search.fit(X, y, sample_weight=weights)
    splits = list(check_cv(2, y, classifier=True).split(X, y))
    for feature in (0, 1):
        for fold, (_, test) in enumerate(splits):
            expected = lee_liu_score(
                y[test],
                (X[test, feature] > 0).astype(int),
                sample_weight=weights[test],
                lower_bound=True,
            )
            assert search.cv_results_[f"split{fold}_test_score"][feature] == pytest.approx(expected)


def test_scorer_takes_the_positive_label_of_the_estimator():
    X, y = disc_in_a_square(0, 60, 600)
    words = np.where(y == 1, "positive", "unlabelled")  # the positive label sorts first
    plain = SVMC(learner="csvc", gamma=0.5)
    named = SVMC(learner="csvc", gamma=0.5, pos_label="positive")
    expected = cross_val_score(plain, X, y, scoring=lee_liu_scorer, cv=3)
    assert (expected > 2).all()
    for model in (named, make_pipeline(StandardScaler(with_std=False), named)):
        found = cross_val_score(model, X, words, scoring=lee_liu_scorer, cv=3)
        np.testing.assert_allclose(found, expected)
    search = GridSearchCV(named, {"gamma": [0.5]}, scoring={"pu": lee_liu_scorer}, refit="pu", cv=3)
    nested = search.fit(X, words)
    np.testing.assert_allclose(nested.cv_results_["mean_test_pu"], expected.mean())
    assert lee_liu_scorer(nested, X, words) == lee_liu_scorer(named.fit(X, words), X, words)


def test_the_lower_bound_is_scipys():
    truth, found = np.repeat([1, 0], [5, 1000]), np.zeros(1005, int)
    found[[0, 1, 5]] = 1  # two of five, and one row of a thousand
    assert lee_liu_score(truth, found) == pytest.approx(0.4**2 / 0.001)
    low = binomtest(2, 5).proportion_ci(method="wilson").low
    guarded = lee_liu_score(truth, found, lower_bound=True)
    assert guarded == pytest.approx(low**2 / 0.001, rel=1e-3)
    # Chance: three of four labelled rows of ten, at a hundredth, are worth more.
    truth, found = np.repeat([1, 0], [40, 1000]), np.zeros(1040, int)
    found[:30], found[40:50] = 1, 1
    assert lee_liu_score(truth, found) < 0.4**2 / 0.001
    assert lee_liu_score(truth, found, lower_bound=True) > guarded
