"""A score of classifiers that needs no negatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from scarce._frame import plain_weights
from scarce.positive_unlabeled.bags._threshold import wilson


def lee_liu_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    lower_bound: bool = False,
) -> float:
    """Return recall squared over the probability of a positive answer.

    With ``r`` the recall, ``p`` the precision and ``f(x)`` the answer, ``r^2 / P[f(x) = 1]`` equals
    ``p r / P[y = 1]``. The last factor is the same for all classifiers, so that the score orders
    them as the product of precision and recall does; it is large only if both are. Recall is
    estimated on the labelled positives and ``P[f(x) = 1]`` on the unlabelled rows, which must be a
    sample of the whole population, positives included.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The positive label for labelled positives, another one for unlabelled rows.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    pos_label : int, float, bool, str or None, default=None
        The positive label; None is the larger one of the two in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights; they count rows.
    lower_bound : bool, default=False
        Take the lower end of an interval of 95 % for the recall in place of its value. A
        classifier that accepts two of five labelled rows and next to nothing else has a high score
        by chance; with the lower end it has not. `lee_liu_scorer` and the method `score` of the
        estimators for positive and unlabelled rows do so.

    Returns
    -------
    float
        At least 0; a perfect classifier has one over the proportion of positives. 0 if no
        unlabelled row is predicted positive.

    Notes
    -----
    ``pulearn.metrics.lee_liu_score`` estimates the probability on all rows given, which suits a
    sample of the population part of whose positives were labelled afterwards.

    References
    ----------
    W. S. Lee, B. Liu, "Learning with positive and unlabeled examples using weighted logistic
    regression", ICML 2003.

    Examples
    --------
    >>> from scarce.model_selection import lee_liu_score
    >>> lee_liu_score([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])  # (1/2)^2 / (1/4)
    1.0
    """
    truth, found = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(truth, found)
    weights = plain_weights(sample_weight, truth)
    labels = np.unique(truth)
    if labels.size > 2 or (pos_label is None and labels.size < 2):
        raise ValueError(
            "y_true must have one label for positives and one for unlabelled rows, got the labels "
            f"{labels.tolist()}; name the positive one as pos_label"
        )
    positive_label = labels[1] if pos_label is None else pos_label
    labelled, positive = truth == positive_label, found == positive_label
    known, unknown = float(weights[labelled].sum()), float(weights[~labelled].sum())
    if not (known > 0 and unknown > 0):
        raise ValueError(
            "y_true must hold both labelled positives and unlabelled rows, got a weight of "
            f"{known:g} labelled {positive_label!r} and {unknown:g} others"
        )
    recall = float(weights[labelled & positive].sum()) / known
    if lower_bound:
        recall = wilson(recall, known)[0]
    share = float(weights[~labelled & positive].sum()) / unknown
    return recall**2 / share if share > 0 else 0.0


class LeeLiuScored:
    """Estimators whose `score` needs no negatives."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of Lee and Liu, with a lower bound of the recall.

        Not the accuracy: labels that say "positive" and "unlabelled" are not classes, and a
        classifier that finds the unlabelled rows of the class would have less of it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Labelled and unlabelled rows that were not trained on.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        float
            At least 0, the larger the better, up to one over the proportion of the class; see
            ``scarce.metrics.lee_liu_score``.
        """
        check_is_fitted(self)
        found, label = self.predict(X), self.pos_label_  # type: ignore[attr-defined]
        return lee_liu_score(
            y, found, pos_label=label, sample_weight=sample_weight, lower_bound=True
        )


def positive_label(estimator: Any) -> Any:
    """Return the positive label of an estimator or of the one that it wraps; None if none has."""
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    if hasattr(last, "pos_label_"):
        return last.pos_label_
    parameters = estimator.get_params() if hasattr(estimator, "get_params") else {}
    given = [
        value
        for name, value in parameters.items()
        if name.split("__")[-1] == "pos_label" and value is not None
    ]
    return given[0] if given else None
