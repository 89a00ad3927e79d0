"""Support vector machines for scarce supervision."""

from scarce.classification import SVC, NuSVC
from scarce.one_class import UOCTSVM, OneClassSVM, TransferOneClassSVM
from scarce.tensor import STM, OneClassSTM

__all__ = [
    "STM",
    "SVC",
    "UOCTSVM",
    "NuSVC",
    "OneClassSTM",
    "OneClassSVM",
    "TransferOneClassSVM",
]
