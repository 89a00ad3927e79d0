"""A real cluster of two worker processes: the same model, whatever happens to the workers."""

import os
from pathlib import Path

import dask
import dask.array as da
import joblib
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV

from scarce import SVC, SVMC, GroupProbabilitySVM, OneClassSVM, TransferOneClassSVM
from scarce.chunks import ArrayChunks, ChunkError, DaskChunks
from tests.chunks.sources import rows

X, Y, _ = rows(n=1200)
STEP = 300
SETTINGS = {"approximation": "nystroem", "n_components": 15, "random_state": 0, "tol": 1e-6}


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="900MB", dashboard_address=":0"
    ) as cluster:
        with Client(cluster):
            yield cluster


def load(index, folder, fatal):
    """Return a chunk; the first time that chunk 1 is read for the ``fatal``-th time, die."""
    if index == 1 and fatal is not None:
        log = Path(folder) / "reads"
        with log.open("a") as file:
            file.write("x")
        if log.stat().st_size == fatal:
            os._exit(1)
    return X[index * STEP : (index + 1) * STEP]


def distributed_rows(folder, fatal=None):
    blocks = [
        da.from_delayed(dask.delayed(load)(i, str(folder), fatal), (STEP, X.shape[1]), float)
        for i in range(4)
    ]
    return da.concatenate(blocks)


@pytest.fixture(scope="module")
def undisturbed(cluster, tmp_path_factory):
    model = OneClassSVM(nu=0.1, **SETTINGS)
    return model.fit(distributed_rows(tmp_path_factory.mktemp("undisturbed")))


def test_two_workers_and_one_process_agree(cluster, undisturbed):
    plain = OneClassSVM(nu=0.1, **SETTINGS).fit(X)
    scores = plain.decision_function(X)
    own = undisturbed.decision_function(X)
    np.testing.assert_allclose(own, scores, atol=1e-5 * np.ptp(scores))
    np.testing.assert_array_equal(undisturbed.support_, plain.support_)
    labelled = SVC(**SETTINGS).fit(
        da.from_array(X, chunks=(STEP, 4)), da.from_array(Y, chunks=STEP)
    )
    scores = SVC(**SETTINGS).fit(X, Y).decision_function(X)
    lazy = labelled.decision_function(da.from_array(X, chunks=(STEP, 4)))
    np.testing.assert_allclose(lazy.compute(), scores, atol=1e-4 * np.ptp(scores))


# Chunk 1 is read by the survey, by the gathering of rows, by the collecting and the judging pass.
@pytest.mark.parametrize("fatal", [1, 2, 3, 4])
def test_a_worker_killed_in_any_pass_changes_no_bit(fatal, cluster, undisturbed, tmp_path):
    model = OneClassSVM(nu=0.1, **SETTINGS).fit(distributed_rows(tmp_path, fatal))
    assert (tmp_path / "reads").stat().st_size == undisturbed.n_reads_ + 1
    np.testing.assert_array_equal(model.dual_coef_, undisturbed.dual_coef_)
    np.testing.assert_array_equal(model.offset_, undisturbed.offset_)


# Chunk 1 is read by the survey, for labels, equal rows and strong negatives, then by every round.
@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning", "ignore:the classifier")
def test_a_worker_killed_among_positive_and_unlabelled_rows(cluster, tmp_path):
    labels = np.where(np.arange(1200) % 40 == 0, np.linalg.norm(X, axis=1) < 1.5, False).astype(int)
    blocks = da.from_array(labels, chunks=STEP)

    def machine():
        return SVMC(gamma=1.0, learner="csvc", diagnose=False)

    expected = machine().fit(distributed_rows(tmp_path), blocks)
    for fatal in (2, 3, 4, 5):
        folder = tmp_path / str(fatal)
        folder.mkdir()
        model = machine().fit(distributed_rows(folder, fatal), blocks)
        assert (folder / "reads").stat().st_size > fatal
        assert model.history_["rejected"] == expected.history_["rejected"]
        np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
        np.testing.assert_array_equal(model.support_, expected.support_)


def test_a_worker_killed_while_a_part_is_left_out(cluster, tmp_path):
    settings = {"nu": 0.1, "kernel": "linear", "offset": "left_out"}
    expected = OneClassSVM(**settings).fit(distributed_rows(tmp_path) + 3.0)
    (tmp_path / "killed").mkdir()
    model = OneClassSVM(**settings).fit(distributed_rows(tmp_path / "killed", 9) + 3.0)
    np.testing.assert_array_equal(model.offset_, expected.offset_)
    np.testing.assert_array_equal(model.left_out_scores_, expected.left_out_scores_)


def test_a_worker_that_comes_late_changes_no_bit(cluster, undisturbed, tmp_path):
    cluster.scale(3)  # it joins while the fit runs
    model = OneClassSVM(nu=0.1, **SETTINGS).fit(distributed_rows(tmp_path))
    np.testing.assert_array_equal(model.dual_coef_, undisturbed.dual_coef_)


def test_a_chunk_that_cannot_be_read_is_named_and_nothing_is_left(cluster):
    def broken(index):
        if index == 2:
            raise OSError("no such block")
        return X[:STEP]

    blocks = [da.from_delayed(dask.delayed(broken)(i), (STEP, 4), float) for i in range(3)]
    model = OneClassSVM(**SETTINGS)
    with pytest.raises(ChunkError, match=r"chunk 2 \(rows 600 to 899\) could not .*no such block"):
        model.fit(da.concatenate(blocks))
    assert set(vars(model)) == set(model.get_params())


def test_workers_with_too_little_memory_are_refused_at_the_start(cluster):
    lazy = da.zeros((20_000_000, 4), chunks=(10_000_000, 4))
    with pytest.raises(ValueError, match=r"memory limit of 900 MB, and this fit needs 1\d\d\d MB"):
        OneClassSVM(**SETTINGS).fit(lazy)
    DaskChunks(da.zeros((100, 4), chunks=(50, 4))).check_workers()


def test_tasks_and_shares_have_the_bits_of_one_process(cluster):
    domain = np.where(np.arange(X.shape[0]) % 30 == 0, -1, 2)
    groups = np.arange(X.shape[0]) % 40
    share = np.linspace(0.1, 0.9, 40)[groups]
    machines = [
        (TransferOneClassSVM(gamma="scale", **SETTINGS), {"sample_domain": domain}),
        (GroupProbabilitySVM(C=0.01, **SETTINGS), {"y": share, "groups": groups}),
    ]
    for model, values in machines:
        blocks = {name: da.from_array(value, chunks=STEP) for name, value in values.items()}
        model.fit(DaskChunks(da.from_array(X, chunks=(STEP, 4)), **blocks))
        once = type(model)(**model.get_params()).fit(ArrayChunks(X, rows=STEP, **values))
        np.testing.assert_array_equal(model.dual_coef_, once.dual_coef_)
        np.testing.assert_array_equal(model.intercept_, once.intercept_)


def test_searches_run_on_the_cluster(cluster):
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2)
    expected = search.fit(X[:200], Y[:200]).cv_results_["mean_test_score"]
    with joblib.parallel_config(backend="dask", scatter=[X[:200]]):
        found = search.fit(X[:200], Y[:200]).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)
