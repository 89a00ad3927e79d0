"""Threads: the same answer for any number of them, nothing left behind."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from scarce.kernels import group_mean_kernel, make_operator, weighted_scores
from scarce.parallel import TILE_ROWS, single_threaded_blas, thread_count, tile_runner
from tests.kernels.internals import _threads
from tests.kernels.samples import FORMS, FORMULAS, PRECISIONS, rows

EFFORT = _threads.SMALLEST_EFFORT  # from which threads are used


@pytest.fixture
def three_threads(monkeypatch):
    monkeypatch.setattr(_threads, "thread_count", lambda: 3)


@pytest.fixture
def two_blas_threads():
    before = threadpool_limits(limits=2, user_api="blas")
    disown_blas()
    assert blas_threads() == {2}
    yield
    before.restore_original_limits()
    disown_blas()


def disown_blas():
    """Let any thread change the number of threads, not only the last one that did."""
    with threadpool_limits(limits=None):
        pass


def blas_threads():
    """Return the numbers of threads of NumPy's and SciPy's BLAS; others may be loaded by tests."""
    ours = ("numpy", "scipy")
    return {
        pool["num_threads"]
        for pool in threadpool_info()
        if pool["user_api"] == "blas" and any(name in pool["filepath"] for name in ours)
    }


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_results_do_not_depend_on_the_number_of_threads(name, form, precision, monkeypatch):
    n = 1500
    X, kernel, random = rows(n, form), FORMULAS[name], np.random.default_rng(1)
    weights, groups = random.normal(size=(2, n)), random.integers(0, 2, n)
    monkeypatch.setattr(_threads, "SMALLEST_EFFORT", 0)

    def everything(threads):
        monkeypatch.setattr(_threads, "thread_count", lambda: threads)
        operator = make_operator(X, kernel)
        block, sums = np.empty((n, n), precision), np.zeros(n)
        operator.write_block(np.arange(n), block)
        operator.accumulate(np.arange(n), weights, groups, sums, precision)
        scores = weighted_scores(X.astype(precision), X.astype(precision), weights[0], kernel)
        # Two groups of rows, of two tiles at most each: sums of two terms have no order.
        pairs = np.where(np.arange(n) < 2 * TILE_ROWS, 0, -1)
        return block, sums, scores, group_mean_kernel(X, pairs, kernel, 1)

    for alone, together in zip(everything(1), everything(3), strict=True):
        np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize(
    ("limit", "threads"), [("1", 1), ("3", 3), ("99", 8), ("0", 1), ("", 8), ("many", 8)]
)
def test_the_environment_may_ask_for_fewer_threads(limit, threads, monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda *_: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert thread_count() == threads


def test_without_a_limit_all_cores_are_used(monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda *_: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert thread_count() == 8


def test_a_limit_of_cores_that_comes_later_is_seen(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    assert thread_count() >= 1  # read, and remembered
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert thread_count() == 1


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("effort", [0, EFFORT])
@pytest.mark.parametrize("n", [0, 1, TILE_ROWS, 2 * TILE_ROWS + 1, 9 * TILE_ROWS + 5])
def test_every_row_is_in_one_tile(effort, n):
    seen, lock = np.zeros(n, int), threading.Lock()

    def work(start, stop):
        assert stop - start <= TILE_ROWS
        with lock:
            seen[start:stop] += 1

    with tile_runner(effort) as run:
        run(n, work)
    np.testing.assert_array_equal(seen, 1)


@pytest.mark.usefixtures("three_threads")
def test_threads_are_used_for_much_work_only():
    for effort, expected in [(EFFORT - 1, 1), (EFFORT, 3)]:
        names, met = set(), threading.Barrier(expected)

        def work(start, stop):
            if start < expected * TILE_ROWS:  # noqa: B023
                met.wait(timeout=30)  # noqa: B023
            names.add(threading.get_ident())  # noqa: B023

        with tile_runner(effort) as run:
            run(4 * TILE_ROWS, work)
        assert len(names) == expected


@pytest.mark.usefixtures("three_threads")
def test_work_may_have_tiles_of_its_own():
    """All threads may be busy with the tiles outside: those inside must not wait for them."""
    seen, lock = np.zeros(40, int), threading.Lock()

    def inside(row):
        def work(start, stop):
            with lock:
                seen[row] += stop - start

        return work

    def outside(start, stop):
        for row in range(start, stop):
            with tile_runner(EFFORT) as run:
                run(7, inside(row), 1)

    with tile_runner(EFFORT) as run:
        run(40, outside, 1)
    np.testing.assert_array_equal(seen, 7)


@pytest.mark.usefixtures("three_threads")
def test_an_error_in_another_thread_is_raised_here():
    def work(start, stop):
        if threading.current_thread() is not threading.main_thread():
            raise KeyError("a tile")
        met.wait(timeout=30)

    met = threading.Event()
    with tile_runner(EFFORT) as run:
        threading.Timer(0.2, met.set).start()
        with pytest.raises(KeyError, match="a tile"):
            run(3, work, 1)


FORKED = """
import os, sys
import numpy as np
from scarce.parallel import _threads
_threads.thread_count = lambda: 2
seen = []
def both():
    seen.clear()
    with _threads.tile_runner(_threads.SMALLEST_EFFORT) as run:
        run(4, lambda start, stop: seen.append(start), 1)
    return sorted(seen) == [0, 1, 2, 3]
