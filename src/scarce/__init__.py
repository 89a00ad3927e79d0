"""Support vector machines for scarce supervision."""

from scarce._warnings import ScarceDataWarning
from scarce.baselines import LocallyWeightedEnsemble, ProjectionMMDSVM, TransductiveSVM
from scarce.classification import SVC, NuSVC
from scarce.model_selection import CalibratedOneClass
from scarce.one_class import SVDD, UOCTSVM, OneClassSVM, TransferOneClassSVM
from scarce.positive_unlabeled import (
    SVMC,
    MappingConvergence,
    PositiveUnlabeledSVC,
    UnbiasedPUSVC,
    pu_threshold,
)
from scarce.proportions import GroupProbabilitySVM, TransferGroupProbabilitySVM
from scarce.tensor import STM, OneClassSTM

__all__ = [
    "STM",
    "SVC",
    "SVDD",
    "SVMC",
    "UOCTSVM",
    "CalibratedOneClass",
    "GroupProbabilitySVM",
    "LocallyWeightedEnsemble",
    "MappingConvergence",
    "NuSVC",
    "OneClassSTM",
    "OneClassSVM",
    "PositiveUnlabeledSVC",
    "ProjectionMMDSVM",
    "ScarceDataWarning",
    "TransductiveSVM",
    "TransferGroupProbabilitySVM",
    "TransferOneClassSVM",
    "UnbiasedPUSVC",
    "pu_threshold",
]
