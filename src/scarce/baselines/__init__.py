"""Methods that the papers compare with, and those that a user would."""

from scarce._names import publish
from scarce.baselines._locally_weighted import LocallyWeightedEnsemble
from scarce.baselines._mean_matching import kernel_mean_matching
from scarce.baselines._projection_mmd import ProjectionMMDSVM
from scarce.baselines._proportion_logistic import ProportionLogistic
from scarce.baselines._transductive import TransductiveSVM

__all__ = [
    "LocallyWeightedEnsemble",
    "ProjectionMMDSVM",
    "ProportionLogistic",
    "TransductiveSVM",
    "kernel_mean_matching",
]

publish("baselines", globals())
