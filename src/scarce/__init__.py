"""Support vector machines for scarce supervision."""

from scarce.classification import SVC, NuSVC
from scarce.one_class import UOCTSVM, OneClassSVM, TransferOneClassSVM
from scarce.positive_unlabeled import SVMC, MappingConvergence

__all__ = [
    "SVC",
    "SVMC",
    "UOCTSVM",
    "MappingConvergence",
    "NuSVC",
    "OneClassSVM",
    "TransferOneClassSVM",
]
