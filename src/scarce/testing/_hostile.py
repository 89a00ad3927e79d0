"""Samples without spread, without size or around the origin give finite answers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from scarce.testing._expect import raises
from scarce.testing._finite import assert_finite, fitted, fitted_if_possible
from scarce.testing._subject import Subject, scores_of
from scarce.testing._suite import assert_same_decisions, check


@check("kernel")
def a_sample_around_the_origin(subject: Subject) -> None:
    # Where a linear one-class model is zero, however large the scale of the rounding errors.
    X, y = subject.make(40)
    for scale in (1.0, 1e6, 1e18, 1e150):
        rows = scale * (X - X.mean(axis=0))
        for kernel in ("linear", "poly"):
            assert_finite(subject, fitted(subject.new(kernel=kernel), rows, y), rows)


@check("one-class", "kernel")
def a_solution_of_zero_is_said(subject: Subject) -> None:
    X, _ = subject.make(40)
    centred = X - X.mean(axis=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = subject.new(kernel="linear").fit(centred)
    if np.any(scores_of(model, centred)):
        return  # a model that does not measure from the origin
    assert any("origin lies among the sample" in str(each.message) for each in caught)


@check("weights")
def duplicates(subject: Subject) -> None:
    X, y = subject.make(20)
    many = np.tile(np.arange(20), 20)
    labels = None if y is None else y[many]
    model = fitted(subject.new(), X[many], labels)
    assert_finite(subject, model, X)
    weighted = subject.new().fit(X, y, sample_weight=np.full(20, 20.0))
    assert_same_decisions(weighted, model, X, 1e-6)


@check()
def all_rows_equal(subject: Subject) -> None:
    _, y = subject.make(30)
    for value in (0.0, 1.0, 1e150):
        X = np.full((30, 3), value)
        model = fitted_if_possible(subject, subject.new(), X, y)
        if model is not None:
            assert_finite(subject, model, X)


@check("kernel", "one-class")
def one_row(subject: Subject) -> None:
    feasible: dict[str, Any] = {"C_target": 1.0} if "C_target" in subject.traits else {}
    if subject.cut_at_training_rows:  # nothing is left of one row that is left out
        with raises(ValueError, r"at least 2 distinct rows.*n_samples=1.*offset="):
            subject.new(**feasible).fit(np.ones((1, 2)))
        feasible |= subject.cut_at_training_rows
    for kernel in ("rbf", "linear", "poly", "sigmoid"):
        for value in (0.0, 1.0, 1e-150, *((1e150,) if kernel != "poly" else ())):
            X = np.full((1, 2), value)
            model = fitted(subject.new(kernel=kernel, **feasible), X, None)
            assert_finite(subject, model, X)
            assert model.predict(X) == [1]


@check("classifier")
def two_rows(subject: Subject) -> None:
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    model = fitted_if_possible(subject, subject.new(), X, ["a", "b"])
    if model is not None:
        np.testing.assert_array_equal(model.predict(X), ["a", "b"])
