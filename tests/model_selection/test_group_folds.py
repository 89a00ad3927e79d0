"""Folds of groups: what is tested, what is always trained on, and inside a search."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold

from scarce import TransferGroupProbabilitySVM
from scarce.model_selection import GroupErrorScorer, GroupShareKFold
from scarce.proportions import expand_proportions, group_proportions

pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")

GROUPS = np.array([3, 3, -1, 5, 5, 5, -2, 7, 7, -1, 9])
X = np.zeros((GROUPS.size, 2))


def test_every_group_is_tested_once_and_in_one_piece():
    tested = []
    for train, test in GroupShareKFold(2).split(X, groups=GROUPS):
        assert not set(GROUPS[train]) & set(GROUPS[test])
        assert np.array_equal(np.sort(np.r_[train, test]), np.arange(GROUPS.size))
        assert {2, 6, 9} <= set(train)  # the common rows and the leftover one
        tested += test.tolist()
    assert sorted(tested) == np.flatnonzero(GROUPS >= 0).tolist()


@pytest.mark.parametrize("parameters", [{}, {"shuffle": True, "random_state": 4}])
def test_without_common_rows_it_is_scikit_learns(parameters):
    groups = np.repeat([4, 8, 1, 6, 2], [1, 3, 2, 5, 2])
    ours, theirs = (
        list(kind(3, **parameters).split(groups, groups=groups))
        for kind in (GroupShareKFold, GroupKFold)
    )
    for mine, other in zip(ours, theirs, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine, other, strict=True))


def test_ids_of_several_kinds():
    groups = ["north", "north", 4, 4, None, -1]
    folds = list(GroupShareKFold(2).split(np.zeros(6), groups=groups))
    assert sorted(test.tolist() for _, test in folds) == [[0, 1], [2, 3]]
    assert all({4, 5} <= set(train) for train, _ in folds)


def test_refused():
    with pytest.raises(ValueError, match="groups must be the group of each row, got None"):
        next(GroupShareKFold(2).split(X))
    with pytest.raises(ValueError, match=r"n_splits=5 greater than the number of groups: 4"):
        next(GroupShareKFold(5).split(X, groups=GROUPS))


def test_common_rows_are_in_every_fit_of_a_search():
    random = np.random.default_rng(0)
    rows, groups = random.normal(size=(90, 2)), np.arange(90) // 6
    y = expand_proportions(group_proportions(rows[:, 0] > 0, groups), groups)
    groups[:12], y[:12] = -1, np.nan
    seen = []

    class Recording(TransferGroupProbabilitySVM):
        def fit(self, X, y, groups=None, sample_weight=None):
            seen.append(int(np.sum(np.asarray(groups) == -1)))
            return super().fit(X, y, groups=groups, sample_weight=sample_weight)

    with config_context(enable_metadata_routing=True):
        GridSearchCV(
            Recording(source=([1.0, 0.0], 0.0), kernel="linear", calibrate=None),
            {"transfer": [0.1, 1.0]},
            scoring=GroupErrorScorer(),
            cv=GroupShareKFold(3),
        ).fit(rows, y, groups=groups)
    assert seen == [12] * 7
