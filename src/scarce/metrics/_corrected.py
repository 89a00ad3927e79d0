"""Metrics of labelled positives and unlabelled samples, corrected for the positives among these.

With ``p`` the proportion of the class among the unlabelled samples, ``r`` the part of the labelled
samples that is accepted and ``a`` that of the unlabelled ones, the recall is ``r``, the precision
``p r / a`` and the false positive rate ``(a - p r) / (1 - p)``: ``a`` is a mixture of both rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d

from scarce._arrays import Array
from scarce._frame import plain_weights
from scarce.positive_unlabeled import area_under_curve, estimate_prior


@dataclass(frozen=True)
class Rates:
    """Parts accepted of labelled and of unlabelled samples, and the proportion of the class."""

    labelled: Any
    unlabelled: Any
    share: float

    @property
    def precision(self) -> Any:
        """1 where nothing is accepted, as at the end of scikit-learn's curves."""
        some = np.where(self.unlabelled > 0, self.unlabelled, 1.0)
        found = np.minimum(1.0, self.share * self.labelled / some)
        return np.where(self.unlabelled > 0, found, 1.0)

    @property
    def false_positives(self) -> Any:
        excess = self.unlabelled - self.share * self.labelled
        return np.clip(excess / (1.0 - self.share), 0.0, 1.0)

    @property
    def f1(self) -> float:
        """``2 p r / (a + p)``, that is 2 TP / (predicted + actual positives)."""
        return float(min(1.0, 2.0 * self.share * self.labelled / (self.unlabelled + self.share)))


@dataclass(frozen=True)
class _Sample:
    """Values of labelled and of unlabelled samples, and weights of both."""

    labelled: Array
    unlabelled: Array
    weights: tuple[Array, Array]

    @classmethod
    def read(cls, y_true: Any, values: Any, pos_label: Any, sample_weight: Any) -> _Sample:
        truth, found = column_or_1d(y_true), column_or_1d(values)
        check_consistent_length(truth, found)
        weights = plain_weights(sample_weight, truth)
        labels = np.unique(truth)
        if labels.size > 2 or (pos_label is None and labels.size < 2):
            raise ValueError(
                "y_true must have one label for positives and one for unlabelled samples, got the "
                f"labels {labels.tolist()}; name the positive one as pos_label"
            )
        positive = truth == (labels[1] if pos_label is None else pos_label)
        own, others = weights[positive], weights[~positive]
        if not (own.sum() > 0 and others.sum() > 0):
            raise ValueError(
                "y_true must hold both labelled positives and unlabelled samples, got a weight of "
                f"{own.sum():g} and {others.sum():g}; see pos_label"
            )
        return cls(found[positive], found[~positive], (own, others))

    def accepted(self, label: Any, share: float) -> Rates:
        """Return the rates of predictions that equal the positive label."""
        own, others = self.weights
        labelled = float(own[self.labelled == label].sum() / own.sum())
        unlabelled = float(others[self.unlabelled == label].sum() / others.sum())
        return Rates(labelled, unlabelled, share)

    def share(self, class_prior: float | None) -> float:
        """Return the proportion given, or an estimate by the scores."""
        if class_prior is not None:
            return _checked(class_prior)
        own, others = self.weights
        return estimate_prior(
            self.labelled, self.unlabelled, weight_positive=own, weight_unlabeled=others
        ).prior

    def rates(self, class_prior: float | None) -> tuple[Rates, Array]:
        """Return the rates at all thresholds, from that which accepts nothing, and these."""
        scores = np.concatenate([self.labelled, self.unlabelled]).astype(np.float64)
        assert_all_finite(scores, input_name="y_score")
        thresholds = np.unique(scores)[::-1]

        def above(values: Array, weights: Array) -> Array:
            order = np.argsort(-values, kind="stable")
            taken = np.searchsorted(-values[order], -thresholds, side="right")
            masses = np.append(0.0, np.cumsum(weights[order]))
            return np.append(0.0, masses[taken] / weights.sum())

        labelled = above(self.labelled, self.weights[0])
        unlabelled = above(self.unlabelled, self.weights[1])
        share = self.share(class_prior)
        return Rates(labelled, unlabelled, share), np.append(np.inf, thresholds)


