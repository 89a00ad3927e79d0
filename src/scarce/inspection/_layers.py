"""A model seen through what it is wrapped in: pipelines, searches, calibrations."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from scarce._arrays import Array
from scarce._kernel_sum import KernelSum
from scarce.inspection._columns import origins
from scarce.model_selection import CalibratedOneClass


@dataclass(frozen=True)
class Layers:
    """The steps before an estimator, the estimator, and what happens to its score."""

    steps: tuple[Any, ...]  # what rows go through first
    last: Any  # what scores them
    factor: float = 1.0  # of its score in that of the whole
    calibrated: Any = None  # A calibration around it, whose offset takes the place of its own

    @property
    def offset(self) -> float | None:
        """That of the calibration, if there is one."""
        return None if self.calibrated is None else float(np.ravel(self.calibrated.offset_)[0])

    def transformed(self, X: Any) -> Any:
        """Return rows as the last estimator sees them."""
        with warnings.catch_warnings():
            # A calibration may have fitted its steps to an array of the frame's values.
            warnings.filterwarnings("ignore", "X has feature names")
            for step in self.steps:
                X = step.transform(X)
        return X

    def origins(self, n_columns: int) -> Array | None:
        """Return the column of the table that each column of the last estimator is made from."""
        found: Array | None = np.arange(n_columns)
        for step in self.steps:
            further = None if found is None else origins(step, found.size)
            found = None if found is None or further is None else found[further]
        return found

    def scores(self, rows: Any) -> Array:
        """Return the scores of rows that have gone through the steps, a column for each output."""
        last = self.last
        with warnings.catch_warnings():
            # Rows behind a step carry no names any more.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            if self.offset is not None:
                found = getattr(last, "score_samples", None) or last.decision_function
                scores = self.factor * np.asarray(found(rows)) - self.offset
            elif is_regressor(last):
                scores = last.predict(rows)
            elif hasattr(last, "decision_function"):
                scores = last.decision_function(rows)
            elif hasattr(last, "predict_proba"):
                scores = last.predict_proba(rows)
            else:  # an open-set classifier: how far a row is inside the class that suits it best
                scores = last.score_samples(rows)
        scores = np.asarray(scores, dtype=np.float64)
        return scores[:, None] if scores.ndim == 1 else scores

    def kernel_sum(self) -> KernelSum | None:
        """Return these scores as a formula, if they are one."""
        found: KernelSum | None = getattr(self.last, "_kernel_sum", lambda: None)()
        if found is None or self.offset is None:
            return found
        own = float(np.ravel(getattr(self.last, "offset_", 0.0))[0])
        return found.scaled(self.factor, self.factor * own - self.offset)


def layers_of(model: Any) -> Layers:
    """Look through pipelines, searches, frozen estimators and calibrations."""
    steps: list[Any] = []
    factor, calibrated = 1.0, None
    while True:
        if isinstance(model, Pipeline):
            steps += [step for _, step in model.steps[:-1] if not _passes(step)]
            model = model.steps[-1][1]
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        elif isinstance(model, CalibratedOneClass):
            factor *= model._score_factor
            calibrated = model if calibrated is None else calibrated
            model = model.estimator_
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return Layers(tuple(steps), model, factor, calibrated)


def _passes(step: Any) -> bool:
    return step is None or isinstance(step, str)


def dense(rows: Any) -> Array:
    """Return rows as an array of float64."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
