"""All comparisons with what a user would pick instead: ``python -m benchmarks.untuned``.

Prints docs/results/comparisons.md from the cells in benchmarks/results, which the modules of this
package write (``python -m benchmarks.untuned.one_class`` and so on run them again).
"""

from __future__ import annotations

import pandas as pd

from benchmarks.untuned.report import markdown, read_cells, wins

HEAD = """# Beside what you would pick instead

`python -m benchmarks.untuned` prints this page from `benchmarks/results/untuned-*.json`. Every
method has its defaults, or what its own pages show; those called *searched* or *chosen* are
tuned, without labels; *told the share* knows what the others have to guess; *all labels* sees
every label and is there as a ceiling. Defaults of ours were chosen on one half of the data sets
and confirmed on the other with other seeds: **confirming** is the half to look at. A rank is the
mean place among the methods, 1 is best, over settings in which all of them have a result (a
method with results in less than half of the settings has no rank). *Ahead*, *level* and *behind*
count settings by differences above .01, ours against each, *worst* is our worst setting.

More, and what is better elsewhere: [one class](untuned_one_class.md), [positive and unlabelled
rows](untuned_positive_unlabeled.md), [shares of groups](untuned_shares.md). Tuned figures on the
papers' data are in the [papers' tables](README.md)."""


def ranks(cells: pd.DataFrame, measure: str, setting: list[str]) -> pd.DataFrame:
    """Return the mean and the mean rank of every method that has a result everywhere."""
    wide = cells.groupby([*setting, "method"])[measure].mean().unstack("method")
    wide = wide.loc[:, wide.notna().mean() > 0.5].dropna()
    places = wide.rank(axis=1, ascending=False)
    table = pd.DataFrame({"mean": wide.mean(), "rank": places.mean(), "settings": len(wide)})
    return table.sort_values("rank").reset_index()


def section(title: str, cells: pd.DataFrame, ours: str, measure: str, setting: list[str]) -> str:
    """Return ranks and wins of one family, both halves apart."""
    texts = [f"## {title}"]
    for half, of_half in cells.groupby("half", sort=False):
        texts += [f"### {title}, {half}: {measure}", markdown(ranks(of_half, measure, setting))]
        texts += [f"{ours} against each:", wins(of_half, ours, measure, setting)]
    return "\n\n".join(texts)


def page() -> str:
    """Return the page."""
    one = read_cells("one-class")
    one = one[(one.part == "thresholds") & (one.wanted == 0.1)]
    few = read_cells("positive-unlabeled")
    shares = read_cells("proportions")
    shares = shares[shares.task == "two classes"]
    return "\n\n".join(
        [
            HEAD,
            section("One class", one, "scarce calibrated", "auc", ["task", "n"]),
            section(
                "Positive and unlabelled rows", few, "PositiveUnlabeledSVC", "F1", ["task", "kind"]
            ),
            section("Shares of groups", shares, "default", "accuracy", ["set", "groups", "size"]),
        ]
    )


if __name__ == "__main__":
    print(page())
