"""Ids of groups, shares, calibration: what is read, what is refused, what is warned of."""

import datetime

import numpy as np
import pandas as pd
import pytest

from scarce import ScarceDataWarning
from scarce.proportions import expand_proportions, group_error, group_proportions, read_groups
from tests.proportions.internals import clip_bounds, probabilities, wanted_scores
from tests.proportions.published import GroupProbabilitySVM, TransferGroupProbabilitySVM

BOTH = [GroupProbabilitySVM, TransferGroupProbabilitySVM]
NAMES = ["a", "a", "b", "b", "c", "c"]
SHARES = [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]


def rows(n=6):
    return np.random.default_rng(0).normal(size=(n, 2))


DAYS = [datetime.date(2020, 1, day) for day in (1, 1, 2, 2, 3, 3)]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    "groups",
    [
        [5, 5, 9, 9, 7, 7],
        np.array([5, 5, 9, 9, 7, 7], dtype=np.uint8),
        [1.5, 1.5, 2.5, 2.5, 3.5, 3.5],
        NAMES,
        np.array(NAMES),
        np.array([name.encode() for name in NAMES]),
        pd.Series(NAMES, index=range(6)[::-1]),
        pd.Categorical(NAMES),
        pd.array(NAMES, dtype="string"),
        [("x", 1), ("x", 1), ("x", 2), ("x", 2), ("y", 1), ("y", 1)],
        DAYS,
        [None.__class__, None.__class__, int, int, str, str],
        [-3, -3, -4, -4, 0, 0],
    ],
    ids=lambda groups: type(groups).__name__ + str(groups)[:12],
)
def test_any_hashable_ids(kind, groups):
    plain = kind(epsilon=0.0).fit(rows(), SHARES, np.repeat([0, 1, 2], 2))
    model = kind(epsilon=0.0).fit(rows(), SHARES, groups)
    expected = plain.decision_function(rows())
    np.testing.assert_allclose(model.decision_function(rows()), expected, atol=1e-9)
    np.testing.assert_array_equal(model.classes_, [0, 1])


@pytest.mark.parametrize("mark", [-2, None, np.nan, pd.NA, float("nan")])
def test_leftover_rows_take_no_part(mark):
    X = rows(8)
    groups = np.array([*NAMES, mark, mark], dtype=object)
    y = [*SHARES, np.nan, np.nan]
    model = GroupProbabilitySVM().fit(X, y, groups)
    alone = GroupProbabilitySVM().fit(X[:6], SHARES, NAMES)
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-9)
    numbers = np.array([1, 1, 2, 2, 3, 3, -2, -2], dtype=float)
    numbers[-1] = np.nan
    again = GroupProbabilitySVM().fit(X, y, numbers)
    np.testing.assert_allclose(again.decision_function(X), alone.decision_function(X), atol=1e-9)


def test_codes():
    codes, ids = read_groups(["b", -1, "a", None, "b", -2], 6)
    np.testing.assert_array_equal(codes, [0, -1, 1, -2, 0, -2])
    assert ids == ["b", "a"]
    codes, ids = read_groups(np.array([7, -1, 3, -2, 7]), 5)
    np.testing.assert_array_equal(codes, [1, -1, 0, -2, 1])
    assert ids == [3, 7]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("y", "groups", "words"),
    [
        ([0, 0, 0.5, 0.4, 1, 1], NAMES, "constant in a group.*'b' have proportions 0.5 and 0.4"),
        ([0, 0, 0.5, 0.5, 1.2, 1.2], NAMES, "between 0 and 1, got 1.2"),
        ([0, 0, 0.5, 0.5, -0.1, -0.1], NAMES, "between 0 and 1, got -0.1"),
        ([0, 0, 0.5, np.nan, 1, 1], NAMES, "row 3 of group 'b' has NaN, which only common"),
        ([0, 0, 0.5, np.inf, 1, 1], NAMES, "contains infinity"),
        (SHARES, NAMES[:-1], r"one id for each of the 6 rows, got shape \(5,\)"),
        (SHARES, 3, "groups must hold one id for each row, got 3"),
        (SHARES, np.zeros((6, 2)), r"one id for each of the 6 rows, got shape \(6, 2\)"),
        (SHARES, [["a"], ["a"], ["b"], ["b"], ["c"], ["c"]], r"hashable ids, got \['a'\] of list"),
        (SHARES, np.array(["a", "a", "b", "b", "-1", "-1"]), "holds the text '-1'"),
        (SHARES, [1, 1, 2, 2, -2, -2], "row 4 has groups=-2 .* its y is 1.0; give NaN, or another"),
        ([np.nan] * 6, [None] * 6, "at least one group or one common row .* 6 leftover rows"),
        (SHARES[:5], NAMES, "inconsistent numbers of samples"),
        (["low"] * 6, NAMES, "could not convert string"),
        (None, NAMES, "requires y to be passed"),
    ],
)
def test_groups_and_shares_that_do_not_fit(kind, y, groups, words):
    with pytest.raises(ValueError, match=words):
        kind().fit(rows(), y, groups)


