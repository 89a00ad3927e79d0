"""Choosing parameters by shares of groups, without a label of any row."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from scarce.model_selection import GroupErrorScorer
from scarce.proportions import expand_proportions, group_error, group_proportions
from tests.proportions.published import GroupProbabilitySVM, TransferGroupProbabilitySVM
from tests.versions import BEFORE_1_8

pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")


def sample(n=240, size=8):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    labels = (X[:, 0] > 0).astype(int)
    groups = np.array([f"ward {g}" for g in rng.permutation(n) // size])
    return X, labels, groups, expand_proportions(group_proportions(labels, groups), groups)


def numbered(groups):
    return np.unique(groups, return_inverse=True)[1]


@pytest.mark.parametrize("kind", [GroupProbabilitySVM, TransferGroupProbabilitySVM])
@pytest.mark.parametrize("scoring", [None, GroupErrorScorer(), GroupErrorScorer("probabilities")])
def test_search_over_group_folds(kind, scoring):
    if scoring is None and BEFORE_1_8:
        pytest.skip("before scikit-learn 1.8 a pipeline's own score is given no groups")
    X, labels, groups, y = sample()
    name = "C" if kind is GroupProbabilitySVM else "C_group"
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), kind()),
            {f"{kind.__name__.lower()}__{name}": [1e-5, 1.0]},
            scoring=scoring,
            cv=GroupKFold(4),
            error_score="raise",
        ).fit(X, y, groups=numbered(groups))
    assert search.best_params_ == {f"{kind.__name__.lower()}__{name}": 1.0}
    assert np.mean(search.predict(X) == labels) > 0.9


def test_scores_of_the_folds_are_the_error_of_the_shares():
    X, _, groups, y = sample()
    codes = numbered(groups)
    with config_context(enable_metadata_routing=True):
        found = cross_val_score(
            GroupProbabilitySVM(),
            X,
            y,
            scoring=GroupErrorScorer(),
            cv=GroupKFold(3),
            params={"groups": codes},
        )
    for (train, test), value in zip(GroupKFold(3).split(X, y, codes), found, strict=True):
        assert not set(codes[train]) & set(codes[test])
        model = GroupProbabilitySVM().fit(X[train], y[train], codes[train])
        error = group_error(y[test], model.predict(X[test]), codes[test])
        assert value == pytest.approx(-error)


def test_common_rows_and_weights_go_along():
    X, labels, groups, y = sample()
    source = FrozenEstimator(LinearSVC().fit(X[:50], labels[:50]))
    codes = numbered(groups)
    codes[:24], y[:24] = -1, np.nan
    with config_context(enable_metadata_routing=True):
        found = cross_validate(
            TransferGroupProbabilitySVM(source=source, kernel="linear"),
            X,
            y,
            cv=GroupKFold(3),
            params={"groups": codes, "sample_weight": np.linspace(0.5, 1.0, 240)},
            error_score="raise",
        )
    assert np.all(found["test_score"] > 0.8)


def test_what_is_missing_in_a_search_is_said():
    X, _, groups, y = sample()
    codes = numbered(groups)
    search = GridSearchCV(
        GroupProbabilitySVM(), {"C": [1.0]}, cv=GroupKFold(3), error_score="raise"
    )
    with pytest.raises(ValueError, match=r"need `groups`.*enable_metadata_routing=True"):
        search.fit(X, y, groups=codes)
    codes[:24], y[:24] = -1, np.nan
    model = TransferGroupProbabilitySVM(source=([1.0, 0.0], 0.0), kernel="linear")
    alone = [(np.flatnonzero(codes != -1), np.flatnonzero(codes == -1))]
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"common rows, -1, for one group.*GroupErrorScorer shows"),
    ):
        cross_val_score(model, X, y, cv=alone, params={"groups": codes}, error_score="raise")


def test_any_classifier_can_be_scored():
    X, labels, groups, y = sample()
    model = LogisticRegression().fit(X, labels)
    by_labels = GroupErrorScorer()(model, X, y, groups)
    assert by_labels == pytest.approx(-group_error(y, model.predict(X), groups))
    by_means = GroupErrorScorer("probabilities")(model, X, y, groups)
    assert by_means == pytest.approx(-group_error(y, model.predict_proba(X), groups))
    assert by_labels != by_means
    assert repr(GroupErrorScorer()) == "GroupErrorScorer(response='labels')"
    with pytest.raises(ValueError, match=r"response must be .* got 'scores'"):
        GroupErrorScorer("scores")
