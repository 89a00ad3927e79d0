"""Fits that must end, and answers that must be finite."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from scarce.testing._subject import Subject, scores_of

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
