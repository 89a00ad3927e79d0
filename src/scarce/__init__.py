"""Support vector machines for scarce supervision."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scarce._names import HOMES, PACKAGES
from scarce._warnings import ScarceDataWarning, UnrelatedSourceWarning

if TYPE_CHECKING:
    from scarce._model_files import TRUSTED_TYPES, load, save
    from scarce.baselines import LocallyWeightedEnsemble, ProjectionMMDSVM, TransductiveSVM
    from scarce.classification import SVC, NuSVC
    from scarce.compose import OpenSetClassifier, PerGroup
    from scarce.inspection import explain
    from scarce.io import log_model, show_versions, to_onnx
    from scarce.model_selection import CalibratedOneClass
    from scarce.monitoring import DriftMonitor
    from scarce.one_class import SVDD, UOCTSVM, OneClassSVM, TransferOneClassSVM
    from scarce.positive_unlabeled import (
        SVMC,
        MappingConvergence,
        PositiveUnlabeledClassifier,
        PositiveUnlabeledSVC,
        UnbiasedPUSVC,
        pu_threshold,
    )
    from scarce.proportions import GroupProbabilitySVM, TransferGroupProbabilitySVM
    from scarce.regression import SVR, NuSVR
    from scarce.tensor import STM, OneClassSTM

    __version__: str

__all__ = [
    "STM",
    "SVC",
    "SVDD",
    "SVMC",
    "SVR",
    "TRUSTED_TYPES",
    "UOCTSVM",
    "CalibratedOneClass",
    "DriftMonitor",
    "GroupProbabilitySVM",
    "LocallyWeightedEnsemble",
    "MappingConvergence",
    "NuSVC",
    "NuSVR",
    "OneClassSTM",
    "OneClassSVM",
    "OpenSetClassifier",
    "PerGroup",
    "PositiveUnlabeledClassifier",
    "PositiveUnlabeledSVC",
    "ProjectionMMDSVM",
    "ScarceDataWarning",
    "TransductiveSVM",
    "TransferGroupProbabilitySVM",
    "TransferOneClassSVM",
    "UnbiasedPUSVC",
    "UnrelatedSourceWarning",
    "__version__",
    "explain",
    "load",
    "log_model",
    "pu_threshold",
    "save",
    "show_versions",
    "to_onnx",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for (PEP 562): the command's help needs nothing."""
    if name in HOMES:
        value = getattr(import_module(f"scarce.{HOMES[name]}"), name)
    elif name in PACKAGES:
        return import_module(f"scarce.{name}")
    elif name in ("TRUSTED_TYPES", "load", "save"):
        value = getattr(import_module("scarce._model_files"), name)
    elif name == "__version__":
        value = import_module("importlib.metadata").version("scarce")
    else:
        raise AttributeError(f"module 'scarce' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *PACKAGES})
