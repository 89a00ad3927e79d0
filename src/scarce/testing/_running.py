"""While a fit runs: progress, callbacks, limits, warm starts, interrupts and threads."""

from __future__ import annotations

import contextlib
import io
import os
import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from scarce.testing._subject import Subject, scores_of
from scarce.testing._suite import assert_same_decisions, check, raises, warns


class Recorder:
    """A callback that records its calls, and does what it is asked to do."""

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


@check("callbacks")
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
    # Not to the last bit: the first small fit of a process may do without the compiler.
    np.testing.assert_allclose(scores_of(model, X), scores_of(plain, X), rtol=1e-9, atol=1e-12)


@check("callbacks")
def progress_bars(subject: Subject) -> None:
    from sklearn.callback import ProgressBar  # which came with callbacks

    X, y = subject.make(40)
    subject.new().set_callbacks(ProgressBar()).fit(X, y)
    grid = {"tol": [1e-2, 1e-3]} if "tol" in subject.traits else {"n_bags": [2, 3]}
    search = GridSearchCV(subject.new(), grid, cv=2, scoring=lambda *_: 0.0)
    search.set_callbacks(ProgressBar()).fit(X, y)


@check("max_iter", "callbacks")
def a_callback_can_stop_the_fit(subject: Subject) -> None:
    X, y = subject.make(150)
    recorder = Recorder(act=lambda task: task != "fit")
    with warns(ConvergenceWarning, "A callback stopped the solver"):
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
    assert np.isfinite(scores_of(model, X)).all()


@check("max_iter", "cache_size")  # a limit on the solver's steps
def a_fit_cut_short_says_how_good_it_is(subject: Subject) -> None:
    X, y = subject.make(100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of so bad a fit there may be more to say
        with warns(ConvergenceWarning) as caught:
            model = subject.new(max_iter=1).fit(X, y)
    assert len(caught) == 1
    message = str(caught[0].message)
    number = r"(\d[\d.e+-]*\d|\d)"
    found = re.search(
        rf"max_iter=1\).*violation {number} against tol={model.tol:g}.*gap {number}\.", message
    )
    assert found is not None, message
    np.testing.assert_allclose(float(found[1]), model.kkt_violation_, rtol=1e-2)
    np.testing.assert_allclose(float(found[2]), model.dual_gap_, rtol=1e-2)
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
    least = whole.objective_ - 1e-6 * abs(whole.objective_)
    assert np.all(np.array(values) >= least)  # a primal value is never below the optimum
    np.testing.assert_allclose(model.objective_, whole.objective_, rtol=1e-6)
    assert_same_decisions(whole, model, X, 1e-4)


@check("warm_start", "weights")
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
            np.testing.assert_allclose(model.objective_, cold.objective_, rtol=1e-6)
    model.fit(X[:50], None if y is None else y[:50])  # other rows: begins anew


@check("verbose")
def the_objective_printed_never_rises(subject: Subject) -> None:
    X, y = subject.make(2500)  # more than are solved in one go
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        subject.new(verbose=True, tol=1e-6).fit(X, y)
    lines = printed.getvalue().splitlines()
    assert all(line.startswith(f"[{subject.name}] ") for line in lines)
    values = np.array([float(re.search(r"objective ([^,]+),", line)[1]) for line in lines])  # type: ignore[index]
    assert values.size >= 2
    assert values[0] > values[-1]
    assert np.all(np.diff(values) <= 1e-5 * np.abs(values[1:]))  # six digits are printed


# What makes the rounds of a method more than one, by the parameter that says so.
SEVERAL_ROUNDS: dict[str, dict[str, Any]] = {
    "radius": {"radius": 0.5, "round_tol": 1e-7, "tol": 1e-8},
    "tensor_shape": {"tensor_shape": (2, 2)},
    "unlabeled": {"unlabeled": -1, "tol": 1e-8},
}


@check("history")
def history_never_rises(subject: Subject) -> None:
    """Ask for columns of one length and, round by round, an objective that falls."""
    X, y = subject.make(60)
    parameters: dict[str, Any] = {**subject.cut_at_training_rows}  # fits without rows leave none
    for name in SEVERAL_ROUNDS.keys() & subject.traits:
        parameters |= SEVERAL_ROUNDS[name]
    if {"radius", "max_rounds"} <= subject.traits:  # rows next to each other settle slowly
        parameters |= {"max_rounds": 500}
    if "unlabeled" in parameters:
        assert y is not None
        y = np.where(np.arange(60) % 3 == 0, y, -1)
    history = subject.new(**parameters).fit(X, y).history_
    assert len({len(column) for column in history.values()}) == 1, "columns of different lengths"
    if "objective" not in history:
        return
    values = np.asarray(history["objective"])
    several = SEVERAL_ROUNDS.keys() & subject.traits
    assert values.size > 2 or not several, f"{values.size} rounds show nothing"
    falls = np.diff(values) <= 1e-7 * np.abs(values[1:])
    # Where costs grow from round to round the objective may; it falls while they stay.
    costs = np.array([history[name] for name in history if name.endswith("_cost")])
    same = (np.diff(costs, axis=1) == 0).all(axis=0) if costs.size else True
    assert np.all(falls | ~np.asarray(same)), f"the objective rises: {values.tolist()}"


@check("callbacks")
def an_interrupt_leaves_the_estimator_as_it_was(subject: Subject) -> None:
    X, y = subject.make(60)
    for model in (subject.new(), subject.new().fit(X, y)):
        recorder = Recorder(act=interrupt)
        model.set_callbacks(recorder)
        before, threads = dict(vars(model)), threading.active_count()
        with raises(KeyboardInterrupt):
            model.fit(np.c_[X, X], y)
        assert recorder.events[-1] == "teardown"
        assert vars(model) == before
        assert threading.active_count() == threads


@check("kernel")
def an_interrupt_inside_a_kernel(subject: Subject) -> None:
    X, y = subject.make(60)
    model = subject.new(kernel=interrupt)
    before = dict(vars(model))
    with raises(KeyboardInterrupt):
        model.fit(X, y)
    assert vars(model) == before
    model.set_params(kernel="rbf").fit(X, y)


@check()
def fits_in_two_threads_at_once(subject: Subject) -> None:
    samples = [subject.make(n) for n in (1300, 1400)]
    one_by_one = [scores_of(subject.new().fit(X, y), X) for X, y in samples]
    ready = threading.Barrier(2)

    def work(sample: Any) -> Any:
        ready.wait()
        return scores_of(subject.new().fit(*sample), sample[0])

    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(work, samples))
    for expected, found in zip(one_by_one, at_once, strict=True):
        np.testing.assert_array_equal(found, expected)


@check()
def number_of_threads(subject: Subject) -> None:
    X, y = subject.make(1300)
    answers = []
    for threads in ("1", "2"):
        with patch.dict(os.environ, OMP_NUM_THREADS=threads):
            answers.append(scores_of(subject.new().fit(X, y), X))
    np.testing.assert_array_equal(answers[0], answers[1])
