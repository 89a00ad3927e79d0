"""What the papers print: a CSV file for each, settings down, methods across."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path

FOLDER = Path(__file__).with_name("printed")


def printed_figures(
    paper: str, settings: Iterable[str], methods: Iterable[str], metrics: Iterable[str]
) -> dict[tuple[str, str, str], float]:
    """Return the paper's figures of some settings, methods and metrics, where there are any.

    Another reading of a setting or method, named after a comma ("course, binary"; "Imports, by
    appearance, 8 rows"; "OC-SVM, C = 1"), has the figures of the one it is a reading of, and so
    has a metric on the second test set.

    Parameters
    ----------
    paper : str
        Key of the paper.
    settings, methods, metrics : iterable of str
        Names as in our tables.

    Examples
    --------
    >>> printed_figures("svmc", ["course, binary"], ["SVMC", "PEBL"], ["f1"])
    {('course, binary', 'SVMC', 'f1'): 84.34}
    """
    lines = _lines(paper)
    figures = {}
    for setting, method, metric in product(settings, methods, metrics):
        parts = setting.split(", ")
        for name in (setting, f"{parts[0]}, {parts[-1]}", parts[0]):
            line = lines.get((name, metric.removeprefix("second_")), {})
            text = line.get(method.partition(",")[0])
            if text:
                figures[setting, method, metric] = float(text)
                break
    return figures


@cache
def _lines(paper: str) -> dict[tuple[str, str], dict[str, str]]:
    with (FOLDER / f"{paper}.csv").open(encoding="utf-8", newline="") as file:
        return {(line["setting"], line["metric"]): line for line in csv.DictReader(file)}
