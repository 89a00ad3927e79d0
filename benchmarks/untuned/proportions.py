"""Shares of groups, nothing tuned: our defaults beside the published machines and what others do.

    python -m benchmarks.untuned.proportions [--quick | --texts | --report]
    python -m benchmarks.untuned.proportions --shift [--quick | --report] [--only METHOD ...]

Rows of every data set are put into groups, at random or by k-means, of 8, 32 and 128 rows; methods
see the shares only. Classes of several-class sets are also put into two, every second one, which is
hard on purpose (letters against letters). A source is a model of rows turned by 30 degrees in
random planes. Texts are sparse rows of words, not scaled, in groups of 32, without a source; they
are run by themselves (``--texts``), and so are groups under prior shift and groups of columns
(``--shift``, see `prior_shift`).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import scarce
from benchmarks.untuned import prior_shift
from benchmarks.untuned.data import HALVES, SEEDS, TEXTS, Array, at_hand, frequent_classes, table
from benchmarks.untuned.group_settings import two_class_labels
from benchmarks.untuned.report import markdown, means, read_cells, wins, write_cells
from benchmarks.untuned.share_baselines import (
    AlternatingLabelSVM,
    GroupMeanLogistic,
    MeanMapClassifier,
)
from scarce import GroupProbabilitySVM, ScarceDataWarning, TransferGroupProbabilitySVM
from scarce.baselines import ProportionLogistic
from scarce.model_selection import GroupShareKFold, ShareCrossEntropyScorer
from scarce.proportions import effective_labels

ROWS = 1024  # for training, and at most as many for testing
SIZES = (8, 32, 128)
TEXT_SIZES = (32,)
MOST_CLASSES = 5
PUBLISHED = {"cost_per": "group", "calibrate": None}
SETTING = ["half", "set", "groups", "size"]
MEASURES = ("accuracy", "balanced", "log loss")


def split(X: Any, y: Array, random: Any, source: int = 0) -> list[tuple[Any, Array]]:
    """Return rows and labels of training, testing and source, scaled by the first."""
    rows = random.permutation(len(y))
    n = min(ROWS, int(0.6 * (len(y) - source)))
    parts = [rows[:n], rows[n + source : n + source + ROWS], rows[n : n + source]]
    if sparse.issparse(X):
        return [(X[part], y[part]) for part in parts if part.size]
    scale = StandardScaler().fit(X[parts[0]])
    return [(scale.transform(X[part]), y[part]) for part in parts if part.size]


def make_groups(X: Array, size: int, kind: str, random: Any) -> Array:
    """Return groups of about a size; at random, or by clusters, which may be unequal."""
    n = X.shape[0]
    n_groups = max(2, n // size)
    if kind == "random":
        return random.permutation(n) % n_groups
    seed = int(random.integers(2**31))
    return KMeans(n_groups, n_init=1, max_iter=20, random_state=seed).fit(X).labels_


def shares_of(y: Array, groups: Array) -> Array:
    """Return a row's share: of positives for 0 and 1, else a line for every class."""
    codes = np.unique(groups, return_inverse=True)[1]
    counts = np.bincount(codes)
    n_classes = int(y.max()) + 1
    table_of = np.array([np.bincount(codes, y == c) / counts for c in range(n_classes)]).T[codes]
    return table_of[:, 1] if n_classes == 2 else table_of


def measures(model: Any, X: Array, y: Array) -> dict[str, float]:
    """Return what a fitted model is worth on labelled rows."""
    predicted = model.predict(X)
    row = {
        "accuracy": accuracy_score(y, predicted),
        "balanced": balanced_accuracy_score(y, predicted),
        "constant": int(np.unique(predicted).size == 1),
        "log loss": np.nan,
        "slope": np.nan,
    }
    if hasattr(model, "predict_proba"):
        p = np.clip(model.predict_proba(X), 1e-6, 1.0)
        p /= p.sum(axis=1, keepdims=True)
        row["log loss"] = log_loss(y, p, labels=np.arange(p.shape[1]))
        if p.shape[1] == 2 and row["constant"] == 0:
            logit = np.log(p[:, 1] / p[:, 0])[:, None]
            row["slope"] = float(LogisticRegression(C=1e6).fit(logit, y).coef_[0, 0])
    return {name: float(value) for name, value in row.items()}


