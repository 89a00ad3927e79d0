"""A fit among others: several at once, any number of threads, interrupts."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

import numpy as np

from scarce.testing._expect import raises
from scarce.testing._recorder import Recorder, interrupt
from scarce.testing._subject import Subject, scores_of
from scarce.testing._suite import check


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