def test_common_rows_need_a_source():
    groups, y = [1, 1, 2, 2, -1, -1], [0.0, 0.0, 1.0, 1.0, np.nan, np.nan]
    with pytest.raises(ValueError, match=r"2 rows as common .* source=None; give a source"):
        TransferGroupProbabilitySVM().fit(rows(), y, groups)
    with pytest.raises(ValueError, match=r"2 rows as common .* use TransferGroupProbabilitySVM"):
        GroupProbabilitySVM().fit(rows(), y, groups)


@pytest.mark.parametrize("kind", BOTH)
def test_parameters_out_of_range(kind):
    for name, value in (("clip", 0.0), ("clip", 0.5), ("clip", "best"), ("epsilon", -0.1)):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of {kind.__name__} must be"):
            kind(**{name: value}).fit(rows(), SHARES, NAMES)


def test_costs_out_of_range():
    for name in ("C_common", "C_group", "transfer"):
        for value in (-1.0, np.inf) if name == "transfer" else (0.0, -1.0, np.inf):
            with pytest.raises(ValueError, match=f"'{name}' parameter"):
                TransferGroupProbabilitySVM(**{name: value}).fit(rows(), SHARES, NAMES)


@pytest.mark.parametrize("kind", BOTH)
def test_a_tube_that_contains_zero(kind):
    # q (1 - q) |z| is 0.2060 for the share of 1/4 and 0.2128 for pure groups of four.
    y, groups = np.repeat([0.0, 0.25, 1.0], 4), np.repeat([0, 1, 2], 4)
    with pytest.warns(UserWarning, match=r"tubes of 1 of 3 groups contain 0.*below 0.206") as seen:
        kind(epsilon=0.21).fit(rows(12), y, groups)
    assert seen[0].filename == __file__
    kind(epsilon=0.2).fit(rows(12), y, groups)  # no warning: those are errors here


@pytest.mark.parametrize(
    ("q", "useful"), [(0.125, 0.2128), (0.05, 0.1399), (0.01, 0.0455), (0.001, 0.0069)]
)
def test_largest_useful_tolerance(q, useful):
    # Figures of the specification's table.
    shares, sizes = np.array([q]), np.array([1000.0])
    for epsilon, contains in ((0.99 * useful, False), (1.02 * useful, True)):
        score, tube = wanted_scores(shares, sizes, epsilon, 1e-4)
        assert (tube[0] >= abs(score[0])) == contains


def test_wanted_scores():
    score, tube = wanted_scores(np.array([0.125]), np.array([8.0]), 1.0, "auto")
    assert score[0] == pytest.approx(-1.9459, abs=1e-4)
    assert tube[0] == pytest.approx(9.14, abs=5e-3)
    np.testing.assert_allclose(
        clip_bounds(np.array([1.0, 2.0, 4.0, 8.0, 1e4]), "auto"), [0.25, 0.25, 0.125, 0.0625, 1e-3]
    )


@pytest.mark.parametrize("kind", BOTH)
def test_equal_shares_everywhere(kind):
    with pytest.warns(UserWarning, match=r"no contrast|every offset between") as seen:
        model = kind().fit(rows(), [0.25] * 6, NAMES)
    assert "no contrast" in str(seen[0].message)
    assert seen[0].category is ScarceDataWarning
    assert {each.filename for each in seen} == {__file__}
    np.testing.assert_allclose(model.decision_function(rows()), np.log(1 / 3), atol=1e-12)


def test_the_middle_of_the_offsets_when_nothing_pulls():
    # Shares within each other's tolerance: no weights are needed.
    y = [0.5, 0.5, 0.52, 0.52, 0.51, 0.51]
    with (
        pytest.warns(UserWarning, match="tubes of 2 of 3 groups contain 0"),
        pytest.warns(UserWarning, match=r"every offset between .* is optimal, and the middle"),
    ):
        model = TransferGroupProbabilitySVM(epsilon=0.1).fit(rows(), y, NAMES)
    q = np.array([0.5, 0.52, 0.51])
    z, tube = np.log(q / (1 - q)), 0.1 / (q * (1 - q))
    middle = 0.5 * ((z - tube).max() + (z + tube).min())
    assert model.intercept_[0] == pytest.approx(middle)
    assert model.dual_coef_.size == 0
    np.testing.assert_allclose(model.decision_function(rows()), middle)


