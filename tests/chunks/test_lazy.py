"""Answers for Dask collections: lazy, of the same kind and chunks, those of one process."""

from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control

import scarce
from scarce.chunks import ArrayChunks
from tests.chunks.sources import rows
from tests.subjects import SUBJECTS

X, Y, _ = rows(n=160)


@pytest.fixture(scope="module")
def models():
    frame = pd.DataFrame(X, columns=list("abcd"))
    one_class = scarce.OneClassSVM(nu=0.2, offset="left_out").fit(frame)
    svc = scarce.SVC().fit(X, Y)
    shares = scarce.GroupProbabilitySVM().fit(X, (Y == 5).astype(int))
    tasks = scarce.TransferOneClassSVM().fit(X, sample_domain=np.where(Y == 5, 1, -1))
    return {"one_class": one_class, "svc": svc, "shares": shares, "tasks": tasks}


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("svc", "predict"),
        ("svc", "decision_function"),
        ("shares", "predict_proba"),
        ("tasks", "score_samples"),
        ("tasks", "p_values"),
    ],
)
def test_arrays(models, name, method):
    answer = getattr(models[name], method)
    blocks = da.from_array(X, chunks=(60, 3))
    lazy = answer(blocks)
    assert isinstance(lazy, da.Array)
    assert lazy.chunks[0] == (60, 60, 40)
    found = lazy.compute()
    by_block = np.concatenate([answer(X[a : a + 60]) for a in (0, 60, 120)])
    assert found.dtype == lazy.dtype == by_block.dtype
    np.testing.assert_array_equal(found, by_block)  # the same bits
    if method != "p_values":  # which jump at the scores of training rows
        np.testing.assert_allclose(found, answer(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("method", ["predict", "decision_function", "score_samples", "p_values"])
def test_frames(models, method):
    answer = getattr(models["one_class"], method)
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(160) * 3)
    lazy = answer(dd.from_pandas(frame, npartitions=3))
    assert isinstance(lazy, dd.Series)
    assert lazy.npartitions == 3
    found = lazy.compute()
    assert found.index.equals(frame.index)
    borders = np.cumsum([0, *lazy.map_partitions(len).compute()])
    by_block = [answer(frame[a:b]) for a, b in pairwise(borders)]
    np.testing.assert_array_equal(found.to_numpy(), np.concatenate(by_block))


def test_lines_of_answers_and_blocks_without_rows(models):
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    found = models["shares"].predict_proba(frame[frame[0] > 1e9])
    assert isinstance(found, dd.DataFrame)
    assert found.compute().shape == (0, 2)


@pytest.mark.parametrize("name", ["one_class", "tasks"])
def test_selections(models, name):
    model = models[name]
    frame = pd.DataFrame(2.0 * X, index=np.arange(160) * 3)
    if name == "one_class":
        frame.columns = list("abcd")
    parts = [frame[:60], frame[60:120], frame[120:]]
    p_values = np.concatenate([model.p_values(part) for part in parts])
    expected = false_discovery_control(p_values) <= 0.3
    assert 0 < expected.sum() < 160
    lazy = model.select(dd.from_map(lambda part: part, parts), fdr=0.3)
    assert isinstance(lazy, dd.Series)
    assert lazy.npartitions == 3
    assert lazy.compute().index.equals(frame.index)
    np.testing.assert_array_equal(lazy.compute(), expected)
    if name == "tasks":  # fitted without names
        lazy = model.select(da.from_array(2.0 * X, chunks=(60, 4)), fdr=0.3)
        assert isinstance(lazy, da.Array)
        assert lazy.chunks == ((60, 60, 40),)
        np.testing.assert_array_equal(lazy.compute(), expected)
        assert not model.select(da.from_array(0.0 * X, chunks=(60, 4)), fdr=0.3).any().compute()


def test_values_of_the_rows_are_refused(models):
    with pytest.raises(ValueError, match="score_samples of a Dask collection takes no sample_dom"):
        models["tasks"].score_samples(da.from_array(X), sample_domain=np.zeros(160, int))


def test_rows_that_nobody_can_answer_for_are_refused(models, tmp_path):
    for rows_ in (ArrayChunks(X), str(tmp_path), tmp_path):
        with pytest.raises(TypeError, match=r"predict takes rows in memory or a Dask .*read_parq"):
            models["svc"].predict(rows_)
    with pytest.raises(TypeError, match="must be a Dask array or DataFrame, got a Dask Delayed"):
        models["svc"].predict(dask.delayed(X))


def test_a_fit_that_needs_memory_says_how_much_and_what_does_not():
    with pytest.raises(TypeError, match=r"SVR.fit needs its rows in memory, 2000 MB.*nystroem"):
        scarce.SVR().fit(da.zeros((5_000_000, 50), chunks=(100_000, 50)), np.zeros(5))
    with pytest.raises(ValueError, match=r"kernel='rbf' without approximation .*nystroem"):
        scarce.SVC().fit(da.from_array(X, chunks=(50, 4)), Y)


ANSWERS = ("predict", "decision_function", "score_samples", "predict_proba", "p_values")


@pytest.mark.filterwarnings("ignore")  # of samples that are too small to be trusted
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_answer_of_every_estimator(subject):
    rows, y = subject.make(60)
    model = subject.new().fit(rows, y)
    cut = rows.shape[0] // 2
    chunks = ((cut, rows.shape[0] - cut), (3,))
    for method in ANSWERS:
        answer = getattr(model, method, None)
        if answer is None or (method == "p_values" and not hasattr(model, "left_out_scores_")):
            continue
        expected = np.concatenate([answer(rows[:cut]), answer(rows[cut:])])
        lazy = answer(da.from_array(rows, chunks=chunks))
        assert isinstance(lazy, da.Array), method
        assert lazy.chunks[0] == chunks[0], method
        np.testing.assert_array_equal(lazy.compute(scheduler="sync"), expected, err_msg=method)
        lazy = answer(dd.from_pandas(pd.DataFrame(rows), npartitions=2))
        assert isinstance(lazy, dd.DataFrame if expected.ndim == 2 else dd.Series), method
        assert lazy.npartitions == 2, method
        np.testing.assert_array_equal(lazy.compute(scheduler="sync"), expected, err_msg=method)
