"""The corrected metrics as `scoring` of searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from scarce._arrays import Array
from scarce.metrics._corrected import (
    pu_average_precision_score,
    pu_f1_score,
    pu_precision_score,
    pu_recall_score,
    pu_roc_auc_score,
)
from scarce.positive_unlabeled import estimate_prior, positive_label

OF_LABELS: dict[str, Callable[..., float]] = {
    "precision": pu_precision_score,
    "f1": pu_f1_score,
}
OF_SCORES: dict[str, Callable[..., float]] = {
    "roc_auc": pu_roc_auc_score,
    "average_precision": pu_average_precision_score,
}
NAMES = ("recall", *OF_LABELS, *OF_SCORES)


class PUScorer:
    """A metric as `scoring`; create it with `pu_scorer`.

    Parameters
    ----------
    metric : str
        Its name.
    class_prior : float or None
        The proportion of positives among the unlabelled samples, if known.
    """

    def __init__(self, metric: str, class_prior: float | None) -> None:
        self.metric = metric
        self.class_prior = class_prior

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        label = positive_label(estimator)
        given = {"pos_label": label, "sample_weight": sample_weight}
        if self.metric == "recall":
            return pu_recall_score(y, estimator.predict(X), **given)
        prior = self.class_prior
        if self.metric in OF_SCORES:
            return OF_SCORES[self.metric](y, _scores(estimator, X, label), prior, **given)
        if prior is None:
            scores, positive = _scores(estimator, X, label), np.asarray(y) == _of(y, label)
            prior = estimate_prior(scores[positive], scores[~positive]).prior
        return OF_LABELS[self.metric](y, estimator.predict(X), prior, **given)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what the scorer asks for.

        Returns
        -------
        MetadataRequest
            The request.
        """
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=True)
        return request

    def __repr__(self) -> str:
        return f"pu_scorer({self.metric!r}, class_prior={self.class_prior!r})"


def pu_scorer(metric: str, *, class_prior: float | None = None) -> PUScorer:
    """Return a scorer for searches over classifiers of positive and unlabelled samples.

    Parameters
    ----------
    metric : {"recall", "precision", "f1", "roc_auc", "average_precision"}
        Which metric.
    class_prior : float or None, default=None
        Proportion of the class among the unlabelled samples. None to estimate it from the scores of
        every candidate, which favours candidates whose estimate is wrong: give a number where you
        can, such as `class_prior_` of one fit for all candidates.

    Returns
    -------
    PUScorer
        A callable ``scorer(estimator, X, y)``.

    Examples
    --------
    >>> from scarce.metrics import pu_scorer
    >>> pu_scorer("f1", class_prior=0.2)
    pu_scorer('f1', class_prior=0.2)
    """
    if metric not in NAMES:
        raise ValueError(f"metric must be one of {', '.join(map(repr, NAMES))}, got {metric!r}")
    return PUScorer(metric, class_prior)


def _of(y: Any, label: Any) -> Any:
    return np.unique(y)[-1] if label is None else label


def _scores(estimator: Any, X: Any, label: Any) -> Array:
    """Return scores that are higher for the positive label."""
    second = label is None or label == estimator.classes_[-1]
    if hasattr(estimator, "decision_function"):
        values = np.asarray(estimator.decision_function(X))
        return values if second else -values
    return np.asarray(estimator.predict_proba(X))[:, -1 if second else 0]
