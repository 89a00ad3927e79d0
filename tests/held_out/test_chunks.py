"""Thresholds of rows left out, chunk by chunk: the wanted rate of false alarms on fresh rows."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from scarce import CalibratedOneClass, OneClassSVM, TransferOneClassSVM
from scarce.chunks import ArrayChunks
from scarce.held_out import Parts, WithoutPart, _chunks, _target_of_chunks
from scarce.solvers import solve
from tests.chunks.sources import NAMES, chunks_of, rows

# A narrow kernel and many landmarks: the offset of the training rows rejects twice the share.
NARROW = {"gamma": 1.5, "approximation": "nystroem", "n_components": 200, "random_state": 0}


def normal(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.mark.parametrize("name", NAMES)
def test_parts_are_of_the_rows_and_not_of_the_chunks(name, tmp_path):
    X = normal(1500, 0)
    X[700:800] = X[:100]  # rows given twice are left out together
    parts = Parts.of(1500)
    assert (parts.number, parts.left_out) == (10, 10)
    whole = parts.of_rows(X)
    np.testing.assert_array_equal(whole[700:800], whole[:100])
    assert np.bincount(whole, minlength=10).min() > 100
    view = WithoutPart(chunks_of(name, tmp_path, X, step=400), parts, 3)
    weights = np.concatenate(view.map(lambda part: part.weights))
    np.testing.assert_array_equal(weights == 0, whole == 3)
    scores, counted = view.scores(lambda rows: rows[:, 0])
    np.testing.assert_array_equal(scores, X[whole == 3, 0])
    np.testing.assert_array_equal(counted, np.ones(scores.size))


def test_of_many_rows_enough_are_left_out():
    numbers = [
        (parts.number, parts.left_out) for parts in map(Parts.of, (10**5, 4 * 10**5, 2 * 10**7))
    ]
    assert numbers == [(10, 10), (10, 3), (200, 1)]


def test_landmarks_are_in_no_part():
    X = normal(300, 0)
    parts = Parts.of(300, X[:40])
    found = parts.of_rows(X)
    assert (found[:40] == 10).all()
    np.testing.assert_array_equal(found[40:], Parts.of(300).of_rows(X)[40:])


def test_fresh_rows_are_rejected_at_the_wanted_rate():
    fresh = normal(20_000, 2)
    rates, own = [], []
    for seed in range(3):
        chunks = ArrayChunks(normal(700, 10 + seed), rows=250)
        model = OneClassSVM(nu=0.1, offset="left_out", **NARROW).fit(chunks)
        rates.append(np.mean(model.predict(fresh) == -1))
        own.append(np.mean(OneClassSVM(nu=0.1, **NARROW).fit(chunks).predict(fresh) == -1))
        assert model.left_out_scores_.size == 500
        assert model.false_alarm_range_[0] < 0.1 < model.false_alarm_range_[1]
    # A threshold of 500 rows, three times: the standard error is .0077.
    assert abs(np.mean(rates) - 0.1) < 0.025
    assert np.mean(own) > 0.17
    assert abs(np.mean(model.p_values(fresh) <= 0.1) - rates[-1]) < 0.002


def test_the_threshold_is_near_that_of_a_fit_in_memory():
    X, _, weights = rows(n=2500)
    settings = {"nu": 0.2, "offset": "left_out", "approximation": "nystroem", "n_components": 60}
    model = OneClassSVM(random_state=0, **settings)
    model.fit(ArrayChunks(X, rows=600, sample_weight=weights))
    expected = OneClassSVM(random_state=0, **settings).fit(X, sample_weight=weights)
    share = weights @ (expected.decision_function(X) < 0) / weights.sum()
    own = weights @ (model.decision_function(X) < 0) / weights.sum()
    assert own == pytest.approx(share, abs=0.01)  # other parts, the same rate
    assert model.left_out_scores_.size == np.count_nonzero(weights) - 60


def test_nothing_but_enough_is_left_out(monkeypatch):
    monkeypatch.setattr(_chunks, "ENOUGH", 300)
    X, fresh = normal(6000, 3), normal(20_000, 4)
    model = OneClassSVM(kernel="linear", nu=0.2, offset="left_out").fit(ArrayChunks(X + 3.0))
    assert 200 < model.left_out_scores_.size < 400
    assert np.mean(model.predict(fresh + 3.0) == -1) == pytest.approx(0.1, abs=0.07)


def test_fits_without_a_part_say_that_they_ended_early():
    chunks = ArrayChunks(normal(400, 0) + 3.0, rows=100)
    # Enough for all rows, and not for some of the fits without a part.
    model = OneClassSVM(kernel="linear", nu=0.2, max_iter=5, offset="left_out")
    with pytest.warns(ConvergenceWarning, match="Fits without some rows ended early"):
        model.fit(chunks)
    assert model.fit_status_ == 0


def test_fits_without_rows_of_the_target_say_that_they_ended_early(monkeypatch):
    domain = np.where(np.arange(1200) < 60, -1, np.arange(1200) % 2)
    chunks = ArrayChunks(normal(1200, 0) + 3.0, rows=300, sample_domain=domain)
    model = TransferOneClassSVM(kernel="linear", nu=0.2, offset="left_out", relation="keep")
    model.fit(chunks)  # without a warning

    def cut_short(program, *, start, **options):
        # Far from the optimum, as the equal shares are, and not a step from there.
        away = np.full(start.size, np.nan)
        for group, total in enumerate(program.totals):
            own = program.groups == group
            away[own] = total * program.upper[own] / program.upper[own].sum()
        return solve(program, **{**options, "max_iter": 0}, start=away)

    monkeypatch.setattr(_target_of_chunks, "solve", cut_short)
    with pytest.warns(ConvergenceWarning, match="Fits without some rows ended early"):
        model.fit(chunks)
    assert model.fit_status_ == 0


def test_rows_of_one_part_are_refused():
    with pytest.raises(ValueError, match=r'offset="left_out" needs at least 2 distinct rows'):
        OneClassSVM(kernel="linear", offset="left_out").fit(ArrayChunks(np.ones((50, 2))))


def test_detectors_in_general_need_their_rows_in_memory():
    with pytest.raises(TypeError, match=r'CalibratedOneClass.fit needs .*offset="left_out"'):
        CalibratedOneClass(OneClassSVM(kernel="linear")).fit(ArrayChunks(normal(100, 0)))
