"""Samples, scales and offsets nobody plans for: finite answers, or errors that say why."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from scarce.testing._subject import Subject, scores_of
from scarce.testing._suite import assert_same_decisions, check, raises

TASKS = 10_000  # of a fit: rounds, blocks of variables; hostile data take some hundreds
SOLVED = ("dual_coef_", "intercept_", "objective_", "kkt_violation_")


class Budget:
    """A callback that ends a fit which does not end by itself, by the number of its tasks."""

    def __init__(self) -> None:
        self.tasks = 0

    def setup(self, estimator: Any, context: Any) -> None:
        pass

    def teardown(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.tasks += 1
        if self.tasks > TASKS:
            raise AssertionError(f"still not fitted after {TASKS} tasks: {estimator}")


def fitted(model: Any, X: Any, y: Any) -> Any:
    """Fit within the budget; that `tol` is out of reach, or no margin is left, may be said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*nearly trivial solution|The solution is trivial")
        warnings.filterwarnings("ignore", "nu raised in the rounds|.*positive rows are all equal")
        if hasattr(model, "set_callbacks"):
            model.set_callbacks(Budget())
        return model.fit(X, y)


def fitted_if_possible(subject: Subject, model: Any, X: Any, y: Any) -> Any:
    """Return None where a proportion of margin errors is asked of classes that are the same.

    Of one labelled class, also where no other row lies outside it, and of a class that is held out
    where all its rows are the same.
    """
    held_out = {"one-class", "false_alarms"} & subject.traits
    expected = ["at least 2 distinct rows"] if held_out else []
    if {"classifier", "nu"} <= subject.traits or "one label" in subject.traits:
        expected.append("leaves no margin")
    if "one label" in subject.traits:
        expected += ["no strong negatives", "at least two different positive rows"]
    try:
        return fitted(model, X, y)
    except ValueError as error:
        if not any(words in str(error) for words in expected):
            raise
        return None


def assert_finite(subject: Subject, model: Any, X: Any) -> None:
    """Ask for finite state, decisions and claims of whatever the class documents."""
    for name in SOLVED:
        if subject.documents(name):
            values = getattr(model, name)
            values = values.data if sparse.issparse(values) else values
            assert np.isfinite(values).all(), f"{name} is not finite"
    assert np.isfinite(scores_of(model, X)).all(), "decisions are not finite"
    assert model.predict(X).shape == (X.shape[0],)


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


@check("kernel", "gamma")
def extreme_scales_of_the_default_kernel(subject: Subject) -> None:
    # gamma="scale" undoes any scale.
    X, y = subject.make(40)
    plain = subject.new().fit(X, y)
    for scale in (1e150, 1e-150):
        model = fitted(subject.new(), scale * X, y)
        assert_same_decisions(plain, model, X, 1e-6, new=scale * X)
    for scale in (1e15, 1e-15, 1e30, 1e-30):
        rows = (scale * X).astype(np.float32)
        model = fitted(subject.new(), rows, y)
        assert_same_decisions(plain, model, X, 1e-3, new=rows)


@check("kernel", "gamma")
def extreme_scales_of_other_kernels(subject: Subject) -> None:
    X, y = subject.make(40)
    for kernel in ("linear", "poly"):
        for scale in (1e150, 1e-100):
            model = fitted(subject.new(kernel=kernel), scale * X, y)
            assert_finite(subject, model, scale * X)
        for scale in (1e18, 1e-18):
            rows = (scale * X).astype(np.float32)
            narrow = subject.new(kernel=kernel, gamma="auto")
            if scale < 1 and "one label" in subject.traits:  # all kernel values may be zero
                narrow = fitted_if_possible(subject, narrow, rows, y)
            else:
                fitted(narrow, rows, y)
            if narrow is not None:
                assert_finite(subject, narrow, rows)
    with raises(ValueError, r"not finite.*kernel overflows: gamma=1, degree=3"):
        fitted(subject.new(kernel="poly", gamma=1.0), 1e150 * X, y)


@check("kernel", "gamma")
def a_width_far_from_the_data(subject: Subject) -> None:
    # Every row is far from, or next to, every other.
    X, y = subject.make(40)
    for gamma in (1e-12, 1e12, 1e100):
        model = subject.new(gamma=gamma)
        if gamma < 1 and "one label" in subject.traits:  # all kernel values are equal
            model = fitted_if_possible(subject, model, X, y)
        else:
            fitted(model, X, y)
        if model is not None:
            assert_finite(subject, model, X)
    spread = fitted(subject.new(gamma="auto"), 1e9 * X, y)
    assert_finite(subject, spread, 1e9 * X)
    assert spread.fit_status_ == 0


@check("kernel")
def an_offset_that_drowns_the_data(subject: Subject) -> None:
    X, y = subject.make(40)
    plain = subject.new().fit(X, y)
    assert_same_decisions(plain, fitted(subject.new(), X + 1e6, y), X, 1e-6, new=X + 1e6)
    model = fitted_if_possible(subject, subject.new(kernel="linear"), X + 1e8, y)
    if model is not None:
        assert_finite(subject, model, X + 1e8)


@check("gamma")
def constant_columns(subject: Subject) -> None:
    X, y = subject.make(40)
    plain = subject.new(gamma=0.5).fit(X, y)
    wide = np.c_[X, np.zeros(40), np.full(40, 7.0)]
    assert_same_decisions(plain, fitted(subject.new(gamma=0.5), wide, y), X, 1e-9, new=wide)
    assert_finite(subject, fitted(subject.new(), wide, y), wide)


@check()
def columns_of_very_different_scale(subject: Subject) -> None:
    X, y = subject.make(40)
    mixed = X * [1e100, 1.0, 1e-100]
    assert_finite(subject, fitted(subject.new(), mixed, y), mixed)


@check()
def values_whose_squares_overflow(subject: Subject) -> None:
    X, y = subject.make(20)
    if getattr(subject.estimator, "normalize", False):  # of rows of norm one nothing overflows
        plain, model = subject.new().fit(X, y), fitted(subject.new(), 1e160 * X, y)
        return assert_same_decisions(plain, model, X, 1e-6, new=1e160 * X)
    with raises(ValueError, r"not finite.*X holds \d.*e\+16.*overflows"):
        fitted(subject.new(), 1e160 * X, y)