def fitted(model: Any, X: Array, y: Array, groups: Array | None) -> tuple[Any, int]:
    """Return a fitted model, and whether it warned of the data."""
    with (
        warnings.catch_warnings(record=True) as caught,
        config_context(enable_metadata_routing=True),
    ):
        warnings.simplefilter("always")
        model = model.fit(X, y) if groups is None else model.fit(X, y, groups=groups)
    return model, int(any(issubclass(each.category, ScarceDataWarning) for each in caught))


def all_labels() -> Any:
    return CalibratedClassifierCV(SVC(), ensemble=False, cv=3)


def searched(model: Any, grid: dict[str, Any]) -> Any:
    """Return a search by the cross-entropy of left-out shares."""
    return GridSearchCV(
        model, grid, scoring=ShareCrossEntropyScorer(), cv=GroupShareKFold(3), n_jobs=1
    )


def share_methods(two: bool, size: int) -> dict[str, Any]:
    """Return the methods that see shares."""
    methods: dict[str, Any] = {
        "published": GroupProbabilitySVM(**PUBLISHED),
        "cost per row": GroupProbabilitySVM(calibrate=None),
        "calibrated by shares": GroupProbabilitySVM(calibrate="shares"),
        "default": GroupProbabilitySVM(),
        "DLLP": ProportionLogistic(C=1.0, random_state=0),
        "DLLP linear": ProportionLogistic(C=1.0, kernel="linear"),
        "group means": GroupMeanLogistic(),
        "mean map": MeanMapClassifier(),
    }
    if two:
        methods["alternating"] = AlternatingLabelSVM()
    dllp = ProportionLogistic(random_state=0, max_iter=200)
    methods["DLLP searched"] = searched(dllp, {"C": [1.0, 10.0, 100.0]})
    if two and size == 32:
        grid = {"C": [0.1, 1.0, 10.0], "gamma": ["scale", 0.003, 0.03]}
        methods["default searched"] = searched(GroupProbabilitySVM(), grid)
    return methods


def text_methods() -> dict[str, Any]:
    """Return the methods that see shares of texts."""
    methods = share_methods(two=False, size=TEXT_SIZES[0])
    del methods["cost per row"], methods["DLLP"], methods["mean map"]
    methods["default, linear kernel"] = GroupProbabilitySVM(kernel="linear")
    return methods


def source_methods(source: Any) -> dict[str, Any]:
    frozen = FrozenEstimator(source)
    today = {"C_group": 1.0, "transfer": 1.0, **PUBLISHED}
    return {
        "published": TransferGroupProbabilitySVM(source=frozen, gamma=source._gamma, **today),
        "default": TransferGroupProbabilitySVM(source=frozen, gamma=source._gamma),
    }


class Calibrated:
    """A source with a calibration of its own."""

    def __init__(self, source: Any, slope: float, shift: float) -> None:
        self.source, self.slope, self.shift = source, slope, shift

    def predict_proba(self, X: Array) -> Array:
        p = 1.0 / (1.0 + np.exp(-self.slope * self.source.decision_function(X) - self.shift))
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Array) -> Array:
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


def turned(X: Array, random: Any) -> Array:
    """Return rows turned by 30 degrees in random planes of two directions each."""
    directions, _ = np.linalg.qr(random.normal(size=(X.shape[1], X.shape[1])))
    Z = X @ directions
    pairs = Z.shape[1] // 2
    first, second = Z[:, :pairs].copy(), Z[:, pairs : 2 * pairs].copy()
    cos, sin = np.cos(np.pi / 6), np.sin(np.pi / 6)
    Z[:, :pairs], Z[:, pairs : 2 * pairs] = cos * first - sin * second, sin * first + cos * second
    return Z @ directions.T


