"""Scorers and selection rules that need no labelled negatives and no individual labels."""

from scarce._names import publish
from scarce.model_selection._calibrated import CalibratedOneClass
from scarce.model_selection._clearly_better import ClearlyBetter
from scarce.model_selection._group_error import GroupErrorScorer, ShareCrossEntropyScorer
from scarce.model_selection._group_folds import GroupShareKFold
from scarce.model_selection._held_out import HeldOutPositives
from scarce.model_selection._leave_one_out import LeaveOneOutSearch, margin_score
from scarce.model_selection._lee_liu import lee_liu_scorer, out_of_bag_auc_scorer
from scarce.model_selection._shuffled_columns import shuffled_columns_scorer
from scarce.positive_unlabeled import lee_liu_score

__all__ = [
    "CalibratedOneClass",
    "ClearlyBetter",
    "GroupErrorScorer",
    "GroupShareKFold",
    "HeldOutPositives",
    "LeaveOneOutSearch",
    "ShareCrossEntropyScorer",
    "lee_liu_score",
    "lee_liu_scorer",
    "margin_score",
    "out_of_bag_auc_scorer",
    "shuffled_columns_scorer",
]

publish("model_selection", globals())
