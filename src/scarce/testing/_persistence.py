"""Copies of an estimator: cloned, pickled, saved with skops."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from scarce.testing._subject import Subject, scores_of
from scarce.testing._suite import check, raises, required

LEARNERS = {
    *("svc_", "classifier_", "mapper_", "detector_", "bags_"),
    *("estimator_", "estimators_", "pooled_"),
}


@check()
def clone_keeps_parameters_and_nothing_else(subject: Subject) -> None:
    X, y = subject.make(40)
    model = subject.new().fit(X, y)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    with raises(NotFittedError):
        copied.predict(X)
    again = copied.fit(X, y)
    np.testing.assert_array_equal(scores_of(again, X), scores_of(model, X))


@check()
def refit_forgets_the_first_fit(subject: Subject) -> None:
    X, y = subject.make(40)
    more, more_y = subject.make(70)
    model = subject.new().fit(np.c_[more, more], more_y).fit(X, y)
    fresh = subject.new().fit(X, y)
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(scores_of(model, X), scores_of(fresh, X))


@check()
def pickle_round_trip(subject: Subject) -> None:
    X, y = subject.make(40)
    for container in subject.containers:
        rows = container(X)
        model = subject.new().fit(rows, y)
        for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert vars(copied).keys() == vars(model).keys()
            np.testing.assert_array_equal(scores_of(copied, rows), scores_of(model, rows))


@check()
def skops_round_trip(subject: Subject) -> None:
    skops = required("skops.io", "persist")
    X, y = subject.make(40)
    for container in subject.containers:
        rows = container(X)
        model = subject.new().fit(rows, y)
        saved = skops.dumps(model)
        untrusted = skops.get_untrusted_types(data=saved)
        own = {"scarce", type(model).__module__.partition(".")[0]}
        strangers = [name for name in untrusted if name.partition(".")[0] not in own]
        assert not strangers, f"skops would have to trust {strangers}"
        loaded = skops.loads(saved, trusted=untrusted)
        assert loaded.get_params() == model.get_params()
        np.testing.assert_array_equal(scores_of(loaded, rows), scores_of(model, rows))


@check()
def fitted_state_is_arrays_and_builtins(subject: Subject) -> None:
    X, y = subject.make(40)
    for container in subject.containers:
        model = subject.new().fit(container(X), y)
        assert_plain_state(model)
        # Learners are kept as they are; their own state is plain too.
        for name in LEARNERS & vars(model).keys():
            learners = getattr(model, name)
            for learner in learners if isinstance(learners, list) else [learners]:
                assert_plain_state(learner)


def assert_plain_state(model: Any) -> None:
    for name in vars(model).keys() - model.get_params().keys() - LEARNERS:
        value = vars(model)[name]
        plain = value is None or isinstance(value, (bool, int, float, str, tuple, list, dict))
        assert plain or isinstance(value, np.ndarray) or sparse.issparse(value), name
    for name in {"detector_", "bags_"} & vars(model).keys():
        assert_plain_state(vars(model)[name])
