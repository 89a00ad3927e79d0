"""Searches over C and gamma by shares alone: what they choose, by whose losses and by which rule.

    python -m benchmarks.untuned.share_searches

Every candidate has a loss for each group, from fits without whole groups and from fits without a
fifth of all rows, and an accuracy and a log loss on labelled rows that only this module sees.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import KFold

from benchmarks.untuned.data import HALVES, SEEDS, TEXTS, Array, at_hand, table
from benchmarks.untuned.proportions import (
    make_groups,
    measures,
    shares_of,
    split,
    two_class_labels,
)
from benchmarks.untuned.report import markdown, read_cells, write_cells
from scarce import GroupProbabilitySVM
from scarce.model_selection import GroupShareKFold

DEFAULT = {"C": 1.0, "gamma": "scale"}
GRID = [{"C": C, "gamma": gamma} for C, gamma in product([0.1, 1.0, 10.0], ["scale", 0.003, 0.03])]
DRAWS, SIZE = 4, 32  # of the groups
ALWAYS = 1e9  # standard errors that nothing reaches
FOLDS = 5
SLOW = "isolet"  # one draw of so many columns


def group_losses(model: Any, X: Array, shares: Array, groups: Array, folds: Any) -> Array:
    """Return the cross-entropy of every group, each row judged by a fit without it."""
    _, first, codes, counts = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    p = np.empty(len(groups))
    for train, test in folds:
        fitted = clone(model).fit(X[train], shares[train], groups=groups[train])
        p[test] = np.clip(fitted.predict_proba(X[test])[:, 1], 1e-6, 1 - 1e-6)
    mean, q = np.bincount(codes, p) / counts, shares[first]
    return -(q * np.log(mean) + (1 - q) * np.log(1 - mean))


def searches(half: str) -> Iterator[dict[str, Any]]:
    """Yield the losses and the worth of all candidates, a setting at a time."""
    names, _ = at_hand(tuple(name for name in HALVES[half] if name not in TEXTS))
    names.sort(key=lambda name: name == SLOW)
    for draw, (place, name) in product(range(DRAWS), enumerate(names)):
        if name == SLOW and draw > 0:
            continue
        random = np.random.default_rng(2 * SEEDS[half] + 5000 + 100 * draw + 10 * SIZE + place)
        (X0, y0), (X1, y1) = split(table(name).X, two_class_labels(table(name).y), random)
        for kind in ("random", "k-means"):
            if len(y0) < 4 * SIZE:
                continue
            groups = make_groups(X0, SIZE, kind, random)
            shares = shares_of(y0, groups)
            by_group = GroupShareKFold(FOLDS, shuffle=True, random_state=0)
            by_row = KFold(FOLDS, shuffle=True, random_state=0)
            candidates = []
            for params in GRID:
                model = GroupProbabilitySVM(**params)
                parts = (by_group.split(X0, groups=groups), by_row.split(X0))
                losses = [group_losses(model, X0, shares, groups, folds) for folds in parts]
                found = measures(clone(model).fit(X0, shares, groups=groups), X1, y1)
                candidates.append({"params": params, "losses": losses, **found})
            yield {
                "set": name,
                "draw": draw,
                "size": SIZE,
                "kind": kind,
                "counts": np.unique(groups, return_counts=True)[1],
                "cells": candidates,
            }


def chosen(setting: dict[str, Any], by: int, errors: float) -> int:
    """Return the best candidate, or the default unless it is better by so many standard errors.

    These are of the paired differences over the groups, which count by their rows.
    """
    weights = np.asarray(setting["counts"], float)
    losses = np.array([cell["losses"][by] for cell in setting["cells"]])
    default = [cell["params"] for cell in setting["cells"]].index(DEFAULT)
    best = int(np.argmin(losses @ weights))
    gains = losses[default] - losses[best]
    gain = float(gains @ weights / weights.sum())
    spread = np.sqrt(np.sum((weights * (gains - gain)) ** 2)) / weights.sum()
    error = spread * np.sqrt(weights.size / (weights.size - 1))
    return best if gain > errors * error else default


RULES: dict[str, Callable[[dict[str, Any]], int]] = {
    "defaults": partial(chosen, by=0, errors=ALWAYS),
    **{
        f"{name}, {rule}": partial(chosen, by=by, errors=errors)
        for by, name in enumerate(("left-out groups", "left-out rows"))
        for rule, errors in (("the best", -ALWAYS), ("one error", 1.0), ("two errors", 2.0))
    },
}


def judged(half: str, settings: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what every rule chooses in every setting, and what that is worth."""
    for setting in settings:
        about = {name: setting[name] for name in ("set", "draw", "size", "kind")}
        for rule, choose in RULES.items():
            cell = setting["cells"][choose(setting)]
            yield {
                "half": half,
                **about,
                "method": rule,
                "chosen": cell["params"],
                **{name: cell[name] for name in ("accuracy", "log loss")},
            }


def report(cells: pd.DataFrame) -> str:
    """Return means of a half and kind of groups, and the paired difference to the defaults."""
    lines = []
    key = ["set", "draw", "size", "kind"]
    for half, part in cells.groupby("half", sort=False):
        wide = part.pivot(index=key, columns="method", values=["accuracy", "log loss"])
        gain = wide["accuracy"].sub(wide["accuracy"]["defaults"], axis=0)
        for rule in RULES:
            lines.append(
                {
                    "half": f"{half} ({len(wide)})",
                    "rule": rule,
                    "accuracy": float(wide["accuracy"][rule].mean()),
                    "log loss": float(wide["log loss"][rule].mean()),
                    "gain": float(gain[rule].mean()),
                    "its error": float(gain[rule].std() / np.sqrt(len(wide))),
                    "worst": float(gain[rule].min()),
                }
            )
    return markdown(pd.DataFrame(lines))


def main() -> None:
    """Run, write and print."""
    warnings.simplefilter("ignore")
    write_cells(
        "share-searches", [cell for half in HALVES for cell in judged(half, searches(half))]
    )
    print(report(read_cells("share-searches")))


if __name__ == "__main__":
    main()
