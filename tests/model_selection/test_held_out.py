"""Ending a loop by positives that were held out."""

import numpy as np
import pytest
from sklearn.base import clone

from scarce import SVMC
from scarce.model_selection import HeldOutPositives
from tests.positive_unlabeled.samples import overlapping

CHEAP = {"learner": "csvc", "C": 0.3, "gamma": 0.5}  # the loop gives up the whole class


def test_best_round_and_patience():
    rule = HeldOutPositives(patience=2)
    recall, share = [1.0, 1.0, 0.9, 0.6, 0.5], [0.5, 0.4, 0.3, 0.2, 0.2]
    values = [r**2 / s for r, s in zip(recall, share, strict=True)]
    assert max(values) == values[2]
    verdicts = [
        rule({"held_out_recall": recall[:n], "accepted_share": share[:n]}) for n in range(1, 6)
    ]
    assert verdicts == [(0, True), (1, True), (2, True), (2, True), (2, False)]


def test_accepting_nothing_is_worst():
    rule = HeldOutPositives(patience=1)
    assert rule({"held_out_recall": [0.5, 1.0], "accepted_share": [0.5, 0.0]}) == (0, False)


def test_of_equal_rounds_the_latest():
    rule = HeldOutPositives()
    assert rule({"held_out_recall": [1.0, 1.0], "accepted_share": [0.5, 0.5]}) == (1, True)


def test_it_prevents_a_collapse():
    X, y = overlapping(2)
    model = SVMC(**CHEAP, diagnose=False, stop=HeldOutPositives(random_state=0)).fit(X, y)
    history = model.history_
    assert history["accepted_share"][-1] == 0.0
    pairs = zip(history["held_out_recall"], history["accepted_share"], strict=True)
    values = [recall**2 / share if share else 0.0 for recall, share in pairs]
    assert model.round_kept_ == np.argmax(values) < model.n_rounds_ - 1
    assert model.class_prior_ == pytest.approx(np.mean(model.predict(X[y == 0])))
    assert model.class_prior_ == pytest.approx(30 / 200, abs=0.05)  # the share in the sample
    assert np.mean(model.predict(X[y == 1])) > 0.4


def test_held_out_rows_are_not_trained_on():
    X, y = overlapping(2)
    rule = HeldOutPositives(fraction=0.25, random_state=3)
    model = SVMC(learner="csvc", C=1e-2, stop=rule, max_rounds=1, keep="all", diagnose=False)
    with pytest.warns(UserWarning, match="max_rounds=1"):
        model.fit(X, y)
    positives = np.flatnonzero(y == 1)
    held = positives[rule.hold_out(positives.size)]
    assert held.size == 10
    # At so low a cost every positive is a support vector, if it takes part.
    assert set(model.support_[y[model.support_] == 1]) == set(positives) - set(held)
    inside = model.decision_function(X[held]) >= 0
    assert model.history_["held_out_recall"] == [pytest.approx(inside.mean())]


def test_choice_of_rows():
    rule = HeldOutPositives(fraction=0.2, random_state=0)
    np.testing.assert_array_equal(rule.hold_out(50), clone(rule).hold_out(50))
    assert rule.hold_out(50).size == 10
    assert HeldOutPositives(fraction=0.01).hold_out(5).size == 1
    assert HeldOutPositives(fraction=0.99).hold_out(2).size == 1
    with pytest.raises(ValueError, match="at least 2 of them, got 1"):
        rule.hold_out(1)
    with pytest.raises(ValueError, match="'fraction' parameter of HeldOutPositives must be"):
        HeldOutPositives(fraction=1.0).hold_out(5)


def test_together_with_recall_on_the_training_rows():
    X, y = overlapping(2)
    alone = SVMC(**CHEAP, diagnose=False, stop=HeldOutPositives(random_state=0)).fit(X, y)
    recall = np.array(alone.history_["recall"])
    least = recall[: alone.round_kept_].mean()
    assert recall[alone.round_kept_] < least < recall[0]
    both = SVMC(
        **CHEAP, diagnose=False, stop=HeldOutPositives(random_state=0), stop_recall=least
    ).fit(X, y)
    assert both.round_kept_ == np.argmax(recall < least) - 1