def test_helpers_go_back_and_forth():
    labels = [1, 0, 1, 1, 0, 0, 1]
    groups = ["a", "a", "b", "b", "c", -1, None]
    shares = group_proportions(labels, groups)
    assert shares == {"a": 0.5, "b": 1.0, "c": 0.0}
    y = expand_proportions(shares, groups)
    np.testing.assert_array_equal(y, [0.5, 0.5, 1.0, 1.0, 0.0, np.nan, np.nan])
    weighted = group_proportions(labels, groups, sample_weight=[3, 1, 1, 1, 1, 1, 1])
    assert weighted["a"] == 0.75
    several = group_proportions(["x", "y", "z", "x"], [1, 1, 1, 2])
    np.testing.assert_allclose(several[1], 1 / 3)
    np.testing.assert_array_equal(several[2], [1, 0, 0])
    assert expand_proportions(several, [2, 1]).shape == (2, 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: expand_proportions({"a": 0.5}, ["a", "b"]), r"it has none for \['b'\]"),
        (lambda: expand_proportions({"a": 0.5, "b": 1}, ["a"]), r"empty groups: .*\['b'\]"),
        (lambda: expand_proportions([0.5], ["a", "b"]), r"each of the 2 groups, .*shape \(1,\)"),
        (lambda: expand_proportions([0.5, 1], ["a", 2]), r"\['a', 2\] have no order; give"),
        (lambda: expand_proportions(0.5, ["a"]), r"each of the 1 groups, .*shape \(\)"),
        (lambda: expand_proportions({"a": 1.5}, ["a"]), "between 0 and 1, got 1.5"),
        (lambda: expand_proportions({"a": 1, "b": [0, 1]}, ["a", "b"]), r"equally many.*\[1, 2\]"),
        (lambda: expand_proportions({"a": [0.5, 0.6]}, ["a"]), "must sum to 1, got 1.1"),
        (lambda: group_proportions([1, 1], ["a", "a"]), r"one class \[1\]; give classes"),
        (lambda: group_proportions([1, 2], ["a", "a"], classes=[0, 1]), "only the classes"),
        (
            lambda: group_proportions([0, 1], ["a", "b"], sample_weight=[0, 1]),
            "every row of group 'a' has sample_weight 0",
        ),
        (lambda: group_error([0.5], [2], ["a"]), r"predicted must hold the classes \[0, 1\]"),
        (lambda: group_error([0.5], [1], [-1]), "no group with a row of positive weight"),
        (lambda: group_error([0.5], [[0.2, 0.3, 0.5]], ["a"]), "2 classes, predicted has 3"),
    ],
)
def test_helpers_refuse(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_group_error_bounds_the_accuracy():
    rng = np.random.default_rng(0)
    labels, found = rng.integers(0, 2, size=(2, 60))
    groups = rng.integers(0, 9, size=60)
    y = expand_proportions(group_proportions(labels, groups), groups)
    assert 1 - group_error(y, found, groups) >= np.mean(labels == found)
    assert group_error(y, labels, groups) == pytest.approx(0.0, abs=1e-15)
    by_hand = sum(
        abs(labels[groups == g].sum() - found[groups == g].sum()) for g in np.unique(groups)
    )
    assert group_error(y, found, groups) == pytest.approx(by_hand / 60)
    # Probabilities of nought and one are labels; rows left out do not count.
    certain = np.column_stack([1 - found, found])
    assert group_error(y, certain, groups) == pytest.approx(by_hand / 60)
    marked = groups.astype(float)
    marked[groups == 0] = -1
    some = groups != 0
    assert group_error(y, found, marked) == pytest.approx(
        group_error(y[some], found[some], groups[some])
    )


def test_probabilities_of_several_classes():
    scores = np.array([[0.0, 0.0, 0.0], [2.0, -1.0, -1.0], [-800.0, -801.0, -802.0]])
    found = probabilities(scores)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found[0], 1 / 3)
    assert found[2].argmax() == 0


def test_proportions_in_the_order_of_the_groups():
    groups = np.array([5, 1, 0, 1, 5])
    # As llp-learn has them: one for each bag. 0 and 1 are groups here, and not values.
    found = expand_proportions(np.array([0.25, 1.0, 0.0]), groups)
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.25, 1.0, 0.0])
    several = [[0.2, 0.8, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    np.testing.assert_array_equal(expand_proportions(several, groups)[2], several[0])
    series = pd.Series([0.25, 1.0, 0.0], index=[5, 1, 0])  # by its index
    np.testing.assert_array_equal(expand_proportions(series, groups), [0.25, 1.0, 0.0, 1.0, 0.25])
