"""All four families on data that comes with scikit-learn or is generated, and little to choose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from scarce import (
    SVC,
    SVMC,
    GroupProbabilitySVM,
    NuSVC,
    OneClassSTM,
    OneClassSVM,
    TransferGroupProbabilitySVM,
    TransferOneClassSVM,
)
from scarce.datasets import (
    few_samples_split,
    make_rotated_moons,
    one_class_transfer_split,
    positive_unlabeled_split,
)
from scarce.experiments._experiment import Experiment, Outcome, Paper, Record, fixed
from scarce.experiments._figures import along_settings
from scarce.experiments._results import FIXED, SELECTED, Figure, Table
from scarce.model_selection import lee_liu_scorer

WIDTHS = [0.003, 0.01, 0.03]
ANGLES = {f"{angle}°": angle for angle in (0, 20, 30, 40)}
SIZES = {f"{size} recordings": size for size in (2, 4, 8)}


def one_class_transfer(seed: int, target: int, source: int) -> list[Outcome]:
    """Learn a digit from 18 images, with or without those of a digit that looks similar."""
    X, digit = load_digits(return_X_y=True)
    split = one_class_transfer_split(
        digit.astype(str), str(target), [str(source)], random_state=seed, n_negatives=300
    )
    outcomes = []
    for method, transfer, radius in (
        ("OC-SVM", False, 0.0),
        ("UOC-SVM", False, "knn"),
        ("TLOC-SVM", True, 0.0),
        ("UOCT-SVM", True, "knn"),
    ):
        rows = split.train if transfer else split.target
        domain = split.sample_domain if transfer else None

        def measure(
            rows: NDArray[Any] = rows, domain: Any = domain, radius: Any = radius
        ) -> dict[str, float]:
            model = TransferOneClassSVM(nu=0.1, radius=radius, gamma="scale", offset="original")
            model.fit(X[rows], sample_domain=domain)
            return _f1(split.is_target, model.predict(X[split.test]) == 1)

        outcomes += fixed(method, measure, nu=0.1, radius=radius)
    return outcomes


def positive_unlabeled(seed: int) -> list[Outcome]:
    """Find malignant tumours from 60 known ones and 400 that nobody looked at."""
    X, benign = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    split = positive_unlabeled_split(
        benign == 0,
        n_positive=60,
        n_unlabeled=400,
        n_unlabeled_positive=120,
        random_state=seed,
        test="unlabeled",
    )
    rows, y = X[split.train], split.y_train
    truth = np.concatenate([np.ones(60, bool), split.is_positive])
    # The width of the kernel is chosen by a score that needs no negatives.
    search = GridSearchCV(SVMC(diagnose=False), {"gamma": WIDTHS}, scoring=lee_liu_scorer)

    def tested(model: Any) -> dict[str, float]:
        return _f1(split.is_positive, model.predict(X[split.test]) == 1)

    outcomes = [
        *fixed("all labels known", lambda: tested(NuSVC(nu=0.05).fit(rows, truth)), nu=0.05),
        *fixed("SVMC", lambda: tested(search.fit(rows, y))),
        *fixed("one-class SVM", lambda: tested(OneClassSVM(nu=0.1).fit(X[split.positive])), nu=0.1),
        *fixed("unlabelled as negative", lambda: tested(NuSVC(nu=0.05).fit(rows, y)), nu=0.05),
    ]
    # One method chooses, so that none of the table is called fixed.
    return [
        replace(
            outcome,
            protocol=SELECTED,
            parameters=search.best_params_ if outcome.method == "SVMC" else outcome.parameters,
        )
        for outcome in outcomes
    ]


def group_probabilities(seed: int, angle: float) -> list[Outcome]:
    """Classify rotated moons from the source's model and shares of groups of six."""
    moons = make_rotated_moons(angle=angle, common=0.1, random_state=seed)
    source = SVC(gamma=0.5).fit(moons.X_source, moons.y_source)

    def tested(model: Any) -> dict[str, float]:
        accuracy = accuracy_score(moons.y_target, model.predict(moons.X_target))
        return {"accuracy": 100.0 * float(accuracy)}

    def group_svm() -> dict[str, float]:
        X, y, groups = moons.training_rows(common=False)
        model = GroupProbabilitySVM(gamma=0.5, price="group", calibrate=None)
        return tested(model.fit(X, y, groups=groups))

    def transfer_svm() -> dict[str, float]:
        X, y, groups = moons.training_rows()
        model = TransferGroupProbabilitySVM(
            source=FrozenEstimator(source),
            gamma=0.5,
            C_group=1.0,
            transfer=1.0,
            price="group",
            calibrate=None,
        )
        return tested(model.fit(X, y, groups=groups))

    return [
        *fixed("source's SVM", lambda: tested(source), gamma=0.5),
        *fixed("IC-SVM", group_svm, gamma=0.5),
        *fixed("TGPLM-CD", transfer_svm, gamma=0.5),
    ]


