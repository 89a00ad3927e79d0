"""A fit while it runs: progress, stops, interrupts, threads, warm starts."""

import contextlib
import io
import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.callback import ProgressBar
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from scarce.kernels import Kernel
from tests.checks.registry import Subject
from tests.checks.suite import assert_same_decisions, check


class Recorder:
    """A callback that writes down what it is told, and does what it is asked to do."""

    def __init__(self, act: Any = lambda task: None) -> None:
        self.events: list[str] = []
        self.act = act

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append("setup")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator: Any, context: Any) -> Any:
        self.events.append(f"end {context.task_name}")
        return self.act(context.task_name)


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


@check()
def progress_is_reported(subject: Subject) -> None:
    X, y = subject.make(60)
    recorder = Recorder()
    model = subject.new().set_callbacks(recorder).fit(X, y)
    assert recorder.events[:2] == ["setup", "begin fit"]
    assert recorder.events[-2:] == ["end fit", "teardown"]
    assert len(recorder.events) >= 6
    running: list[str] = []
    for event in recorder.events[1:-1]:  # tasks end in the reverse order of their beginnings
        word, task = event.split()
        if word == "begin":
            running.append(task)
        else:
            assert running.pop() == task
    assert not running
    plain = subject.new().fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


@check()
def progress_bars(subject: Subject) -> None:
    X, y = subject.make(40)
    subject.new().set_callbacks(ProgressBar()).fit(X, y)
    search = GridSearchCV(subject.new(), {"tol": [1e-2, 1e-3]}, cv=2, scoring=lambda *_: 0.0)
    search.set_callbacks(ProgressBar()).fit(X, y)


@check("max_iter")
def a_callback_can_stop_the_fit(subject: Subject) -> None:
    X, y = subject.make(150)
    recorder = Recorder(act=lambda task: task != "fit")
    with pytest.warns(ConvergenceWarning, match="A callback stopped the solver"):
        model = subject.new().set_callbacks(recorder).fit(X, y)
    assert recorder.events[-1] == "teardown"
    assert model.fit_status_ == 1
    if "keep" in subject.traits:  # stops between two whole trainings
        assert not model.converged_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows taken back; the number of rounds matters here
            whole = subject.new().fit(X, y)
        assert model.n_rounds_ == 1 < whole.n_rounds_
    else:
        assert model.kkt_violation_ > model.tol
    assert np.isfinite(model.decision_function(X)).all()


@check()
def an_interrupt_leaves_the_estimator_as_it_was(subject: Subject) -> None:
    X, y = subject.make(60)
    for model in (subject.new(), subject.new().fit(X, y)):
        recorder = Recorder(act=interrupt)
        model.set_callbacks(recorder)
        before, threads = dict(vars(model)), threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            model.fit(np.c_[X, X], y)
        assert recorder.events[-1] == "teardown"
        assert vars(model) == before
        assert threading.active_count() == threads


@check("kernel")
def an_interrupt_inside_a_kernel(subject: Subject) -> None:
    X, y = subject.make(60)
    model = subject.new(kernel=interrupt)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert vars(model) == before
    model.set_params(kernel="rbf").fit(X, y)


@check("kernel")
def an_interrupt_while_threads_share_the_work(subject: Subject) -> None:
    X, y = subject.make(3000)
    model = subject.new(kernel="rbf")
    before, threads = dict(vars(model)), threading.active_count()
    finish, calls = Kernel.finish, []

    def fail_later(*arguments: Any) -> None:
        calls.append(threading.current_thread())
        if len(calls) > 5 and calls[-1] is threading.main_thread():
            raise KeyboardInterrupt
        finish(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "finish", fail_later)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert vars(model) == before
    assert threading.active_count() == threads
    model.fit(X, y)