def _checked(class_prior: float | None) -> float:
    if class_prior is None or not 0.0 < class_prior < 1.0:
        raise ValueError(
            "class_prior must lie between 0 and 1, the proportion of the class among the "
            f"unlabelled samples, got {class_prior!r}; scarce.positive_unlabeled.estimate_prior "
            "estimates it from scores"
        )
    return float(class_prior)


def _positive_label(y_true: Any, pos_label: Any) -> Any:
    return np.unique(column_or_1d(y_true))[-1] if pos_label is None else pos_label


def pu_recall_score(
    y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Return the recall: the part of the labelled positives that is predicted positive.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The positive label for labelled positives, another one for unlabelled samples.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    pos_label : label or None, default=None
        The positive label; None is the larger one of the two in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from scarce.metrics import pu_recall_score
    >>> pu_recall_score([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])
    0.5
    """
    sample = _Sample.read(y_true, y_pred, pos_label, sample_weight)
    return float(sample.accepted(_positive_label(y_true, pos_label), 0.5).labelled)


def pu_precision_score(
    y_true: Any,
    y_pred: Any,
    class_prior: float,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the precision among unlabelled samples, ``class_prior * recall / accepted``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The positive label for labelled positives, another one for unlabelled samples.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    class_prior : float
        Proportion of the class among the unlabelled samples.
    pos_label : label or None, default=None
        The positive label; None is the larger one of the two in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    float
        From 0 to 1; 1 if no unlabelled sample is predicted positive. An estimate above 1, by
        chance or because the prior is too large, is 1.

    Examples
    --------
    >>> from scarce.metrics import pu_precision_score
    >>> pu_precision_score([1, 1, 0, 0, 0, 0], [1, 0, 1, 1, 0, 0], 0.5)  # 0.5 * 0.5 / 0.5
    0.5
    """
    sample = _Sample.read(y_true, y_pred, pos_label, sample_weight)
    label = _positive_label(y_true, pos_label)
    return float(sample.accepted(label, _checked(class_prior)).precision)


def pu_f1_score(
    y_true: Any,
    y_pred: Any,
    class_prior: float,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the F1 score among unlabelled samples, ``2 p r / (a + p)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The positive label for labelled positives, another one for unlabelled samples.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    class_prior : float
        Proportion ``p`` of the class among the unlabelled samples.
    pos_label : label or None, default=None
        The positive label; None is the larger one of the two in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    float
        From 0 to 1, with ``r`` the recall and ``a`` the part of unlabelled samples accepted.

    Examples
    --------
    >>> from scarce.metrics import pu_f1_score
    >>> pu_f1_score([1, 1, 0, 0, 0, 0], [1, 0, 1, 1, 0, 0], 0.5)  # 2 * 0.25 / (0.5 + 0.5)
    0.5
    """
    sample = _Sample.read(y_true, y_pred, pos_label, sample_weight)
    return sample.accepted(_positive_label(y_true, pos_label), _checked(class_prior)).f1


def pu_roc_auc_score(
    y_true: Any,
    y_score: Any,
    class_prior: float | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the area under the ROC curve of positives against negatives.

    The area of labelled against unlabelled samples is ``p / 2 + (1 - p)`` times that.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The positive label for labelled positives, another one for unlabelled samples.
    y_score : array-like of shape (n_samples,)
        Scores, higher for positives.
    class_prior : float or None, default=None
        Proportion ``p`` of the class among the unlabelled samples; None to estimate it.
    pos_label : label or None, default=None
        The positive label; None is the larger one of the two in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from scarce.metrics import pu_roc_auc_score
    >>> round(pu_roc_auc_score([1, 1, 0, 0, 0, 0], [4.0, 5.0, 4.5, 1.0, 2.0, 3.0], 0.25), 3)
    1.0
    """
    sample = _Sample.read(y_true, y_score, pos_label, sample_weight)
    assert_all_finite(np.asarray(y_score, dtype=np.float64), input_name="y_score")
    share = sample.share(class_prior)
    area, _ = area_under_curve(sample.labelled, sample.unlabelled, sample.weights)
    return float(np.clip((area - share / 2.0) / (1.0 - share), 0.0, 1.0))


def pu_roc_curve(
    y_true: Any,
    y_score: Any,
    class_prior: float | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> tuple[Array, Array, Array]:
    """Return the ROC curve of positives against negatives.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The positive label for labelled positives, another one for unlabelled samples.
    y_score : array-like of shape (n_samples,)
        Scores, higher for positives.
    class_prior : float or None, default=None
        Proportion of the class among the unlabelled samples; None to estimate it.
    pos_label : label or None, default=None
        The positive label; None is the larger one of the two in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    false_positive_rates, true_positive_rates, thresholds : ndarray
        For `sklearn.metrics.RocCurveDisplay`; from infinity to the lowest score.

    Examples
    --------
    >>> from scarce.metrics import pu_roc_curve
    >>> rates = pu_roc_curve([1, 1, 0, 0, 0, 0], [4.0, 5.0, 4.5, 1.0, 2.0, 3.0], 0.25)
    >>> rates[1].tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0]
    """
    sample = _Sample.read(y_true, y_score, pos_label, sample_weight)
    rates, thresholds = sample.rates(class_prior)
    return np.maximum.accumulate(rates.false_positives), rates.labelled, thresholds


def pu_precision_recall_curve(
    y_true: Any,
    y_score: Any,
    class_prior: float | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> tuple[Array, Array, Array]:
    """Return precision and recall among unlabelled samples at all thresholds.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The positive label for labelled positives, another one for unlabelled samples.
    y_score : array-like of shape (n_samples,)
        Scores, higher for positives.
    class_prior : float or None, default=None
        Proportion of the class among the unlabelled samples; None to estimate it.
    pos_label : label or None, default=None
        The positive label; None is the larger one of the two in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        As scikit-learn's: thresholds rise, and the last values are 1 and 0.
    thresholds : ndarray of shape (n_thresholds,)
        The scores, rising.

    Examples
    --------
    >>> from scarce.metrics import pu_precision_recall_curve
    >>> found = pu_precision_recall_curve([1, 1, 0, 0, 0, 0], [4.0, 5.0, 4.5, 1.0, 2.0, 3.0], 0.25)
    >>> found[1].tolist()
    [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.0]
    """
    sample = _Sample.read(y_true, y_score, pos_label, sample_weight)
    rates, thresholds = sample.rates(class_prior)
    return rates.precision[::-1], rates.labelled[::-1], thresholds[:0:-1]


def pu_average_precision_score(
    y_true: Any,
    y_score: Any,
    class_prior: float | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the average precision among unlabelled samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The positive label for labelled positives, another one for unlabelled samples.
    y_score : array-like of shape (n_samples,)
        Scores, higher for positives.
    class_prior : float or None, default=None
        Proportion of the class among the unlabelled samples; None to estimate it.
    pos_label : label or None, default=None
        The positive label; None is the larger one of the two in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    float
        The sum of precisions times steps of the recall, from 0 to 1.

    Examples
    --------
    >>> from scarce.metrics import pu_average_precision_score
    >>> pu_average_precision_score([1, 1, 0, 0, 0, 0], [4.0, 5.0, 4.5, 1.0, 2.0, 3.0], 0.25)
    1.0
    """
    precision, recall, _ = pu_precision_recall_curve(
        y_true, y_score, class_prior, pos_label=pos_label, sample_weight=sample_weight
    )
    average = float(-np.sum(np.diff(recall) * precision[:-1]))
    return min(average, 1.0)  # the steps add up to 1 but for rounding
