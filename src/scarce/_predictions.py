"""Predictions that follow from decision values: labels, and inside or outside."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._data import lazily


class LabelPredictions:
    """Labels by `decision_function`: the sign of one column, the largest of several."""

    classes_: Array

    @abstractmethod
    def decision_function(self, X: Any) -> Array:
        """Return one column for two classes, else one for each class."""

    @lazily
    def predict(self, X: Any) -> Array:
        """Return the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The samples, as for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of ``classes_``.
        """
        return self._labels_at(self.decision_function(X))

    def _labels_at(self, decisions: Array) -> Array:
        """Return the labels at decision values."""
        best = decisions > 0 if decisions.ndim == 1 else decisions.argmax(axis=1)
        return np.asarray(self.classes_[best.astype(np.intp)])


class OneClassPredictions:
    """Decisions are scores minus the offset; what reaches it is inside."""

    offset_: Any

    @abstractmethod
    def score_samples(self, X: Any) -> Array:
        """Return the scores, higher for what is more normal."""

    @lazily
    def decision_function(self, X: Any) -> Array:
        """Return how far each sample is inside: its score minus the offset.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The samples, as for `score_samples`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive inside, negative outside, zero on the boundary.
        """
        return np.asarray(self.score_samples(X) - self.offset_)

    @lazily
    def predict(self, X: Any) -> Array:
        """Return +1 for samples inside or on the boundary and -1 for the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The samples, as for `score_samples`.

        Returns
        -------
        ndarray of shape (n_samples,)
            +1 or -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
