"""Precision, recall, F1, ROC AUC and average precision where only positives are labelled."""

from scarce._names import publish
from scarce.metrics._corrected import (
    pu_average_precision_score,
    pu_f1_score,
    pu_precision_recall_curve,
    pu_precision_score,
    pu_recall_score,
    pu_roc_auc_score,
    pu_roc_curve,
)
from scarce.metrics._scorers import PUScorer, pu_scorer
from scarce.positive_unlabeled import lee_liu_score

__all__ = [
    "PUScorer",
    "lee_liu_score",
    "pu_average_precision_score",
    "pu_f1_score",
    "pu_precision_recall_curve",
    "pu_precision_score",
    "pu_recall_score",
    "pu_roc_auc_score",
    "pu_roc_curve",
    "pu_scorer",
]

publish("metrics", globals())