assert both()
child = os.fork()
if child == 0:
    os._exit(0 if both() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, env=environment)


@pytest.mark.usefixtures("three_threads", "two_blas_threads")
@pytest.mark.parametrize("effort", [0, EFFORT])
def test_blas_has_one_thread_inside_and_its_own_number_again_outside(effort):
    inside = []
    with tile_runner(effort) as run:
        run(TILE_ROWS, lambda *_: inside.append(blas_threads()))
    assert inside == [{1}]
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_is_held_until_the_last_thread_leaves():
    entered, leave, left = threading.Event(), threading.Event(), threading.Event()

    def other():
        with single_threaded_blas:
            entered.set()
            assert leave.wait(timeout=30)
        left.set()

    thread = threading.Thread(target=other)
    with single_threaded_blas:
        thread.start()
        assert entered.wait(timeout=30)
    assert blas_threads() == {1}  # the other is still inside
    leave.set()
    assert left.wait(timeout=30)
    thread.join()
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_is_held_when_nested():
    with single_threaded_blas:
        with single_threaded_blas:
            pass
        assert blas_threads() == {1}
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_is_released_by_an_exception():
    with pytest.raises(KeyError), single_threaded_blas:
        raise KeyError
    assert blas_threads() == {2}


@pytest.mark.usefixtures("three_threads", "two_blas_threads")
@pytest.mark.parametrize("where", ["here", "in another thread"])
def test_an_exception_in_a_tile_arrives_and_ends_all_threads(where):
    before, failed = threading.active_count(), threading.Event()
    own = threading.get_ident()

    def work(start, stop):
        here = threading.get_ident() == own
        if here == (where == "here"):
            failed.set()
            raise ZeroDivisionError(f"tile {start}")
        assert failed.wait(timeout=30)  # so that the failing thread gets a tile

    with pytest.raises(ZeroDivisionError, match="tile"), tile_runner(EFFORT) as run:
        run(20 * TILE_ROWS, work)
    assert threading.active_count() == before
    assert blas_threads() == {2}


@pytest.mark.usefixtures("three_threads")
def test_an_interrupt_leaves_no_tile_to_do():
    done = []

    def work(start, stop):
        done.append(start)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), tile_runner(EFFORT) as run:
        run(500 * TILE_ROWS, work)
    assert len(done) <= 3


def test_an_error_of_the_kernel_leaves_the_operator_usable(monkeypatch):
    monkeypatch.setattr(_threads, "thread_count", lambda: 2)
    monkeypatch.setattr(_threads, "SMALLEST_EFFORT", 0)
    operator = make_operator(rows(900), FORMULAS["laplacian"])
    good = np.zeros(900)
    arguments = np.arange(900), np.ones((1, 900)), np.zeros(900, np.int64)
    operator.accumulate(*arguments, good, np.float64)
    with monkeypatch.context() as broken:
        broken.setattr(type(FORMULAS["laplacian"]), "write_tile", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            operator.accumulate(*arguments, np.zeros(900), np.float64)
    again = np.zeros(900)
    operator.accumulate(*arguments, again, np.float64)
    np.testing.assert_array_equal(again, good)
