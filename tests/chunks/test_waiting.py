"""A cluster without workers is waited for aloud and not for ever; chunks are what they say."""

import contextlib
import logging
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

from scarce import OneClassSVM
from scarce.chunks import ChunkError, DaskChunks
from tests.chunks.internals import _waiting
from tests.chunks.sources import rows

X, Y, _ = rows(n=600)
STEP = 200


@contextlib.contextmanager
def without_workers(memory_limit):
    settings = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=0, memory_limit=memory_limit, **settings) as cluster:
        with Client(cluster):
            yield cluster


@pytest.fixture
def cluster():
    # No limit: the workers are threads of this process, which other tests have filled.
    with without_workers(memory_limit=0) as cluster:
        yield cluster


@pytest.fixture
def often(monkeypatch, caplog):
    """Say what is waited for after every tenth of a second."""
    monkeypatch.setattr(_waiting, "EVERY", 0.1)
    caplog.set_level(logging.WARNING, logger="scarce")
    return caplog


def machine():
    return OneClassSVM(nu=0.1, kernel="linear")


def lazy():
    return da.from_array(X + 3.0, chunks=(STEP, X.shape[1]))


def test_without_a_worker_an_error_follows_lines_that_say_so(cluster, often):
    model = machine()
    message = r"cluster at \S+ has had no workers for 0.5 s, and \d+ tasks are unfinished; start "
    with pytest.raises(TimeoutError, match=message + r".*worker_timeout="):
        model.fit(DaskChunks(lazy(), worker_timeout=0.5))
    assert set(vars(model)) == set(model.get_params())  # as it was
    lines = [record.getMessage() for record in often.records if record.name == "scarce"]
    assert 2 <= len(lines) <= 6
    assert "waiting for a worker of the Dask cluster" in lines[0]
    assert "no workers" in lines[0]


def test_sizes_are_not_waited_for_either(cluster, often):
    unknown = lazy()
    unknown = unknown[unknown[:, 0] > 0]  # whose chunks have to be counted
    with pytest.raises(TimeoutError, match=r"no workers for 0\.3 s"):
        DaskChunks(unknown, worker_timeout=0.3)


def test_a_worker_that_comes_while_it_is_waited_for_does_the_work(cluster, often):
    def said():
        return any("waiting for a worker" in record.getMessage() for record in often.records)

    def come_when_called():
        while not said():
            time.sleep(0.02)
        cluster.scale(1)

    thread = threading.Thread(target=come_when_called, daemon=True)
    thread.start()
    model = machine().fit(DaskChunks(lazy(), worker_timeout=60.0))
    thread.join()
    expected = machine().fit(X + 3.0)
    np.testing.assert_allclose(model.offset_, expected.offset_, rtol=1e-3)


def paused(client):
    states = [worker["status"] for worker in client.scheduler_info()["workers"].values()]
    return states == ["paused"]


def test_workers_that_are_paused_are_none(often):
    # From a hundredth of the memory on, which the process has long taken.
    pause = dask.config.set({"distributed.worker.memory.pause": 0.01})
    with pause, without_workers(memory_limit="900MB") as cluster:
        cluster.scale(1)
        while not paused(Client.current()):
            time.sleep(0.05)
        with pytest.raises(TimeoutError, match=r"only 1 workers that are paused for 0\.5 s"):
            machine().fit(DaskChunks(lazy(), worker_timeout=0.5))


def test_a_waiting_time_is_above_zero():
    with pytest.raises(ValueError, match=r"worker_timeout must be above 0 seconds, got -1"):
        DaskChunks(lazy(), worker_timeout=-1)


@pytest.mark.parametrize("where", ["here", "on a cluster"])
def test_chunks_that_are_not_what_was_announced_are_refused(where, request):
    if where == "on a cluster":
        request.getfixturevalue("cluster").scale(1)
    short = dask.delayed(lambda: X[:7])()
    blocks = [lazy()[:STEP], da.from_delayed(short, (STEP, X.shape[1]), float)]
    message = r"chunk 1 \(rows 200 to 399\) of X has shape \(7, 4\), .* announced \(200, 4\)"
    with pytest.raises(ChunkError, match=message):
        machine().fit(da.concatenate(blocks))


def test_values_of_another_length_are_refused():
    labels = da.from_delayed(dask.delayed(lambda: np.ones(7))(), (X.shape[0],), float)
    chunks = DaskChunks(da.from_array(X, chunks=X.shape), sample_weight=labels)
    with pytest.raises(ChunkError, match=r"of sample_weight has shape \(7,\), .*\(600,\)"):
        chunks.map(lambda part: part.X.sum())