def cells(half: str, names: list[str], sizes: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Return all cells of a half."""
    for place, name in enumerate(names):
        X, y = table(name).X, table(name).y
        random = np.random.default_rng(SEEDS[half] + place)
        tasks: dict[str, Any] = {"two classes": split(X, two_class_labels(y), random)}
        kept = frequent_classes(y, MOST_CLASSES, 30)
        if len(np.unique(y)) > 2 and len(kept) > 2:
            inside = np.isin(y, kept)
            labels = np.searchsorted(np.sort(kept), y[inside])
            tasks["several classes"] = split(X[np.flatnonzero(inside)], labels, random)
        text = sparse.issparse(X)
        if len(y) >= 600 and not text:
            tasks["source"] = split(X, two_class_labels(y), random, source=150)
        for task, ((X0, y0), (X1, y1), *more) in tasks.items():
            about = {"half": half, "set": name, "task": task}
            best = measures(all_labels().fit(X0, y0), X1, y1)
            if more:
                source, _ = fitted(scarce.SVC(), turned(more[0][0], random), more[0][1], None)
            for size in sizes:
                for kind in ("random", "k-means"):
                    if len(y0) < 4 * size:
                        continue
                    groups = make_groups(X0, size, kind, random)
                    shares = shares_of(y0, groups)
                    first = np.unique(groups, return_index=True)[1]
                    worth = effective_labels(
                        shares[first], np.bincount(np.unique(groups, return_inverse=True)[1])
                    )
                    setting = {**about, "groups": kind, "size": size, "effective": worth}
                    yield {**setting, "method": "all labels", "warned": 0, **best}
                    two = task == "two classes"
                    if more:
                        methods = source_methods(source)
                        yield {
                            **setting,
                            "method": "source",
                            "warned": 0,
                            **measures(source, X1, y1),
                        }
                    else:
                        methods = text_methods() if text else share_methods(two, size)
                    for method, model in methods.items():
                        model, warned = fitted(model, X0, shares, groups)
                        row = {**setting, "method": method, "warned": warned}
                        row["used"] = int(getattr(model, "calibration_", None) is not None)
                        left_out = getattr(model, "left_out_loss_", None) or {}
                        row |= {f"left out {form}": loss for form, loss in left_out.items()}
                        yield {**row, **measures(model, X1, y1)}
                    if more:
                        alone = Calibrated(source, *model.source_calibration_)
                        yield {
                            **setting,
                            "method": "source calibrated",
                            "warned": 0,
                            **measures(alone, X1, y1),
                        }


def report(found: pd.DataFrame) -> None:
    for task, part in found.groupby("task", sort=False):
        for half, cells_of in part.groupby("half", sort=False):
            settings = cells_of.groupby(["set", "groups", "size"]).ngroups
            print(f"\n### {task}, {half} ({settings} settings)\n")
            print(means(cells_of, ["method"], [*MEASURES, "slope", "constant"]))
            print()
            print(wins(cells_of, "default", "accuracy", ["set", "groups", "size"]))
    ours = found[found.method == "default"]
    silent = ours[(ours.constant == 1) & (ours.warned == 0)]
    print(f"\nconstant classifiers without a warning: {len(silent)} of {len(ours)}\n")
    shares_only = found[found.task == "two classes"]
    wide = shares_only.pivot_table(
        index=[*SETTING, "effective"], columns="method", values="accuracy"
    ).reset_index()
    wide["loss"] = wide["all labels"] - wide["default"]
    bands = pd.cut(wide["effective"], [0, 10, 40, 150, 500, np.inf])
    print(
        markdown(
            wide.groupby(bands, observed=True)["loss"].agg(["mean", "max", "count"]).reset_index()
        )
    )
    if "cost per row" not in set(found.method):  # texts
        return
    raised = shares_only.pivot_table(
        index=SETTING, columns="method", values="log loss"
    ).reset_index()
    raised["change"] = raised["default"] - raised["cost per row"]
    print("\nlog loss raised by the calibration\n")
    print(
        markdown(
            raised[raised.change > 0.005][
                ["half", "set", "groups", "size", "cost per row", "default"]
            ]
        )
    )


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sets a half, one size")
    parser.add_argument("--shift", action="store_true", help="prior shift and real groups only")
    parser.add_argument("--texts", action="store_true", help="texts only")
    parser.add_argument("--report", action="store_true", help="tables of the last runs, no run")
    parser.add_argument("--only", nargs="+", default=(), help="methods to run again, with --shift")
    given = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    if given.shift:
        prior_shift.main(quick=given.quick, only_report=given.report, only=given.only)
        return
    name = "proportions-texts" if given.texts else "proportions"
    if not given.report:
        rows, missing = [], []
        sizes = TEXT_SIZES if given.texts else SIZES[1:2] if given.quick else SIZES
        for half, names in HALVES.items():
            there, absent = at_hand(tuple(n for n in names if (n in TEXTS) == given.texts))
            missing += absent
            rows += cells(half, there[:2] if given.quick else there, sizes)
        if not given.quick:
            write_cells(name, rows, missing)
    report(pd.DataFrame(rows) if not given.report else read_cells(name))


if __name__ == "__main__":
    main()
