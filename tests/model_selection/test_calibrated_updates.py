"""`CalibratedOneClass.partial_fit`: a fit of the rows that are kept, when it is asked for."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce import CalibratedOneClass, OneClassSVM, load, save


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def kernel_pipeline(**more):
    return make_pipeline(StandardScaler(), OneClassSVM(gamma="neighbors", nu=0.1, **more))


def assert_same(model, fit, T):
    assert model.offset_ == fit.offset_
    np.testing.assert_array_equal(model.score_samples(T), fit.score_samples(T))
    np.testing.assert_array_equal(model.p_values(T), fit.p_values(T))
    np.testing.assert_array_equal(model.left_out_scores_, fit.left_out_scores_)
    assert model.false_alarm_range_ == fit.false_alarm_range_


@pytest.mark.parametrize("method", ["one_model", "cv+"])
@pytest.mark.parametrize("window", [None, 70])
@pytest.mark.parametrize(
    "estimator",
    [None, kernel_pipeline(), OneClassSVM(), IsolationForest(n_estimators=5, random_state=0)],
    ids=["default", "pipeline", "kernel", "forest"],
)
def test_it_is_a_fit_of_the_rows_that_are_kept(estimator, window, method):
    X, T = rows(100), rows(20, 1)
    settings = {"false_alarms": 0.2, "cv": 5, "method": method}
    model = CalibratedOneClass(estimator, window=window, **settings)
    for part in np.split(X, [60, 61, 90]):
        model.partial_fit(part)
    kept = X if window is None else X[-window:]
    assert_same(model, CalibratedOneClass(estimator, **settings).fit(kept), T)


def test_tables_and_sparse_rows():
    X, T = rows(90), rows(20, 1)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = CalibratedOneClass().partial_fit(table[:60]).partial_fit(table[60:])
    assert_same(model, CalibratedOneClass().fit(table), table[:10])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(table.rename(columns={"a": "z"}))
    inside = CalibratedOneClass(kernel_pipeline())
    inside.partial_fit(table[:60]).partial_fit(table[60:])
    assert_same(inside, CalibratedOneClass(kernel_pipeline()).fit(table), table[:10])
    thin = sparse.csr_array(np.where(np.abs(X) < 0.4, 0.0, X))
    few = CalibratedOneClass().partial_fit(thin[:60]).partial_fit(thin[60:])
    assert_same(few, CalibratedOneClass().fit(thin), sparse.csr_array(T))
    with pytest.raises(ValueError, match="X is dense, and the rows kept so far are sparse"):
        few.partial_fit(X)


def test_weights_count_rows_and_zero_is_absence():
    X, T = rows(80), rows(20, 1)
    weights = np.random.default_rng(2).integers(0, 3, 80).astype(float)
    model = CalibratedOneClass(OneClassSVM(), cv=5)
    model.partial_fit(X[:50], sample_weight=weights[:50])
    model.partial_fit(X[50:], sample_weight=weights[50:])
    assert model._kept_weights.size == np.count_nonzero(weights)
    counted = weights > 0
    fit = CalibratedOneClass(OneClassSVM(), cv=5).fit(X[counted], sample_weight=weights[counted])
    assert_same(model, fit, T)


class CountedFits(OneClassSVM):
    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_a_fit_is_done_once_when_it_is_asked_for():
    X = rows(80)
    CountedFits.fits = 0
    model = CalibratedOneClass(CountedFits(), cv=4).partial_fit(X[:40])
    assert CountedFits.fits == 5
    for row in range(40, 80):
        model.partial_fit(X[row : row + 1])
    assert CountedFits.fits == 5
    model.predict(X[:3])
    model.p_values(X[:3])
    assert CountedFits.fits == 10
    assert model.offset_ == CalibratedOneClass(OneClassSVM(), cv=4).fit(X).offset_


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.ones((2, 4)), "4 features"),
        (np.full((2, 3), np.nan), "NaN"),
        (np.array([["a", "b", "c"]]), "not of numbers|could not convert|numeric|words"),
        (sparse.csr_array(np.eye(3)), "X is sparse"),
    ],
)
@pytest.mark.parametrize("due", [False, True])
def test_bad_rows_are_refused_at_once_and_change_nothing(bad, words, due):
    X = rows(60)
    model = CalibratedOneClass().partial_fit(X[:40])
    if due:
        model.partial_fit(X[40:])
    with pytest.raises(ValueError, match=words):
        model.partial_fit(bad)
    wanted = CalibratedOneClass().fit(X if due else X[:40])
    assert_same(model, wanted, X[:5])


def test_an_interrupted_fit_is_done_again(monkeypatch):
    X = rows(60)
    model = CalibratedOneClass().partial_fit(X[:40]).partial_fit(X[40:])

    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(OneClassSVM, "fit", stop)
        with pytest.raises(KeyboardInterrupt):
            model.predict(X[:2])
    assert_same(model, CalibratedOneClass().fit(X), X[:5])


def test_saved_and_copied_in_the_middle():
    X = rows(90)
    model = CalibratedOneClass(window=60).partial_fit(X[:50]).partial_fit(X[50:70])
    loaded, other = pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    for each in (model, loaded, other):
        each.partial_fit(X[70:])
        assert_same(each, CalibratedOneClass().fit(X[30:]), X[:5])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_model_files_hold_the_rows(kind, tmp_path):
    X = kind(np.where(rows(90) > 0.2, rows(90), 0.0))
    model = CalibratedOneClass(window=60).partial_fit(X[:50]).partial_fit(X[50:70])
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops").partial_fit(X[70:])
    assert_same(loaded, CalibratedOneClass().fit(X[30:]), X[:5])


def test_fit_keeps_no_rows():
    X = rows(60)
    model = CalibratedOneClass().fit(X)
    with pytest.warns(UserWarning, match="fit keeps no rows: partial_fit begins anew"):
        model.partial_fit(X[:40])
    assert_same(model, CalibratedOneClass().fit(X[:40]), X[:5])
    model.partial_fit(X[40:]).fit(X[:50])
    assert "_kept_rows" not in vars(model)
    assert_same(model, CalibratedOneClass().fit(X[:50]), X[:5])


def test_what_is_refused():
    X = rows(40)
    with pytest.raises(ValueError, match="refers to rows by number, which is for fit"):
        CalibratedOneClass(cv=[(np.arange(20), np.arange(20, 40))]).partial_fit(X)
    with pytest.raises(ValueError, match="window"):
        CalibratedOneClass(window=1).partial_fit(X)
    with pytest.raises(NotFittedError):
        CalibratedOneClass().predict(X)
    with pytest.raises(AttributeError, match="offset_"):
        CalibratedOneClass().offset_  # noqa: B018


@pytest.mark.parametrize("window", [None, 150])
def test_the_rate_of_false_alarms_holds_over_a_stream(window):
    """Of 1,600 new rows, each judged before it is learnt, a tenth is rejected."""
    random, rejected = np.random.default_rng(4), 0
    model = CalibratedOneClass(kernel_pipeline(), false_alarms=0.1, window=window)
    model.partial_fit(random.normal(size=(150, 3)))
    for _ in range(16):
        X = random.normal(size=(100, 3))
        rejected += int((model.predict(X) < 0).sum())
        model.partial_fit(X)
    # Thresholds from 150 rows vary by about .025, less over a stream; 1,600 rows by .008.
    assert 0.07 <= rejected / 1600 <= 0.13
