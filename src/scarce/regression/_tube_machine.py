"""What the regressors share: targets, the fitted model, prediction."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.metaestimators import available_if

from scarce._arrays import Array
from scarce._classes import check_lengths
from scarce._data import lazily
from scarce._frame import (
    Interval,
    checked_costs,
    checked_weights,
    fit_frame,
    keep_quality,
    refuse_times,
)
from scarce.reductions import TubeRegression
from scarce.solvers import QuadraticProgram, Solution
from scarce.updates import UpdatedFit, keeps_rows


class TubeMachine(RegressorMixin, UpdatedFit):
    """Base of regressors with a tube; a subclass has `_program` and `_read`."""

    _allowed_values: ClassVar[dict[str, Any]] = {
        **UpdatedFit._allowed_values,
        "C": [Interval(Real, 0.0, None, closed="right")],
    }

    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}

    intercept_: Array

    def _program(self, operator: Any, targets: Array, costs: Array) -> QuadraticProgram:
        """Return the program."""
        raise NotImplementedError

    def _read(self, program: QuadraticProgram, solution: Solution) -> TubeRegression:
        """Return its model."""
        raise NotImplementedError

    @fit_frame
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows; for a precomputed kernel, the kernel matrix.
        y : array-like of shape (n_samples,)
            Wanted values.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of `C` per row; a row of weight 2 is the same as the row given twice, and a row
            of weight 0 or less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._drop_rows()
        return self._fit_rows(*_with_targets(self._validated(X, y, reset=True), sample_weight))

    @available_if(keeps_rows)
    @fit_frame
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Bring the function up to date for new rows: the optimum of all rows that are kept.

        The first call is a fit; `fit` itself keeps no rows. A `gamma` that is found from the rows
        is found by the first call, and stays.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows. They are kept, of all calls no more than `window`, the newest.
        y : array-like of shape (n_samples,)
            Their wanted values.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; a row of weight 0 or less takes no part, and is not kept.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, targets, weights = _with_targets(self._checked_rows(X, y), sample_weight)
        self._take_rows(X, weights, targets)
        self._fit_rows(self._kept_rows, self._kept_targets, self._kept_weights)
        del self._update
        return self

    def _fit_rows(self, X: Any, targets: Array, weights: Array) -> Self:
        """Fit checked rows."""
        sample = self._sample(X, weights)
        costs = checked_costs("C", self.C, sample.weights)
        program = self._program(sample.operator, targets[sample.rows], costs)
        last = sample.part(self._last_dual_variables(X.shape[0]))
        start = None if last is None else np.maximum(np.concatenate([last, -last]), 0.0)
        solution = self._solve(program, start)
        model = self._read(program, solution)
        support, terms = self._expansion(sample.operator, model.coefficients)
        self._keep(X, sample.rows[support], terms)
        self.intercept_ = np.array([model.intercept])
        self.n_iter_ = max(1, solution.n_iter)
        self.objective_ = model.objective
        self._keep_more(model)
        keep_quality(self, [solution])
        return self

    def _keep_more(self, model: TubeRegression) -> None:
        """Store what a subclass knows beside."""

    @property
    def n_support_(self) -> Array:
        """Number of support vectors."""
        return np.array([self.support_.size], dtype=np.int32)

    @lazily
    def predict(self, X: Any) -> Array:
        """Return the values of the function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values.
        """
        return np.asarray(self._raw_scores(X) + self.intercept_)


def _with_targets(checked: tuple[Any, Any], sample_weight: Any) -> tuple[Any, Array, Array]:
    """Return checked rows, their targets and weights."""
    X, y = checked
    try:
        targets = column_or_1d(y, warn=True)
        refuse_times(targets)
        targets = targets.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be a number for each sample: {error}") from error
    assert_all_finite(targets, input_name="y")
    check_lengths(X, targets)
    return X, targets, checked_weights(sample_weight, X)
