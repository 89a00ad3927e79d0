"""Hostile but finite input gives finite output, and in finite time."""

import time
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tests.checks.registry import Subject
from tests.checks.suite import assert_same_decisions, check

SECONDS = 5.0


class Deadline:
    """A callback that ends a fit which does not end by itself."""

    def setup(self, estimator: Any, context: Any) -> None:
        self.end = time.monotonic() + SECONDS

    def teardown(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        if time.monotonic() > self.end:
            raise TimeoutError(f"still not fitted after {SECONDS} seconds: {estimator}")


def fitted(model: Any, X: Any, y: Any) -> Any:
    """Fit within the deadline; that `tol` is out of reach, or no margin is left, may be said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*nearly trivial solution|The solution is trivial")
        warnings.filterwarnings("ignore", "nu raised in the rounds|.*positive rows are all equal")
        return model.set_callbacks(Deadline()).fit(X, y)


def fitted_if_possible(subject: Subject, model: Any, X: Any, y: Any) -> Any:
    """Return None where a share of margin errors is asked of classes that are the same.

    Of one labelled class, also where no other row lies outside it.
    """
    expected = []
    if {"classifier", "nu"} <= subject.traits or "one label" in subject.traits:
        expected.append("leaves no margin")
    if "one label" in subject.traits:
        expected.append("no strong negatives")
    try:
        return fitted(model, X, y)
    except ValueError as error:
        if not any(words in str(error) for words in expected):
            raise
        return None


def assert_finite(model: Any, X: Any) -> None:
    solved = ("dual_coef_", "intercept_", "objective_", "kkt_violation_")
    for name in solved if hasattr(model, "cache_size") else ():  # by the solver
        assert np.isfinite(getattr(model, name)).all(), name
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict(X).shape == (X.shape[0],)


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
            assert_finite(model, scale * X)
        for scale in (1e18, 1e-18):
            rows = (scale * X).astype(np.float32)
            narrow = subject.new(kernel=kernel, gamma="auto")
            if scale < 1 and "one label" in subject.traits:  # all kernel values may be zero
                narrow = fitted_if_possible(subject, narrow, rows, y)
            else:
                fitted(narrow, rows, y)
            if narrow is not None:
                assert_finite(narrow, rows)
    with pytest.raises(ValueError, match=r"not finite.*kernel overflows: gamma=1, degree=3"):
        fitted(subject.new(kernel="poly", gamma=1.0), 1e150 * X, y)


@check("kernel")
def a_sample_around_the_origin(subject: Subject) -> None:
    # Where a linear one-class model is zero, however large the scale of the rounding errors.
    X, y = subject.make(40)
    for scale in (1.0, 1e6, 1e18, 1e150):
        rows = scale * (X - X.mean(axis=0))
        for kernel in ("linear", "poly"):
            assert_finite(fitted(subject.new(kernel=kernel), rows, y), rows)


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
            assert_finite(model, X)
    spread = fitted(subject.new(gamma="auto"), 1e9 * X, y)
    assert_finite(spread, 1e9 * X)
    assert spread.fit_status_ == 0


@check("kernel")
def an_offset_that_drowns_the_data(subject: Subject) -> None:
    X, y = subject.make(40)
    plain = subject.new().fit(X, y)
    assert_same_decisions(plain, fitted(subject.new(), X + 1e6, y), X, 1e-6, new=X + 1e6)
    model = fitted_if_possible(subject, subject.new(kernel="linear"), X + 1e8, y)
    if model is not None:
        assert_finite(model, X + 1e8)


@check("one-class", "kernel")
def a_solution_of_zero_is_said(subject: Subject) -> None:
    X, _ = subject.make(40)
    model = subject.new(kernel="linear")
    if subject.name == "SVDD":  # a ball is where the sample is, wherever the origin
        model.fit(X - X.mean(axis=0))
        return
    with pytest.warns(UserWarning, match="origin lies among the sample"):
        model.fit(X - X.mean(axis=0))


@check("gamma")
def constant_columns(subject: Subject) -> None:
    X, y = subject.make(40)
    plain = subject.new(gamma=0.5).fit(X, y)
    wide = np.c_[X, np.zeros(40), np.full(40, 7.0)]
    assert_same_decisions(plain, fitted(subject.new(gamma=0.5), wide, y), X, 1e-9, new=wide)
    assert_finite(fitted(subject.new(), wide, y), wide)


@check()
def columns_of_very_different_scale(subject: Subject) -> None:
    X, y = subject.make(40)
    mixed = X * [1e100, 1.0, 1e-100]
    assert_finite(fitted(subject.new(), mixed, y), mixed)


@check()
def duplicates(subject: Subject) -> None:
    X, y = subject.make(20)
    many = np.tile(np.arange(20), 20)
    labels = None if y is None else y[many]
    model = fitted(subject.new(), X[many], labels)
    assert_finite(model, X)
    weighted = subject.new().fit(X, y, sample_weight=np.full(20, 20.0))
    assert_same_decisions(weighted, model, X, 1e-6)


@check()
def all_rows_equal(subject: Subject) -> None:
    _, y = subject.make(30)
    for value in (0.0, 1.0, 1e150):
        X = np.full((30, 3), value)
        model = fitted_if_possible(subject, subject.new(), X, y)
        if model is not None:
            assert_finite(model, X)


@check("kernel", "one-class")
def one_row(subject: Subject) -> None:
    feasible = {"C_target": 1.0} if "C_target" in subject.traits else {}
    for kernel in ("rbf", "linear", "poly", "sigmoid"):
        for value in (0.0, 1.0, 1e-150, *((1e150,) if kernel != "poly" else ())):
            X = np.full((1, 2), value)
            model = fitted(subject.new(kernel=kernel, **feasible), X, None)
            assert_finite(model, X)
            assert model.predict(X) == [1]


@check("classifier")
def two_rows(subject: Subject) -> None:
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    model = fitted(subject.new(), X, ["a", "b"])
    np.testing.assert_array_equal(model.predict(X), ["a", "b"])


@check()
def values_whose_squares_overflow(subject: Subject) -> None:
    X, y = subject.make(20)
    with pytest.raises(ValueError, match=r"not finite.*X holds \d.*e\+16.*overflows"):
        fitted(subject.new(), 1e160 * X, y)
