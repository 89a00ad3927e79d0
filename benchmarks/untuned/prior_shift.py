"""Proportions of groups under prior shift and of real groups, nothing tuned.

    python -m benchmarks.untuned.proportions --shift [--quick | --report] [--only METHOD ...]

Settings are those of `group_settings`; methods see the groups' proportions only, and are judged by
the labels of other rows: log loss, accuracy, balanced accuracy, AUC, and how often the log loss is
above that of a constant by more than .01, and without a warning. With ``--only`` the cells of these
methods replace those of the last run, and the others stay.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Iterator
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
ALL_LABELS, SLOW = "all labels", "EM, boosted trees"
NAMES = {
    "default": "**`GroupProbabilitySVM()`**",
    "default, by proportion": '`threshold="proportion"`',
    "calibrated by shares": '`calibrate="shares"`, the earlier default',
    "published": "IC-SVM as published",
    "DLLP": "`ProportionLogistic()`",
}
BY_KIND = {
    "default": "**ours**",
    "DLLP": "`ProportionLogistic()`",
    "calibrated by shares": '`"shares"`',
    "constant": "constant",
    ALL_LABELS: ALL_LABELS,
}


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


def cells(half: str, step: int = 1, only: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Return all cells of a half, or of every so many settings, or of some methods."""
    for setting in islice(settings(half), 0, None, step):
        about = {"half": half, "set": setting.set, "kind": setting.kind}
        inside = setting.groups != LEFTOVER
        X, y, groups = setting.X[inside], setting.y[inside], setting.groups[inside]
        for name, model in methods().items():
            if only and name not in only:
                continue
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                begun = time.process_time()
                model.fit(X, y, groups=groups)
                seconds = time.process_time() - begun
            warned = int(any(issubclass(each.category, ScarceDataWarning) for each in caught))
            found = measures(model, setting.X_test, setting.y_test)
            yield {**about, "method": name, "warned": warned, "seconds": seconds, **found}
        if not only or ALL_LABELS in only:
            yield {**about, "method": ALL_LABELS, "warned": 0, **_all_labels(setting, inside)}


def _all_labels(setting: Setting, inside: Array) -> dict[str, float]:
    model = CalibratedClassifierCV(SVC(), ensemble=False, cv=3)
    model.fit(setting.X[inside], setting.labels[inside])
    return {"seconds": np.nan, **measures(model, setting.X_test, setting.y_test)}


def report(found: pd.DataFrame) -> None:
    """Print the tables of docs/results/untuned_prior_shift.md."""
    for half, part in found.groupby("half", sort=False):
        per_setting = part.assign(setting=part["set"] + ", " + part["kind"])
        wide = per_setting.pivot_table(
            index=["setting", "kind"], columns="method", values=[*MEASURES, "warned"], sort=False
        )
        loss = wide["log loss"]
        print(f"\n## {half.capitalize()} half ({len(wide)} settings)\n")
        everywhere = part[part.method != SLOW]
        print(markdown(_means(everywhere)))
        print('\nLog loss by kind of setting; the last two are gains over `calibrate="shares"`:\n')
        kinds = loss.groupby(level="kind", sort=False)
        there = [name for name in BY_KIND if name in loss]
        table = kinds.mean()[there].rename(columns=BY_KIND)
        table.insert(0, "settings", kinds.size())
        for measure in ("accuracy", "AUC"):
            gain = wide[measure]["default"] - wide[measure]["calibrated by shares"]
            table[f"{measure} gain"] = gain.groupby(level="kind", sort=False).mean()
        print(markdown(table.reset_index()))
        worse = loss.sub(loss["constant"], axis=0) > NOISE
        silent = worse & (wide["warned"] == 0)
        counts = pd.DataFrame({"settings": worse.sum(), "without a warning": silent.sum()})
        counts = counts[counts["settings"] > 0].rename(index=NAMES)
        print("\nLog loss above that of the constant by more than .01:\n")
        print(markdown(counts.rename_axis("method").reset_index()))
        if SLOW in loss:
            places = loss.index[loss[SLOW].notna()].get_level_values("setting")
            some = per_setting[per_setting.setting.isin(places)]
            print(f"\nWhere {SLOW}, was run ({len(places)} settings):\n")
            print(markdown(_means(some)))
        for other in [each for each in ("DLLP", SLOW) if each in loss]:
            ahead = loss[other] - loss["default"]
            print(
                f"\nAgainst {NAMES.get(other, other)} the log loss is lower by more than .01 in "
                f"{(ahead > NOISE).sum()} settings, within .01 in {(ahead.abs() <= NOISE).sum()}, "
                f"higher in {(ahead < -NOISE).sum()} (at most by {-ahead.min():.3f}: "
                f"{ahead.idxmin()[0]})."
            )


def _means(cells: pd.DataFrame) -> pd.DataFrame:
    means = cells.groupby("method", sort=False)[MEASURES].mean().sort_values("log loss")
    return means.rename(index=NAMES).reset_index()


def main(*, quick: bool = False, only_report: bool = False, only: Collection[str] = ()) -> None:
    """Run all settings, or read the last run, and print the tables."""
    if only_report:
        report(read_cells(NAME))
        return
    kept: list[dict[str, Any]] = []
    if only:
        last = read_cells(NAME)
        kept = last[~last.method.isin(only)].to_dict("records")
    rows: list[dict[str, Any]] = []
    for half in reversed(SETS):  # the half that confirms first
        rows += cells(half, 8 if quick else 1, only)
    if not quick:
        write_cells(NAME, kept + rows)
    report(pd.DataFrame(kept + rows))