@check()
def fits_in_two_threads_at_once(subject: Subject) -> None:
    samples = [subject.make(n) for n in (1300, 1400)]
    one_by_one = [subject.new().fit(X, y).decision_function(X) for X, y in samples]
    ready = threading.Barrier(2)

    def work(sample: Any) -> Any:
        ready.wait()
        return subject.new().fit(*sample).decision_function(sample[0])

    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(work, samples))
    for expected, found in zip(one_by_one, at_once, strict=True):
        np.testing.assert_array_equal(found, expected)


@check()
def number_of_threads(subject: Subject) -> None:
    X, y = subject.make(1300)
    answers = []
    for threads in ("1", "2"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OMP_NUM_THREADS", threads)
            answers.append(subject.new().fit(X, y).decision_function(X))
    np.testing.assert_array_equal(*answers)


@check("max_iter", "cache_size")  # a limit on the solver's steps
def a_fit_cut_short_says_how_good_it_is(subject: Subject) -> None:
    X, y = subject.make(100)
    with pytest.warns(ConvergenceWarning) as caught:
        model = subject.new(max_iter=1).fit(X, y)
    assert len(caught) == 1
    message = str(caught[0].message)
    number = r"(\d[\d.e+-]*\d|\d)"
    found = re.search(
        rf"max_iter=1\).*violation {number} against tol={model.tol:g}.*gap {number}\.", message
    )
    assert found is not None, message
    assert float(found[1]) == pytest.approx(model.kkt_violation_, rel=1e-2)
    assert float(found[2]) == pytest.approx(model.dual_gap_, rel=1e-2)
    assert model.kkt_violation_ > model.tol
    assert model.dual_gap_ > 0
    assert caught[0].filename == __file__


@check("max_iter", "warm_start")
def warm_starts_resume(subject: Subject) -> None:
    X, y = subject.make(150)
    whole = subject.new(tol=1e-6).fit(X, y)
    steps = max(1, int(np.max(whole.n_iter_)) // 8)
    model = subject.new(tol=1e-6, warm_start=True, max_iter=steps)
    values = []
    for _ in range(200):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        values.append(model.objective_)
        if model.fit_status_ == 0:
            break
    assert 2 <= len(values) < 200
    assert np.all(np.diff(values) >= -1e-9 * abs(values[-1]))  # of the dual, which grows
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    assert_same_decisions(whole, model, X, 1e-4)


@check("warm_start")
def warm_starts_of_another_problem(subject: Subject) -> None:
    X, y = subject.make(80)
    weights = np.linspace(0.1, 2.0, 80)
    model = subject.new(warm_start=True, tol=1e-6).fit(X, y)
    changes: list[dict[str, Any]] = [{"C": 10.0}, {"nu": 0.25}, {"gamma": 2.0}, {"kernel": "poly"}]
    for change in changes:
        if change.keys() <= subject.traits:
            model.set_params(**change).fit(X, y, sample_weight=weights)
            cold = subject.new(**{**model.get_params(), "warm_start": False})
            cold.fit(X, y, sample_weight=weights)
            assert model.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    model.fit(X[:50], None if y is None else y[:50])  # other rows: begins anew


@check("verbose")
def the_objective_printed_never_rises(subject: Subject) -> None:
    X, y = subject.make(1300)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        subject.new(verbose=True, tol=1e-6).fit(X, y)
    lines = printed.getvalue().splitlines()
    assert all(line.startswith(f"[{subject.name}] ") for line in lines)
    values = np.array([float(re.search(r"objective ([^,]+),", line)[1]) for line in lines])  # type: ignore[index]
    assert values.size >= 3
    assert values[0] > values[-1]
    assert np.all(np.diff(values) <= 1e-5 * np.abs(values[1:]))  # six digits are printed


@check("history")
def history_never_rises(subject: Subject) -> None:
    X, y = subject.make(60)
    history = subject.new().fit(X, y).history_
    assert len({len(column) for column in history.values()}) == 1
    if "objective" in history:
        values = np.asarray(history["objective"])
        assert np.all(np.diff(values) <= 1e-9 * np.abs(values[1:]))
