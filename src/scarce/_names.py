"""The public names of the library and the packages that they live in."""

from __future__ import annotations

from typing import Any

HOMES = {
    "STM": "tensor",
    "SVC": "classification",
    "SVDD": "one_class",
    "SVMC": "positive_unlabeled",
    "SVR": "regression",
    "UOCTSVM": "one_class",
    "CalibratedOneClass": "model_selection",
    "DriftMonitor": "monitoring",
    "GroupProbabilitySVM": "proportions",
    "LocallyWeightedEnsemble": "baselines",
    "MappingConvergence": "positive_unlabeled",
    "NuSVC": "classification",
    "NuSVR": "regression",
    "OneClassSTM": "tensor",
    "OneClassSVM": "one_class",
    "OpenSetClassifier": "compose",
    "PerGroup": "compose",
    "PositiveUnlabeledClassifier": "positive_unlabeled",
    "PositiveUnlabeledSVC": "positive_unlabeled",
    "ProjectionMMDSVM": "baselines",
    "TransductiveSVM": "baselines",
    "TransferGroupProbabilitySVM": "proportions",
    "TransferOneClassSVM": "one_class",
    "UnbiasedPUSVC": "positive_unlabeled",
    "explain": "inspection",
    "log_model": "io",
    "pu_threshold": "positive_unlabeled",
    "show_versions": "io",
    "to_onnx": "io",
}
PACKAGES = (
    "baselines",
    "chunks",
    "classification",
    "compose",
    "datasets",
    "inspection",
    "io",
    "kernels",
    "metrics",
    "model_selection",
    "monitoring",
    "one_class",
    "positive_unlabeled",
    "proportions",
    "reductions",
    "regression",
    "solvers",
    "svm",
    "tensor",
    "testing",
)


def publish(package: str, names: dict[str, Any]) -> None:
    """Give the classes of a package the path under which users import them.

    Model files and pickles name classes by their path, and private modules may be renamed.

    ``package``: name of a package of the library, without "scarce.".
    """
    for name in names["__all__"]:
        thing = names[name]
        if isinstance(thing, type) and thing.__module__.startswith(f"scarce.{package}."):
            thing.__module__ = "scarce" if HOMES.get(name) == package else f"scarce.{package}"
