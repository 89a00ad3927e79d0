"""Support vector machines for scarce supervision."""

from scarce.baselines import ProjectionMMDSVM, TransductiveSVM
from scarce.classification import SVC, NuSVC
from scarce.one_class import UOCTSVM, OneClassSVM, TransferOneClassSVM

__all__ = [
    "SVC",
    "UOCTSVM",
    "NuSVC",
    "OneClassSVM",
    "ProjectionMMDSVM",
    "TransductiveSVM",
    "TransferOneClassSVM",
]
