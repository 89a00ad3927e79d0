"""Support vector machines for scarce supervision."""

from scarce.baselines import LocallyWeightedEnsemble, ProjectionMMDSVM, TransductiveSVM
from scarce.classification import SVC, NuSVC
from scarce.one_class import UOCTSVM, OneClassSVM, TransferOneClassSVM

__all__ = [
    "SVC",
    "UOCTSVM",
    "LocallyWeightedEnsemble",
    "NuSVC",
    "OneClassSVM",
    "ProjectionMMDSVM",
    "TransductiveSVM",
    "TransferOneClassSVM",
]
