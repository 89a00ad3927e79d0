"""A real cluster of two worker processes: the same model, whatever happens to the workers."""

import os
import re
from multiprocessing import get_all_start_methods
from pathlib import Path

import dask
import dask.array as da
import joblib
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster
from distributed.utils import get_mp_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from scarce import (
    SVC,
    SVMC,
    GroupProbabilitySVM,
    OneClassSVM,
    PositiveUnlabeledSVC,
    TransferOneClassSVM,
)
from scarce.chunks import ArrayChunks, ChunkError, DaskChunks
from tests.chunks.sources import rows

X, Y, _ = rows(n=1200)
STEP = 300
SETTINGS = {"approximation": "nystroem", "n_components": 15, "random_state": 0, "tol": 1e-6}


@pytest.fixture(scope="module")
def cluster():
    # Workers are forks, where there are any, of a process that has loaded what they need: one that
    # was killed is replaced in a moment.
    forks = "forkserver" in get_all_start_methods()
    settings = {
        "distributed.worker.multiprocessing-method": "forkserver" if forks else "spawn",
        # After 15 s the cluster gives up a worker that happens to be dead again at that moment.
        "distributed.deploy.lost-worker-timeout": "1 hour",
        # Deaths of several passes are counted together where a chunk is not yet forgotten.
        "distributed.scheduler.allowed-failures": 20,
    }
    with dask.config.set(settings):
        if forks:
            get_mp_context().set_forkserver_preload(["distributed", "tests.chunks.test_cluster"])
        with LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="900MB", dashboard_address=":0"
        ) as cluster:
            with Client(cluster):
                yield cluster


def load(index, folder, fatal):
    """Return a chunk; die when chunk 1 is read for one of the ``fatal`` times."""
    if index == 1 and folder is not None:
        log = Path(folder) / "reads"
        with log.open("a") as file:
            file.write("x")
        if log.stat().st_size in fatal:
            os._exit(1)
    return X[index * STEP : (index + 1) * STEP]


def distributed_rows(folder=None, fatal=()):
    folder = None if folder is None else str(folder)
    blocks = [
        da.from_delayed(dask.delayed(load)(i, folder, fatal), (STEP, X.shape[1]), float)
        for i in range(4)
    ]
    return da.concatenate(blocks)


def test_two_workers_and_one_process_agree(cluster):
    plain = OneClassSVM(nu=0.1, **SETTINGS).fit(X)
    scores = plain.decision_function(X)
    spread = OneClassSVM(nu=0.1, **SETTINGS).fit(distributed_rows())
    own = spread.decision_function(X)
    np.testing.assert_allclose(own, scores, atol=1e-5 * np.ptp(scores))
    np.testing.assert_array_equal(spread.support_, plain.support_)
    labelled = SVC(**SETTINGS).fit(
        da.from_array(X, chunks=(STEP, 4)), da.from_array(Y, chunks=STEP)
    )
    scores = SVC(**SETTINGS).fit(X, Y).decision_function(X)
    lazy = labelled.decision_function(da.from_array(X, chunks=(STEP, 4)))
    np.testing.assert_allclose(lazy.compute(), scores, atol=1e-4 * np.ptp(scores))


DOMAIN = np.where(np.arange(X.shape[0]) % 30 == 0, -1, 2)
GROUPS = np.arange(X.shape[0]) % 40
LABELLED = np.where(np.arange(1200) % 40 == 0, np.linalg.norm(X, axis=1) < 1.5, False).astype(int)

# A machine, the values of its rows, and the reads of chunk 1 at which a worker dies. Each death is
# followed by one more read of the same pass.
KILLED = {
    # survey, gathered rows, collecting, judging
    "one class": (OneClassSVM(nu=0.1, **SETTINGS), {}, (1, 3, 5, 7)),
    # the sums of Newton's method
    "cost": (SVC(**SETTINGS), {"y": Y}, (3, 5)),
    # the parts' weights, a pass without a part, scores of the part
    "left out": (
        OneClassSVM(nu=0.1, kernel="linear", offset="left_out"),
        {},
        (5, 7, 10),
    ),
    # rows of a task, the last one for the gaps of the left-out fits
    "tasks": (TransferOneClassSVM(gamma="scale", **SETTINGS), {"sample_domain": DOMAIN}, (3, 9)),
    # groups, sums, scores of rows
    "shares": (
        GroupProbabilitySVM(C=0.01, **SETTINGS),
        {"y": np.linspace(0.1, 0.9, 40)[GROUPS], "groups": GROUPS},
        (1, 5, 7),
    ),
    # labels, equal rows, strong negatives, a round
    "mapping": (SVMC(gamma=1.0, learner="csvc", diagnose=False), {"y": LABELLED}, (2, 4, 6, 8)),
    # labels, and all rows, which are few here
    "bags": (PositiveUnlabeledSVC(n_bags=4, random_state=0), {"y": LABELLED}, (2, 4)),
}


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning", "ignore:the classifier")
@pytest.mark.parametrize("name", KILLED)
def test_a_worker_killed_in_any_pass_changes_no_bit(name, cluster, tmp_path):
    machine, values, fatal = KILLED[name]
    shift = 3.0 if "left" in name else 0.0  # away from the origin, for a plane
    expected = clone(machine).fit(ArrayChunks(X + shift, rows=STEP, **values))
    blocks = {key: da.from_array(value, chunks=STEP) for key, value in values.items()}
    rows = distributed_rows(tmp_path, fatal) + shift
    model = clone(machine).fit(DaskChunks(rows, **blocks))
    reads = (tmp_path / "reads").stat().st_size
    assert reads > max(fatal)  # so that every death was one
    if name in ("one class", "cost", "shares"):  # where no read is of some rows only
        assert reads == expected.n_reads_ + len(fatal)
    for word in ("dual_coef_", "intercept_", "support_", "offset_", "left_out_scores_"):
        if hasattr(expected, word):
            np.testing.assert_array_equal(getattr(model, word), getattr(expected, word))


def test_a_worker_that_comes_late_changes_no_bit(cluster):
    expected = SVC(**SETTINGS).fit(ArrayChunks(X, rows=STEP, y=Y))
    cluster.scale(3)  # it joins while the fit runs
    model = SVC(**SETTINGS).fit(DaskChunks(distributed_rows(), y=da.from_array(Y, chunks=STEP)))
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)


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


def test_searches_run_on_the_cluster(cluster):
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2)
    expected = search.fit(X[:200], Y[:200]).cv_results_["mean_test_score"]
    with joblib.parallel_config(backend="dask", scatter=[X[:200]]):
        found = search.fit(X[:200], Y[:200]).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


def test_the_lines_of_the_guide(cluster, monkeypatch):
    page = Path(__file__).parents[2] / "docs" / "guide" / "when_the_data_do_not_fit.md"
    (lines,) = re.findall(r"```python\n(import joblib.*?)```", page.read_text("utf-8"), re.DOTALL)
    with Client(cluster) as client:
        monkeypatch.setattr("distributed.Client", lambda **_: client)
        names = {"X": X[:60], "y": Y[:60], "SVC": SVC}
        exec(lines, names)
    assert names["search"].best_params_["C"] in (1, 10, 100)
