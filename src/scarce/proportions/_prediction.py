"""Answers of the learners from proportions: labels, probabilities, proportions of groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._data import lazily
from scarce._frame import plain_weights
from scarce._predictions import LabelPredictions
from scarce.proportions._calibration import probabilities
from scarce.proportions._groups import read_groups
from scarce.proportions._share_loss import RowGroups, class_probabilities
from scarce.proportions._shares import group_error
from scarce.proportions._soft_labels._estimates import ShareEstimates, ShareLines


def has_several_columns(y: Any) -> bool:
    """Say whether `y` holds proportions of several classes rather than labels."""
    values = np.asarray(y)
    return values.ndim == 2 and values.shape[1] > 1


class SharePrediction(LabelPredictions, ClassifierMixin):
    """What a fitted model from proportions answers; a subclass has `_raw_decisions`."""

    classes_: Array
    calibrate: str | None
    calibration_: Any
    _cut: Any
    _share_lines: tuple[Array, ...] | None = None
    _raw_decisions: Any
    _validated: Any

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        decisions = self._raw_decisions(X)
        return np.asarray(decisions[:, 0] if decisions.shape[1] == 1 else decisions)

    @lazily
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, calibrated by the training groups' proportions.

        With ``calibration_ = (a, b)`` they are the logistic function of `a` times the decision
        values, which hold the shift already; for several classes the softmax. Without a calibration
        the logistic function, normalised for several classes, as published. They do not depend on
        `threshold`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``.
        """
        decisions = self.decision_function(X) + (
            self._cut if np.size(self.classes_) > 2 else np.ravel(self._cut)[0]
        )
        if self.calibration_ is None:
            return probabilities(decisions)
        if decisions.ndim == 1:
            return probabilities(self.calibration_[0] * decisions)
        return class_probabilities(self.calibration_[0] * decisions)

    def predict_share(
        self, X: Any, groups: Any, *, level: float = 0.9, sample_weight: Any = None
    ) -> ShareEstimates:
        """Return the estimated proportions of groups, known or new, with intervals.

        A group's mean probability is put on the line that the held-out groups of the fit are on,
        and the interval is as wide as they are off it: it holds the proportion of a new group with
        the probability `level`, as long as the group is one of the same kind. Too few groups give
        the whole range from 0 to 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.
        groups : array-like of shape (n_samples,)
            Group of each row; rows of no group (-2, None or NaN), and -1, are left out.
        level : float, default=0.9
            Wanted probability of the intervals, between 0 and 1.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in their groups.

        Returns
        -------
        ShareEstimates
            A tuple of `groups`, `share`, `lower` and `upper`, one entry for each group; for several
            classes one column each, every interval by itself.
        """
        check_is_fitted(self)
        if self._share_lines is None:
            raise ValueError(
                'predict_share needs a fit with calibrate="em" and groups of several samples: '
                f"held-out groups say how wide an interval is; got calibrate={self.calibrate!r}"
            )
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be a number between 0 and 1, got {level!r}")
        p = np.asarray(self.predict_proba(X))
        codes, ids = read_groups(groups, p.shape[0])
        weights = plain_weights(sample_weight, p)
        rows = np.flatnonzero((codes >= 0) & (weights > 0))
        if rows.size == 0:
            raise ValueError("groups has no group with a row of positive weight to estimate")
        kept, inside = np.unique(codes[rows], return_inverse=True)
        in_groups = RowGroups.of(inside, weights[rows], kept.size)
        means = in_groups.means(p[rows, 1:] if p.shape[1] == 2 else p[rows])
        found = ShareLines(*self._share_lines).estimates(means, in_groups.sizes, level)
        if p.shape[1] == 2:
            found = tuple(each[:, 0] for each in found)  # type: ignore[assignment]
        return ShareEstimates([ids[code] for code in kept], *found)

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy, or with groups how well the proportions are met.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Labels; with groups, or of two dimensions, the proportions as in fit.
        groups : array-like of shape (n_samples,), default=None
            Group of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            For labels the accuracy. For proportions ``1 - group_error``: the largest accuracy that
            the predicted labels can have, given the proportions. No label of a row is needed.

        See Also
        --------
        group_error : The error of the proportions.
        """
        predicted = self.predict(X)
        if groups is None and not has_several_columns(y):
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        error = group_error(
            y, predicted, groups, classes=self.classes_, sample_weight=sample_weight
        )
        return 1.0 - error
