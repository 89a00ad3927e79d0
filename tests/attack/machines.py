"""The machines under attack: how a recipe becomes a fit, and how its model is read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.attack import (
    landmarks,
    many_rows,
    margins,
    regression,
    shares,
    tasks,
    tensors,
    unlabeled,
)
from tests.attack.fitting import RefusedError, claims_of, fit
from tests.attack.recipes import Recipe
from tests.attack.verdict import complaints


@dataclass(frozen=True)
class Machine:
    """An estimator; `options` say which recipes suit it."""

    make: Callable[[Recipe], Any]
    facts: Callable[[Recipe, Any], Any]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What came of an attack."""

    kind: str  # "certified", "warned" or "refused"
    complaints: list[str]


def attack(machine: Machine, recipe: Recipe) -> Outcome:
    """Fit a machine to a recipe and compare what it claims with what is true."""
    model, arguments, keywords = machine.make(recipe)
    try:
        warned = fit(model, *arguments, **keywords)
    except RefusedError as refusal:
        return Outcome("refused", [] if str(refusal) else ["refused without a word"])
    claims = claims_of(model, warned)
    found = complaints(claims, machine.facts(recipe, model))
    return Outcome("certified" if claims.certified else "warned", found)


# Kernels whose sums over thousands of rows are seconds, in plain NumPy.
MANY = {"kernels": ("rbf", "linear", "poly"), "large": (3000, 30_000), "decades": (0.0, 1.0)}

MACHINES = {
    "OneClassSVM": Machine(margins.one_class_svm, margins.one_class_svm_facts),
    "SVDD": Machine(margins.svdd, margins.svdd_facts),
    "SVC": Machine(margins.svc, margins.svc_facts),
    "NuSVC": Machine(margins.nu_svc, margins.nu_svc_facts),
    "SVR": Machine(regression.svr, regression.svr_facts),
    # What is stored is the difference of two multipliers a row, which loses the smallest ones.
    "NuSVR": Machine(regression.nu_svr, regression.nu_svr_facts, {"decades": (0.0, 1.0)}),
    "TransferOneClassSVM": Machine(
        tasks.transfer_one_class_svm, tasks.transfer_one_class_svm_facts
    ),
    "UOCTSVM": Machine(tasks.uoct_svm, tasks.uoct_svm_facts),
    "GroupProbabilitySVM": Machine(
        shares.group_probability_svm, shares.group_probability_svm_facts
    ),
    "TransferGroupProbabilitySVM": Machine(
        shares.transfer_group_probability_svm, shares.transfer_group_probability_svm_facts
    ),
    "OneClassSTM": Machine(
        tensors.one_class_stm, tensors.one_class_stm_facts, {"kernels": ("linear",)}
    ),
    "STM": Machine(  # many half-steps for every case, of a tolerance that rounding may not allow
        tensors.stm, tensors.stm_facts, {"kernels": ("linear",), "large": False}
    ),
    "TransductiveSVM": Machine(  # many rounds for every case
        margins.transductive_svm, margins.transductive_svm_facts, {"large": False}
    ),
    # Its multipliers are a difference of stored coefficients, which loses the smallest ones.
    "ProjectionMMDSVM": Machine(
        margins.projection_mmd_svm, margins.projection_mmd_svm_facts, {"decades": (0.0, 1.0)}
    ),
    "OneClassSVM, nystroem": Machine(
        landmarks.nystroem_one_class_svm,
        landmarks.nystroem_one_class_svm_facts,
        {"kernels": ("rbf", "linear", "poly")},
    ),
    "SVC, nystroem": Machine(
        landmarks.nystroem_svc, landmarks.nystroem_svc_facts, {"kernels": ("rbf", "linear", "poly")}
    ),
    "UnbiasedPUSVC": Machine(unlabeled.unbiased_pu_svc, unlabeled.unbiased_pu_svc_facts),
    "OneClassSVM, many rows": Machine(margins.one_class_svm, many_rows.one_class_svm_facts, MANY),
    "SVC, many rows": Machine(margins.svc, many_rows.svc_facts, MANY),
    "SVR, many rows": Machine(regression.svr, many_rows.svr_facts, MANY),
}
