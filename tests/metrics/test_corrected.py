"""Metrics without negatives, against those with all labels on simulated samples."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from scarce import PositiveUnlabeledSVC
from scarce.metrics import (
    pu_average_precision_score,
    pu_f1_score,
    pu_precision_recall_curve,
    pu_precision_score,
    pu_recall_score,
    pu_roc_auc_score,
    pu_roc_curve,
    pu_scorer,
)


def sample(share=0.2, distance=1.5, n_labelled=20_000, n_unlabelled=60_000, seed=0):
    """Return labels, truth and scores of a class of normal scores beside another."""
    random = np.random.default_rng(seed)
    truth = np.r_[np.ones(n_labelled, bool), random.random(n_unlabelled) < share]
    y = np.repeat([1, 0], [n_labelled, n_unlabelled])
    return y, truth, random.normal(size=y.size) + distance * truth


@pytest.mark.parametrize("share", [0.05, 0.3])
@pytest.mark.parametrize("cut", [0.3, 1.2])
def test_labels_against_the_truth(share, cut):
    y, truth, scores = sample(share)
    hidden, predicted = y == 0, (scores > cut).astype(int)
    known = truth[hidden].mean()
    seen, found = truth[hidden], predicted[hidden]
    assert pu_recall_score(y, predicted) == pytest.approx(
        metrics.recall_score(seen, found), abs=0.015
    )
    assert pu_precision_score(y, predicted, known) == pytest.approx(
        metrics.precision_score(seen, found), abs=0.015
    )
    assert pu_f1_score(y, predicted, known) == pytest.approx(
        metrics.f1_score(seen, found), abs=0.015
    )


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_scores_against_the_truth(share):
    y, truth, scores = sample(share)
    hidden = y == 0
    known = truth[hidden].mean()
    seen, found = truth[hidden], scores[hidden]
    area = metrics.roc_auc_score(seen, found)
    assert pu_roc_auc_score(y, scores, known) == pytest.approx(area, abs=0.01)
    average = metrics.average_precision_score(seen, found)
    assert pu_average_precision_score(y, scores, known) == pytest.approx(average, abs=0.02)
    rates = metrics.roc_curve(seen, found)[:2]
    places = np.linspace(0.05, 0.95, 10)
    corrected = pu_roc_curve(y, scores, known)
    np.testing.assert_allclose(
        np.interp(places, *corrected[:2]), np.interp(places, *rates), atol=0.02
    )
    assert metrics.auc(*corrected[:2]) == pytest.approx(area, abs=0.01)


def test_an_estimated_share_where_the_class_stands_out():
    y, truth, scores = sample(0.2, 4.0, 2000, 10_000)
    hidden = y == 0
    area = metrics.roc_auc_score(truth[hidden], scores[hidden])
    assert pu_roc_auc_score(y, scores) == pytest.approx(area, abs=0.02)


def test_weights_are_repetitions():
    y, _, scores = sample(0.3, 1.0, 30, 100)
    scores = np.round(scores, 1)  # ties too
    times = np.random.default_rng(0).integers(0, 4, y.size)
    again = np.repeat(y, times), np.repeat(scores, times)
    for score in (pu_roc_auc_score, pu_average_precision_score):
        assert score(y, scores, 0.3, sample_weight=times) == pytest.approx(score(*again, 0.3))
    predicted = (scores > 0.5).astype(int)
    for score in (pu_precision_score, pu_f1_score):
        one = score(y, predicted, 0.3, sample_weight=times)
        assert one == pytest.approx(score(again[0], np.repeat(predicted, times), 0.3))


def test_curves_have_scikit_learns_shape():
    y, _, scores = sample(0.3, 1.0, 30, 100)
    precision, recall, thresholds = pu_precision_recall_curve(y, scores, 0.3)
    assert precision.size == recall.size == thresholds.size + 1
    assert (np.diff(thresholds) > 0).all()
    assert (precision[-1], recall[-1], recall[0]) == (1.0, 0.0, 1.0)


def test_scorers_and_the_positive_label():
    random = np.random.default_rng(0)
    X = np.r_[random.normal(2, 1, (80, 2)), random.normal(0, 1, (300, 2))]
    y = np.repeat(["a class", "unknown"], [40, 340])  # the positive label sorts first
    model = PositiveUnlabeledSVC(n_bags=5, pos_label="a class", random_state=0).fit(X, y)
    shown = {name: pu_scorer(name, class_prior=0.12)(model, X, y) for name in ("f1", "roc_auc")}
    scores = -model.decision_function(X)
    assert shown["roc_auc"] == pu_roc_auc_score(y, scores, 0.12, pos_label="a class")
    assert shown["roc_auc"] > 0.85
    assert shown["f1"] == pu_f1_score(y, model.predict(X), 0.12, pos_label="a class")
    plain = LogisticRegression()
    found = cross_val_score(plain, X, y == "a class", scoring=pu_scorer("precision"), cv=2)
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pu_f1_score([1, 0], [1, 0], 1.5), "class_prior must lie between 0 and 1"),
        (lambda: pu_precision_score([1, 0], [1, 0], None), "estimate_prior"),
        (lambda: pu_recall_score([1, 1], [1, 0]), "y_true must have one label"),
        (lambda: pu_recall_score([1, 0], [1, 0], pos_label=2), "see pos_label"),
        (lambda: pu_roc_auc_score([1, 0], [1, np.nan], 0.1), "NaN"),
        (lambda: pu_scorer("accuracy"), "metric must be one of"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_average_precision_is_never_above_one():
    """Steps of the recall add up to 1 but for rounding: 1.0000000000000002 of 23 such samples."""
    for seed in range(200):
        random = np.random.default_rng(seed)
        weights = random.integers(1, 4, size=20)
        y = np.repeat([1, 0], 10)
        scores = np.r_[random.normal(9.0, 1.0, size=10), random.normal(size=10)]
        found = pu_average_precision_score(y, scores, 0.5, sample_weight=weights)
        assert 0.0 <= found <= 1.0