def tensors(seed: int, size: int) -> list[Outcome]:
    """Recognise a pattern of 12 sensors and 20 points in time from two to eight recordings."""
    random = np.random.default_rng(seed)
    sensors, times = random.normal(size=(301, 12)), random.normal(size=(301, 20))
    normal = random.permutation(np.arange(300) < 100)
    # A recording is the response of each sensor times a course in time, in louder noise.
    sensors[:300][normal], times[:300][normal] = sensors[300], times[300]
    X = np.einsum("ij,ik->ijk", sensors, times)[:300] + 4.0 * random.normal(size=(300, 12, 20))
    split = few_samples_split(normal, size, random_state=seed)

    def tested(model: Any, rows: NDArray[Any]) -> dict[str, float]:
        scores = model.fit(rows[split.train]).decision_function(rows[split.test])
        return {"auc": 100.0 * float(roc_auc_score(split.is_target, scores))}

    return [
        *fixed("vector machine", lambda: tested(OneClassSVM(kernel="linear"), X.reshape(300, -1))),
        *fixed(
            "tensor machine",
            lambda: tested(
                OneClassSTM(rank=1, normalize=False, offset="training", random_state=0), X
            ),
        ),
    ]


def _f1(truth: Any, found: Any) -> dict[str, float]:
    return {"f1": 100.0 * float(f1_score(truth, found))}


def _draw_angles(table: Table, records: list[Record]) -> tuple[Figure, ...]:
    return (
        along_settings(
            table,
            key="demo-angle",
            title="Accuracy as the domains turn apart",
            x=ANGLES,
            x_label="rotation of the target, degrees",
            metric="accuracy",
            protocol=FIXED,
        ),
    )


def _draw_sizes(table: Table, records: list[Record]) -> tuple[Figure, ...]:
    return (
        along_settings(
            table,
            key="demo-size",
            title="Few recordings",
            x=SIZES,
            x_label="training recordings",
            metric="auc",
            protocol=FIXED,
        ),
    )


DEMO = Paper(
    "demo",
    "Four kinds of scarce labels",
    "Data that come with scikit-learn or are generated; parameters fixed beforehand but for one.",
    (
        Experiment(
            key="transfer",
            title="One class, few rows, a related task",
            caption="Handwritten digits. The target class has 18 images to learn from; all images "
            "of a similar digit are the source. Tested are the rest of the target and 300 images "
            "of the eight other digits.",
            metrics={"f1": "F1, %"},
            methods=("OC-SVM", "UOC-SVM", "TLOC-SVM", "UOCT-SVM"),
            reference="UOCT-SVM",
            settings={
                "3, source 8": {"target": 3, "source": 8},
                "7, source 9": {"target": 7, "source": 9},
            },
            run=one_class_transfer,
            repetitions=7,
        ),
        Experiment(
            key="unlabelled",
            title="Positive and unlabelled rows",
            caption="Breast cancer (WDBC), features standardised. 60 malignant rows are known, 400 "
            "rows (120 of them malignant) are unlabelled, and tested. SVMC chooses its kernel "
            "width by the Lee-Liu score, which needs no negatives; the others choose nothing. "
            "Where all labels are known, those of the tested rows are too: an upper reference.",
            metrics={"f1": "F1, %"},
            methods=("all labels known", "SVMC", "one-class SVM", "unlabelled as negative"),
            reference="SVMC",
            settings={"malignant": {}},
            run=positive_unlabeled,
            repetitions=7,
        ),
        Experiment(
            key="groups",
            title="Shares of groups and a source model",
            caption="Two moons, and the same moons rotated, of which only the share of positives "
            "in 50 groups of six is known. 30 of 300 rows are common to both.",
            metrics={"accuracy": "Accuracy, %"},
            methods=("source's SVM", "IC-SVM", "TGPLM-CD"),
            reference="TGPLM-CD",
            settings={name: {"angle": angle} for name, angle in ANGLES.items()},
            run=group_probabilities,
            repetitions=7,
            draw=_draw_angles,
        ),
        Experiment(
            key="tensors",
            title="Few samples that are matrices",
            caption="Generated recordings of 12 sensors at 20 points in time, one pattern of rank "
            "one against others, noise of four times a pattern's size: data made for the method.",
            metrics={"auc": "Area under the ROC curve, %"},
            methods=("vector machine", "tensor machine"),
            reference="tensor machine",
            settings={name: {"size": size} for name, size in SIZES.items()},
            run=tensors,
            repetitions=20,
            draw=_draw_sizes,
        ),
    ),
)
