"""Proportions of groups under prior shift and of real groups, nothing tuned.

    python -m benchmarks.untuned.proportions --shift [--quick | --report]

Settings are those of `group_settings`; methods see the groups' proportions only, and are judged by
the labels of other rows: log loss, accuracy, balanced accuracy, AUC, and how often the log loss is
above that of a constant by more than .01, and without a warning.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.svm import SVC

from benchmarks.untuned.data import Array
from benchmarks.untuned.group_peers import BoostedEM, Constant, LaplacianMeanMap
from benchmarks.untuned.group_settings import LEFTOVER, SETS, Setting, settings
from benchmarks.untuned.report import markdown, read_cells, write_cells
from scarce import GroupProbabilitySVM, ScarceDataWarning
from scarce.baselines import ProportionLogistic

NAME = "prior-shift"
MEASURES = ["log loss", "accuracy", "balanced", "AUC", "seconds"]
NOISE = 0.01
# Takes minutes: run in every so many settings, and not on many columns.
SLOW, EVERY, MOST_COLUMNS = "EM, boosted trees", 4, 100


def methods() -> dict[str, Any]:
    """Return the methods that see proportions."""
    return {
        "default": GroupProbabilitySVM(),
        "default, by proportion": GroupProbabilitySVM(threshold="proportion"),
        "calibrated by shares": GroupProbabilitySVM(calibrate="shares"),
        "published": GroupProbabilitySVM(cost_per="group", calibrate=None),
        "DLLP": ProportionLogistic(random_state=0),
        "EM, boosted trees": BoostedEM(),
        "Laplacian mean map": LaplacianMeanMap(),
        "constant": Constant(),
    }


def measures(model: Any, X: Any, y: Array) -> dict[str, float]:
    """Return what a fitted model is worth on labelled rows."""
    p = np.clip(model.predict_proba(X), 1e-6, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    predicted = model.predict(X)
    every = np.arange(p.shape[1])
    if np.unique(y).size < every.size:
        area = np.nan
    elif every.size == 2:
        area = roc_auc_score(y, p[:, 1])
    else:
        area = roc_auc_score(y, p, multi_class="ovr", labels=every)
    return {
        "log loss": float(log_loss(y, p, labels=every)),
        "accuracy": float(accuracy_score(y, predicted)),
        "balanced": float(balanced_accuracy_score(y, predicted)),
        "AUC": float(area),
    }


def cells(half: str, step: int = 1) -> Iterator[dict[str, Any]]:
    """Return all cells of a half, or of every so many settings."""
    for number, setting in enumerate(islice(settings(half), 0, None, step)):
        about = {"half": half, "set": setting.set, "kind": setting.kind}
        inside = setting.groups != LEFTOVER
        X, y, groups = setting.X[inside], setting.y[inside], setting.groups[inside]
        for name, model in methods().items():
            if name == SLOW and (number % EVERY or X.shape[1] > MOST_COLUMNS):
                continue
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                begun = time.process_time()
                model.fit(X, y, groups=groups)
                seconds = time.process_time() - begun
            warned = int(any(issubclass(each.category, ScarceDataWarning) for each in caught))
            found = measures(model, setting.X_test, setting.y_test)
            yield {**about, "method": name, "warned": warned, "seconds": seconds, **found}
        yield {**about, "method": "all labels", "warned": 0, **_all_labels(setting, inside)}


def _all_labels(setting: Setting, inside: Array) -> dict[str, float]:
    model = CalibratedClassifierCV(SVC(), ensemble=False, cv=3)
    model.fit(setting.X[inside], setting.labels[inside])
    return {"seconds": np.nan, **measures(model, setting.X_test, setting.y_test)}


def report(found: pd.DataFrame) -> None:
    """Print a table for every kind of setting, and how often a constant is better."""
    for half, part in found.groupby("half", sort=False):
        quick = part[part.method != SLOW]
        places = pd.MultiIndex.from_frame(part[["set", "kind"]])
        some = part[places.isin(places[part.method == SLOW])]
        for kind, own in [
            ("all kinds", quick),
            (f"those with {SLOW}", some),
            *quick.groupby("kind", sort=False),
        ]:
            mean = own.groupby("method", sort=False)[MEASURES].mean().reset_index()
            print(f"\n### {half}, {kind} ({own.groupby(['set', 'kind']).ngroups} settings)\n")
            print(markdown(mean.sort_values("log loss")))
        wide = quick.pivot_table(index=["set", "kind"], columns="method", values="log loss")
        warned = quick.pivot_table(index=["set", "kind"], columns="method", values="warned")
        worse = wide.sub(wide["constant"], axis=0) > NOISE
        counts = pd.DataFrame({"worse": worse.sum(), "silently": (worse & (warned == 0)).sum()})
        print(f"\n### {half}, log loss above that of a constant, of {len(wide)} settings\n")
        print(markdown(counts.reset_index()))


def main(*, quick: bool = False, only_report: bool = False) -> None:
    """Run all settings, or read the last run, and print the tables."""
    if only_report:
        report(read_cells(NAME))
        return
    rows = []
    for half in reversed(SETS):  # the half that confirms first
        for cell in cells(half, 8 if quick else 1):
            rows.append(cell)
            if not quick and cell["method"] == "all labels":  # the last of a setting
                write_cells(NAME, rows)
    report(pd.DataFrame(rows))
