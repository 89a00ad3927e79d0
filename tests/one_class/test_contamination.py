"""Rows that may not belong to the class: what is left out, and where the threshold comes from."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics.pairwise import rbf_kernel

from scarce import (
    SVDD,
    CalibratedOneClass,
    OneClassSVM,
    ScarceDataWarning,
    TransferOneClassSVM,
)
from scarce.chunks import ArrayChunks
from scarce.held_out import (
    held_out_ranks,
    most_dropped,
    odd_groups,
    odd_rows,
    representatives,
    standardised_on_themselves,
)

N, BAD = 100, 5


def dirty(seed, spread=0.05, columns=4):
    """Return rows of a class, the last five of them anomalies, new rows and anomalies."""
    random = np.random.default_rng(seed)
    clean, bad, new = (random.normal(size=(n, columns)) for n in (N - BAD, BAD, 500))
    anomalies = 4.0 + spread * random.normal(size=(50, columns))
    return np.r_[clean, 4.0 + spread * bad], new, anomalies


MODELS = [
    OneClassSVM(gamma="neighbors", nu=0.1, offset="left_out"),
    SVDD(gamma="neighbors", nu=0.1, offset="left_out"),
    TransferOneClassSVM(),
    CalibratedOneClass(),
    CalibratedOneClass(method="cv+"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("contamination", ["auto", 0.05])
@pytest.mark.parametrize("spread", [0.05, 0.0])
def test_a_tight_cluster_of_anomalies_is_not_accepted(model, contamination, spread):
    rows, _, anomalies = dirty(0, spread)
    accepted = model.set_params(contamination=0.0).fit(rows).predict(anomalies)
    assert (accepted == 1).all()  # what the option is for
    assert model.dropped_.size == 0
    model.set_params(contamination=contamination).fit(rows)
    assert set(range(N - BAD, N)) <= set(model.dropped_)
    assert model.dropped_.size <= 0.1 * N
    assert (model.predict(anomalies) == -1).all()
    assert (model.left_out_scores_[-BAD:] < model.offset_).all()


@pytest.mark.parametrize("model", MODELS[:4], ids=lambda model: type(model).__name__)
def test_the_threshold_is_among_the_held_out_scores_of_all_rows(model):
    model.set_params(contamination=0.1)
    rates = []
    for seed in range(8):
        rows, new, _ = dirty(seed, columns=8)  # of which no two are nearly equal by chance
        scores = model.fit(rows).left_out_scores_
        assert np.isfinite(scores).all()
        # But for those of the five anomalies, which are known as such.
        assert set(range(N - BAD, N)) <= set(model.dropped_)
        k = int(0.1 * (N - BAD + 1))
        assert np.ravel(model.offset_)[0] == pytest.approx(np.sort(scores[:-BAD])[k - 1])
        # Rows that took no part are scored by the model as it is.
        np.testing.assert_allclose(
            scores[model.dropped_], model.score_samples(rows[model.dropped_]), rtol=1e-6
        )
        np.testing.assert_array_equal(model.predict(new) < 0, model.p_values(new) <= 0.1 + 1e-9)
        rates.append(np.mean(model.predict(new) < 0))
    assert 0.06 < np.mean(rates) < 0.14
    model.set_params(contamination=0.0)


@pytest.mark.parametrize("kernel", ["precomputed", "laplacian"])
def test_equal_anomalies_are_found_with_other_kernels(kernel):
    X, _, anomalies = dirty(0, 0.0)
    new = anomalies[:1]
    if kernel == "precomputed":
        X, new = rbf_kernel(X, gamma=0.5), rbf_kernel(new, X, gamma=0.5)
    model = OneClassSVM(kernel=kernel, nu=0.1, offset="left_out").fit(X)
    assert model.predict(new)[0] == 1
    model.set_params(contamination="auto").fit(X)
    assert set(range(N - BAD, N)) <= set(model.dropped_)
    assert model.predict(new)[0] == -1


def near_rows(rows, weights=None, most=0.2):
    """Return the groups of rows on a line."""
    rows = np.asarray(rows, float)
    first, members = np.unique(rows, return_inverse=True)
    weights = np.ones(rows.size) if weights is None else np.asarray(weights, float)
    places, groups = representatives(
        lambda i, j: np.outer(first[i], first[j]), members, weights, most
    )
    for group in groups:
        assert np.ptp(places[group]) == 0
    return [group.tolist() for group in groups]


def test_groups_are_rows_nearer_than_half_of_what_is_usual():
    usual = np.arange(20.0)
    assert near_rows(usual) == []
    assert near_rows([*usual, 40.0, 40.4, 40.8]) == [[20, 21, 22]]
    assert near_rows([*usual, 40.0, 40.6, 41.2]) == []
    assert near_rows([*usual, 40.0, 40.0, 40.0]) == [[20, 21, 22]]
    # No more than a proportion of all rows, and only what repeats more than the others do.
    assert near_rows([*usual, *[40.0] * 6]) == []
    assert near_rows([*usual, *[40.0] * 6], most=0.5) == [list(range(20, 26))]
    twice = np.repeat(usual, 2)
    assert near_rows([*twice, 40.0, 40.0, 40.0]) == []
    assert near_rows([*twice, 40.0, 40.0, 40.0, 40.0]) == [[40, 41, 42, 43]]
    assert near_rows([*usual, 40.0], [*np.ones(20), 4.0]) == [[20]]
    assert near_rows(np.zeros(9)) == []
    assert near_rows(np.full(9, 3.0) + 1e-9 * np.arange(9)) == []  # no more than rounding


def test_groups_do_not_depend_on_blocks_of_rows(monkeypatch):
    random = np.random.default_rng(0)
    rows = np.r_[random.normal(size=60), 9.0 + 1e-3 * random.normal(size=5)]
    whole = near_rows(rows)
    assert list(range(60, 65)) in whole
    monkeypatch.setattr("scarce.held_out._tight_groups.BLOCK", 7 * 65)
    assert near_rows(rows) == whole


def test_groups_are_odd_where_few_other_rows_score_lower():
    scores = np.r_[np.arange(10.0), 1.5, 1.5, 2.5, 2.5]
    groups = [np.array([12, 13]), np.array([10, 11])]
    found = odd_groups(groups, scores, np.ones(14))
    # Two of the twelve others are below the one; five of twelve, with the other group, below that.
    assert [group.tolist() for group in found] == [[10, 11]]
    weights = np.ones(14)
    weights[5:10] = 10.0
    assert [group.tolist() for group in odd_groups(groups, scores, weights)] == [[10, 11], [12, 13]]


def test_groups_are_dropped_before_other_rows_and_count_for_nothing():
    wide, tight = np.arange(20.0), [np.array([18, 19]), np.array([16, 17])]
    for share, rows, counted in (
        (0.05, [18, 19], [0, 0]),
        (0.1, [16, 17, 18, 19], [0, 0, 0, 0]),
        (0.15, [0, 1, 16, 17, 18, 19], [1, 1, 0, 0, 0, 0]),
    ):
        found = odd_rows(share, wide, None, np.ones(20), tight)
        np.testing.assert_array_equal(found, (rows, counted))
    found = odd_rows("auto", wide, lambda: wide, np.ones(20), tight)
    np.testing.assert_array_equal(found, ([16, 17, 18, 19], np.zeros(4)))
    assert (most_dropped("auto"), most_dropped(0.1), most_dropped(0.4)) == (0.2, 0.2, 0.5)


@pytest.mark.parametrize("rate", [0.005, 0.1])
def test_anomalies_that_count_for_nothing_are_never_the_threshold(rate):
    rows = dirty(0, columns=8)[0]
    for model in (CalibratedOneClass(), OneClassSVM(gamma="neighbors"), TransferOneClassSVM()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScarceDataWarning)  # of a rate that is not attainable
            model.set_params(contamination="auto", false_alarms=rate).fit(rows)
        scores = model.left_out_scores_
        k = max(1, int(rate * (N - BAD + 1)))
        assert np.ravel(model.offset_)[0] == pytest.approx(np.sort(scores[:-BAD])[k - 1])
        assert (scores[-BAD:] < model.offset_).all()
        np.testing.assert_allclose(model.p_values(rows[-1:]), 1 / (N - BAD + 1))


def test_near_rows_that_are_like_the_others_are_kept():
    random = np.random.default_rng(0)
    rows = random.normal(size=(80, 4))
    rows[-4:] = 0.1 + 1e-3 * random.normal(size=(4, 4))  # in the middle of the class
    for model in (CalibratedOneClass(), OneClassSVM(gamma="neighbors", nu=0.1)):
        model.set_params(contamination="auto").fit(rows)
        assert not set(model.dropped_) & set(range(76, 80))
        assert model.predict(rows[-4:]).tolist() == [1] * 4


def test_rows_that_all_repeat_are_not_called_anomalies():
    random = np.random.default_rng(1)
    rows = random.integers(0, 3, size=(150, 4)).astype(float)
    dropped = CalibratedOneClass(contamination="auto").fit(rows).dropped_
    assert dropped.size <= 0.1 * 150


def test_dropped_rows_are_those_of_the_lowest_ranks():
    wide, narrow = np.arange(20.0), np.arange(20.0)[::-1]
    np.testing.assert_array_equal(odd_rows(0.1, wide, None, np.ones(20))[0], [0, 1, 2, 3])
    thrice = np.full(20, 3.0)  # as many as 60 rows
    found = odd_rows("auto", wide, lambda: narrow, thrice)  # 0.2 to the wide, fine to the other
    np.testing.assert_array_equal(found, ([0, 1, 2, 3], thrice[:4]))
    assert odd_rows("auto", wide, lambda: wide, thrice)[0].size == 0
    # Of few rows only groups: what is odd to the wide kernel alone may be the tail of the class.
    assert odd_rows("auto", wide, lambda: narrow, np.ones(20))[0].size == 0
    group = [np.array([5, 7])]
    assert odd_rows("auto", wide, lambda: narrow, np.ones(20), group)[0].tolist() == [5, 7]
    assert odd_rows(0.4, wide, None, np.ones(20))[0].size == 10  # never more than half
    weights = np.r_[3.0, np.ones(19)]
    repeated = held_out_ranks(np.repeat(wide, weights.astype(int)), np.ones(22))
    np.testing.assert_allclose(
        held_out_ranks(wide, weights), repeated[np.cumsum(weights).astype(int) - 1]
    )


@pytest.mark.parametrize("contamination", [0.05, "auto"])
def test_weights_are_repetition_with_contamination_too(contamination):
    rows, new, _ = dirty(1)
    random = np.random.default_rng(0)
    counts = random.integers(1, 3, N)
    given = {"contamination": contamination, "tol": 1e-9}
    for model in (OneClassSVM(gamma="neighbors", **given), TransferOneClassSVM(**given)):
        once = model.fit(rows, sample_weight=counts).decision_function(new)
        often = model.fit(np.repeat(rows, counts, axis=0)).decision_function(new)
        np.testing.assert_allclose(often, once, atol=1e-7 * np.abs(once).max())


def test_other_detectors_leave_out_what_they_find_odd_themselves():
    rows, _, anomalies = dirty(2)
    forest = IsolationForest(n_estimators=30, random_state=0)
    model = CalibratedOneClass(forest, contamination=0.05).fit(rows)
    assert set(range(N - BAD, N)) <= set(model.dropped_)
    assert (model.predict(anomalies) == -1).all()
    with pytest.raises(ValueError, match="IsolationForest has no kernel: give the proportion"):
        CalibratedOneClass(forest, contamination="auto").fit(rows)


def test_only_rows_of_the_target_are_dropped():
    rows, _, anomalies = dirty(3)
    source = np.random.default_rng(0).normal(0.3, 1.0, size=(80, 4))
    X, domain = np.r_[source, rows], np.r_[np.zeros(80, int), np.full(N, -1)]
    model = TransferOneClassSVM(contamination=0.05).fit(X, sample_domain=domain)
    assert model.dropped_.min() >= 80
    assert (model.predict(anomalies) == -1).all()


# Rates by name.


@pytest.mark.parametrize("kind", [OneClassSVM, SVDD])
def test_a_rate_implies_held_out_scores(kind):
    rows = dirty(0)[0]
    asked = kind(false_alarms=0.05).fit(rows)
    said = kind(offset="left_out", false_alarms=0.05).fit(rows)
    np.testing.assert_array_equal(asked.offset_, said.offset_)
    assert asked.false_alarms_ == 0.05
    assert kind(offset="left_out").fit(rows).false_alarms_ == 0.1
    plain = kind().fit(rows)
    assert not hasattr(plain, "false_alarms_")
    np.testing.assert_array_equal(plain.offset_, kind(offset="training").fit(rows).offset_)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (OneClassSVM(offset="training", false_alarms=0.1), r"false_alarms=0\.1.*\"training\""),
        (SVDD(offset="training", contamination="auto"), r"contamination='auto'.*\"training\""),
        (TransferOneClassSVM(offset="original", false_alarms=0.2), r"0\.2.*\"original\""),
    ],
)
def test_a_rate_that_would_be_ignored_is_refused(model, named):
    with pytest.raises(ValueError, match=named):
        model.fit(dirty(0)[0])


def test_rows_in_chunks_have_no_contamination():
    model = OneClassSVM(kernel="linear", contamination=0.1)
    with pytest.raises(ValueError, match=r"contamination=0\.1 compares all rows"):
        model.fit(ArrayChunks(dirty(0)[0] + 9.0, rows=20))


# Rows that were scaled on themselves.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_standardised_on_themselves_are_told(dtype):
    rows = (3.0 * dirty(0)[0][:30] + 7.0).astype(dtype)
    scaled = ((rows - rows.mean(axis=0)) / rows.std(axis=0)).astype(dtype)
    assert standardised_on_themselves(scaled)
    constant = np.c_[scaled, np.zeros(30)].astype(dtype)
    assert standardised_on_themselves(constant)
    for others in (rows, scaled[:29], np.zeros((30, 2), dtype)):
        assert not standardised_on_themselves(others)
    for model in (OneClassSVM(false_alarms=0.1), TransferOneClassSVM()):
        with pytest.warns(ScarceDataWarning, match="Put the scaler inside: CalibratedOneClass"):
            model.fit(scaled)
        model.fit(rows)
