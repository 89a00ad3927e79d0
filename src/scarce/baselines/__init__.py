"""Methods that the papers compare with, and those that a user would."""

from scarce._names import publish
from scarce.baselines._alternating_label_svm import AlternatingLabelSVM
from scarce.baselines._group_mean_logistic import GroupMeanLogistic
from scarce.baselines._locally_weighted import LocallyWeightedEnsemble
from scarce.baselines._mean_map import MeanMapClassifier
from scarce.baselines._projection_mmd import ProjectionMMDSVM
from scarce.baselines._proportion_logistic import ProportionLogistic
from scarce.baselines._transductive import TransductiveSVM

__all__ = [
    "AlternatingLabelSVM",
    "GroupMeanLogistic",
    "LocallyWeightedEnsemble",
    "MeanMapClassifier",
    "ProjectionMMDSVM",
    "ProportionLogistic",
    "TransductiveSVM",
]

publish("baselines", globals())
