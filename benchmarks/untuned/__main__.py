"""All comparisons with what a user would pick instead: ``python -m benchmarks.untuned``.

Prints docs/results/comparisons.md from the cells in benchmarks/results. ``--run`` runs all of them
again before, which takes hours (``python -m benchmarks.untuned.one_class`` and so on: one family).
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from benchmarks.untuned.report import differences, markdown, read_cells

HEAD = """# Compared with what you would use instead

Our estimators against scikit-learn, pyod, pulearn and what is known for label proportions, on the
same draws of the same data sets. Losses are shown as well as wins.

- **Untuned**, unless it says otherwise: every method has its defaults, or what its own pages show.
  *Searched* and *chosen* methods are tuned without any label. *Given the prior* knows
  what the others have to estimate; *all labels* sees every label and is there as a ceiling.
- Our defaults were chosen on one half of the data sets and confirmed on the other with other seeds:
  **confirming** is the half to look at.
- *Rank* is the mean place among the methods, 1 is best, over the settings in which all of them have
  a result. *Ahead*, *level* and *behind* count the settings in which ours, **in bold**, was better,
  within .01, and worse; *difference* is the mean of ours less theirs, *worst* our worst setting.

`python -m benchmarks.untuned` prints this page from the cells in `benchmarks/results`, and with
`--run` runs everything again first. More tables, and what is better elsewhere:
[one class](untuned_one_class.md), [positive and unlabelled rows](untuned_positive_unlabeled.md),
[proportions of groups](untuned_label_proportions.md). Tuned figures on the papers' data:
[the papers' tables](README.md)."""

MODULES = ("one_class", "positive_unlabeled", "proportions")
DIGITS = {"rank": 1, "ahead": 0, "level": 0, "behind": 0}
# What the cells call a method, and what a reader would call it.
NAMES = {
    "scarce calibrated": "CalibratedOneClass",
    "scarce calibrated, searched": "CalibratedOneClass, searched",
    "scarce left_out, scaler outside": 'OneClassSVM(offset="left_out")',
    "OneClassSVM sklearn": "scikit-learn OneClassSVM",
    "OneClassSVM sklearn, searched": "scikit-learn OneClassSVM, searched",
    "IsolationForest": "scikit-learn IsolationForest",
    "LocalOutlierFactor": "scikit-learn LocalOutlierFactor",
    "LocalOutlierFactor, scaled": "scikit-learn LocalOutlierFactor, scaled",
    "KNN pyod": "pyod KNN",
    "KNN pyod, scaled": "pyod KNN, scaled",
    "IForest pyod": "pyod IForest",
    "INNE pyod": "pyod INNE",
    "nnPU, given the prior": "pulearn nnPU, given the prior",
    "Elkan-Noto, forest": "pulearn Elkan-Noto on a forest",
    "weighted Elkan-Noto, forest": "pulearn weighted Elkan-Noto on a forest",
    "one-class SVM": "one-class SVM of the positives",
    "unbiased risk, double hinge, given the prior": "UnbiasedPUSVC, given the prior",
    "default": "GroupProbabilitySVM",
    "default searched": "GroupProbabilitySVM, searched",
    "cost per row": "GroupProbabilitySVM(calibrate=None)",
    "published": "IC-SVM as published",
    "group means": "logistic regression of group means",
    "alternating": "alternating labels",
}


class Family(NamedTuple):
    """Cells of a comparison: which of them are ours, what is measured, and what is a setting."""

    title: str
    cells: pd.DataFrame
    ours: str
    measure: str
    setting: Sequence[str]


def ranks(cells: pd.DataFrame, measure: str, setting: Sequence[str]) -> pd.DataFrame:
    """Return mean and mean rank of every method, where all that are mostly there have a result."""
    wide = cells.groupby([*setting, "method"])[measure].mean().unstack("method")
    wide = wide.loc[:, wide.notna().mean() > 0.5].dropna()
    places = wide.rank(axis=1, ascending=False)
    table = pd.DataFrame({"mean": wide.mean(), "rank": places.mean(), "settings": len(wide)})
    return table.sort_values("rank").reset_index()


def standing(family: Family, half: str) -> pd.DataFrame:
    """Return a line for every method of a half: its rank, and how ours stands against it."""
    cells = family.cells[family.cells.half == half]
    places = ranks(cells, family.measure, family.setting)
    counts = differences(cells, family.ours, family.measure, family.setting)
    counts = counts.rename(columns={"against": "method", "mean difference": "difference"})
    table = places.merge(counts, on="method", how="outer").sort_values("rank", kind="stable")
    ours = table.method == family.ours
    table["method"] = table["method"].replace(NAMES)
    table.loc[ours, "method"] = "**" + table["method"][ours] + "**"
    return table


def section(family: Family) -> str:
    """Return both halves of a family."""
    texts = [f"## {family.title}"]
    for half in ("confirming", "choosing"):
        table = standing(family, half)
        settings = int(table.settings.max())
        texts.append(f"### {family.title}, {half}")
        texts.append(f"{family.measure}; ranks and means over {settings} settings.")
        texts.append(markdown(table.drop(columns="settings"), digits=DIGITS))
    return "\n\n".join(texts)


def families() -> list[Family]:
    """Return what is compared."""
    one = read_cells("one-class")
    one = one[(one.part == "thresholds") & (one.wanted == 0.1)]
    few = read_cells("positive-unlabeled")
    shares = read_cells("proportions")
    shares = shares[shares.task == "two classes"]
    searched = one.method.str.contains("searched")
    of_one = ("scarce calibrated", "AUC", ["task", "n"])
    one = one.rename(columns={"auc": "AUC"})
    return [
        Family("One class", one[~searched], *of_one),
        Family("One class, 50 rows or more, searched too", one[one.n >= 50], *of_one),
        Family("Positive and unlabelled rows", few, "PositiveUnlabeledSVC", "F1", ["task", "kind"]),
        Family("Proportions of groups", shares, "default", "accuracy", ["set", "groups", "size"]),
    ]


def main(argv: list[str] | None = None) -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="run everything again first, for hours")
    if parser.parse_args(argv).run:
        for name in MODULES:
            importlib.import_module(f"benchmarks.untuned.{name}").main([])
    print("\n\n".join([HEAD, *map(section, families())]))


if __name__ == "__main__":
    main()
