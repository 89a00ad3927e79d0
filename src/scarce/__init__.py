"""Support vector machines for scarce supervision."""

from scarce.baselines import LocallyWeightedEnsemble, ProjectionMMDSVM, TransductiveSVM
from scarce.classification import SVC, NuSVC
from scarce.one_class import UOCTSVM, OneClassSVM, TransferOneClassSVM
from scarce.proportions import GroupProbabilitySVM, TransferGroupProbabilitySVM

__all__ = [
    "SVC",
    "UOCTSVM",
    "GroupProbabilitySVM",
    "LocallyWeightedEnsemble",
    "NuSVC",
    "OneClassSVM",
    "ProjectionMMDSVM",
    "TransductiveSVM",
    "TransferGroupProbabilitySVM",
    "TransferOneClassSVM",
]
