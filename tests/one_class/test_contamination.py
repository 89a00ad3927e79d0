"""Rows that may not belong to the class: what is left out, and where the threshold comes from."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from scarce import (
    SVDD,
    CalibratedOneClass,
    OneClassSVM,
    ScarceDataWarning,
    TransferOneClassSVM,
)
from scarce.chunks import ArrayChunks
from scarce.held_out import held_out_ranks, odd_rows, standardised_on_themselves

N, BAD = 100, 5


def dirty(seed, spread=0.05):
    """Return rows of a class, the last five of them anomalies, new rows and anomalies."""
    random = np.random.default_rng(seed)
    rows = np.r_[random.normal(size=(N - BAD, 4)), 4.0 + spread * random.normal(size=(BAD, 4))]
    return rows, random.normal(size=(500, 4)), 4.0 + spread * random.normal(size=(50, 4))


MODELS = [
    OneClassSVM(gamma="neighbors", nu=0.1, offset="left_out"),
    SVDD(gamma="neighbors", nu=0.1, offset="left_out"),
    TransferOneClassSVM(),
    CalibratedOneClass(),
    CalibratedOneClass(method="cv+"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("contamination", ["auto", 0.05])
def test_a_tight_cluster_of_anomalies_is_not_accepted(model, contamination):
    rows, _, anomalies = dirty(0)
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
        rows, new, _ = dirty(seed)
        scores = model.fit(rows).left_out_scores_
        assert np.isfinite(scores).all()
        k = int(0.1 * (N + 1))
        assert np.ravel(model.offset_)[0] == pytest.approx(np.sort(scores)[k - 1])
        # Rows that took no part are scored by the model as it is.
        np.testing.assert_allclose(
            scores[model.dropped_], model.score_samples(rows[model.dropped_]), rtol=1e-6
        )
        np.testing.assert_array_equal(model.predict(new) < 0, model.p_values(new) <= 0.1 + 1e-9)
        rates.append(np.mean(model.predict(new) < 0))
    # Five of the hundred rows are anomalies, which count as members.
    assert 0.02 < np.mean(rates) < 0.1
    model.set_params(contamination=0.0)


def test_dropped_rows_are_those_of_the_lowest_ranks():
    wide, narrow = np.arange(20.0), np.arange(20.0)[::-1]
    np.testing.assert_array_equal(
        np.flatnonzero(odd_rows(0.1, wide, None, np.ones(20))), [0, 1, 2, 3]
    )
    found = odd_rows(
        "auto", wide, lambda: narrow, np.ones(20)
    )  # 0.2 to the wide, fine to the other
    np.testing.assert_array_equal(np.flatnonzero(found), [0, 1, 2, 3])
    assert not odd_rows("auto", wide, lambda: wide, np.ones(20)).any()
    assert odd_rows(0.4, wide, None, np.ones(20)).sum() == 10  # never more than half
    weights = np.r_[3.0, np.ones(19)]
    repeated = held_out_ranks(np.repeat(wide, weights.astype(int)), np.ones(22))
    np.testing.assert_allclose(
        held_out_ranks(wide, weights), repeated[np.cumsum(weights).astype(int) - 1]
    )


def test_weights_are_repetition_with_contamination_too():
    rows, new, _ = dirty(1)
    random = np.random.default_rng(0)
    counts = random.integers(1, 3, N)
    given = {"contamination": 0.05, "tol": 1e-9}
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
