"""What the baselines that learn from proportions have in common: input and prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._classes import check_labels
from scarce._data import lazily
from scarce._frame import checked_weights, fit_frame, note, validate_data
from scarce._predictions import LabelPredictions, no_nan
from scarce.proportions import (
    Bags,
    RowGroups,
    class_probabilities,
    grouped_rows,
    has_several_columns,
    read_shares,
    single_rows,
)


class ShareClassifier(LabelPredictions, ClassifierMixin, BaseEstimator):
    """Base of classifiers that learn from proportions; a subclass has `_learn` and `_logits`."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "sample_weight": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @fit_frame
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Learn from proportions, or from labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            With groups, the proportion of positives in each row's group, or the proportions of all
            classes. Without groups, labels, or the proportions of all classes for each row.
        groups : array-like of shape (n_samples,), default=None
            Group of each row: any hashable ids. A row of no group has -2, None or NaN, and NaN for
            `y`; it takes no part. By default every row is a group of its own.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in its group's mean and size.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._learn(*self._read(X, y, groups, sample_weight))
        return self

    def _learn(self, X: Any, in_groups: RowGroups, shares: Array) -> None:
        """Learn from the rows that take part; two classes have one column of proportions."""
        raise NotImplementedError

    def _read(
        self, X: Any, y: Any, groups: Any, sample_weight: Any
    ) -> tuple[Any, RowGroups, Array]:
        """Return the rows that take part, their groups and the proportions; set `classes_`."""
        if groups is None and not has_several_columns(y):
            X, y = self._validated(X, y, reset=True)
            y = column_or_1d(y, warn=True)
            check_labels(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
            if self.classes_.size < 2:
                raise ValueError("The number of classes has to be greater than one; got 1 class")
            weights = checked_weights(sample_weight, X)
            bags = single_rows(np.eye(self.classes_.size)[codes], weights)
        else:
            X = self._validated(X, reset=True)
            weights = checked_weights(sample_weight, X)
            bags = self._grouped(y, groups, weights)
            self.classes_ = np.arange(max(2, bags.shares.shape[1]))
        shares = bags.shares[:, 1:] if bags.shares.shape[1] == 2 else bags.shares
        rows = bags.rows
        in_groups = RowGroups.of(bags.codes[rows], bags.weights[rows], bags.n_bags)
        return (X if rows.size == X.shape[0] else X[rows]), in_groups, shares

    def _grouped(self, y: Any, groups: Any, weights: Array) -> Bags:
        if groups is None:
            return single_rows(read_shares(y, weights.size), weights)
        bags = grouped_rows(y, groups, weights)
        if bags.n_common:
            raise ValueError(
                f"groups marks {bags.n_common} rows as common (-1), which "
                f"{type(self).__name__} cannot use; mark them as leftover (-2, None or NaN)"
            )
        return bags

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        return validate_data(
            self, X, y, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr"
        )

    def _logits(self, X: Any) -> Array:
        """Return one column for two classes, else one a class, of checked rows."""
        raise NotImplementedError

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        logits = no_nan(self._logits(self._validated(X, reset=False)))
        return np.asarray(logits[:, 0] if logits.shape[1] == 1 else logits)


class ProbabilisticShareClassifier(ShareClassifier):
    """The same with probabilities, the softmax of the decision values."""

    @lazily
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``.
        """
        logits = self.decision_function(X)
        if logits.ndim == 2:
            return class_probabilities(logits)
        return class_probabilities(np.column_stack([np.zeros(logits.size), logits]))


def fit_linear(
    loss: Callable[[Array], tuple[float, Array]],
    features: Any,
    n_columns: int,
    total: float,
    estimator: Any,
    known: Array | None = None,
) -> tuple[Array, Array]:
    """Return weights and constants that make ``loss(logits) + |weights|^2 / (2 C)`` small.

    ``loss`` returns its value and its gradient in the logits; ``total`` is its scale; ``known``
    holds a linear term for each column, to be taken off: of the weights, then of the constant.
    """
    d = features.shape[1]

    def objective(place: Array) -> tuple[float, Array]:
        weights, constants = np.split(place.reshape(d + 1, n_columns), [d])
        value, slopes = loss(np.asarray(features @ weights) + constants)
        gradient = np.vstack([features.T @ slopes + weights / estimator.C, slopes.sum(axis=0)])
        value += 0.5 / estimator.C * float((weights**2).sum())
        if known is not None:
            value -= float((known.T * place.reshape(d + 1, n_columns)).sum())
            gradient -= known.T
        return value / total, gradient.ravel() / total

    found = minimize(
        objective,
        np.zeros((d + 1) * n_columns),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": estimator.max_iter, "gtol": estimator.tol, "ftol": 1e-16},
    )
    estimator.n_iter_ = max(1, int(found.nit))
    if found.nit >= estimator.max_iter:
        note(
            f"max_iter={estimator.max_iter} ended the fit before the gradient was below "
            f"tol={estimator.tol:g}; raise max_iter, or scale the features",
            ConvergenceWarning,
        )
    weights, constants = np.split(found.x.reshape(d + 1, n_columns), [d])
    return weights, constants[0]
