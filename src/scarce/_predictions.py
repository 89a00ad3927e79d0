"""From scores to predictions: the boundary up to rounding, labels, inside and outside."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._data import lazily
from scarce._frame import note
from scarce.kernels import Kernel


class LabelPredictions:
    """Labels by `decision_function`: the sign of one column, the largest of several."""

    classes_: Array

    @abstractmethod
    def _decisions(self, X: Any) -> Array:
        """Return one column for two classes, else one for each class."""

    @lazily
    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The samples, of the kind that `fit` takes; for a precomputed kernel, their values with
            the training samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for ``classes_[1]``, whichever label is the positive one; for several classes
            one column each.
        """
        return self._decisions(X)

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
    def _scores_inside(self, X: Any) -> Array:
        """Return the scores, higher for what is more normal."""

    @lazily
    def score_samples(self, X: Any) -> Array:
        """Return the scores before the offset is subtracted.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The samples, of the kind that `fit` takes; for a precomputed kernel, their values with
            the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher is more normal.
        """
        return self._scores_inside(X)

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


EPS = np.finfo(np.float64).eps


def rounding_error(coefficients: Array, largest: float) -> float:
    """Return how far rounding may move a score ``sum_j c_j k(x, x_j)`` with ``k`` up to largest."""
    return 16.0 * float(EPS * np.abs(coefficients).sum() * largest)


def on_boundary(scores: Array, offsets: Array, rounding: float) -> Array:
    """Return the scores, those that equal the offset up to rounding set to it.

    Support vectors that are not at their bound lie exactly on the boundary; without this rounding
    errors would reject half of them, and more than the proportion ``nu`` in all.
    """
    return np.where(np.abs(scores - offsets) <= rounding, offsets, scores)


def no_nan(scores: Array) -> Array:
    """Return scores; refuse NaN, which differences of infinite terms are."""
    wrong = np.isnan(scores)
    if wrong.any():
        first = np.argwhere(wrong)[0][0]
        raise ValueError(
            f"the score of row {first} of X is not a number: terms of it overflow. "
            "Scale X as the rows of the fit were; if it is, the model was altered"
        )
    return scores


ROUNDING = 1e-14


def is_zero(objective: float, largest: float) -> bool:
    """Return whether the optimum, and with it the weight vector, is zero up to rounding.

    ``-largest`` is the smallest value the objective could have for kernel values of that size.
    """
    return -objective <= ROUNDING * largest


def warn_if_zero(objective: float, largest: float, kernel: Kernel) -> None:
    """Warn when `is_zero`."""
    if not is_zero(objective, largest):
        return
    if kernel.vanishes:  # which only an approximation turns to zero
        note(
            f"The solution is trivial: with {kernel} some rows have no kernel value with any "
            "landmark, so that w = 0 and every decision is 0. Raise n_components, or use a wider "
            "kernel."
        )
    else:
        note(
            f'The solution is trivial: with kernel="{kernel.name}" the origin lies among the '
            "sample, so that w = 0 and every decision is 0. Use an rbf kernel, or do not centre "
            "the data."
        )
