"""Cells of a comparison to tables: means, worst cases, wins and losses, with both halves."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from benchmarks.report import machine

RESULTS = Path(__file__).parents[1] / "results"


def write_cells(name: str, cells: Iterable[dict[str, Any]], missing: Sequence[str] = ()) -> Path:
    """Write one line of JSON per cell, with the machine, so that every figure can be traced."""
    path = RESULTS / f"untuned-{name}.json"
    head = json.dumps({"machine": machine(), "missing": list(missing), "cells": []}, indent=1)
    rows = ",\n  ".join(json.dumps({k: _short(v) for k, v in cell.items()}) for cell in cells)
    path.write_text(head.replace('"cells": []', f'"cells": [\n  {rows}\n ]') + "\n")
    return path


def _short(value: Any) -> Any:
    """Return a number with five digits; no table shows more."""
    return float(f"{value:.5g}") if isinstance(value, float) else value


def read_cells(name: str) -> pd.DataFrame:
    """Return the cells of an earlier run."""
    content = json.loads((RESULTS / f"untuned-{name}.json").read_text())
    return pd.DataFrame(content["cells"])


def means(cells: pd.DataFrame, by: Sequence[str], measures: Sequence[str]) -> str:
    """Return a Markdown table of means, one line per method, best first by the first measure."""
    mean = cells.groupby(list(by), sort=False)[list(measures)].mean().reset_index()
    mean = mean.sort_values([*by[:-1], measures[0]], ascending=[True] * (len(by) - 1) + [False])
    return markdown(mean)


def markdown(frame: pd.DataFrame, digits: Mapping[str, int] = MappingProxyType({})) -> str:
    """Return a frame as a Markdown table, with three decimals or a column's own number of them."""

    def text(value: Any, column: str) -> str:
        if isinstance(value, float):
            # Adding zero takes the sign from what is rounded to zero.
            places = digits.get(column, 3)
            return "" if math.isnan(value) else f"{round(value, places) + 0.0:.{places}f}"
        return str(value)

    lines = [list(map(str, frame.columns)), ["---"] * frame.shape[1]]
    for row in frame.itertuples(index=False):
        lines.append([text(*pair) for pair in zip(row, frame.columns, strict=True)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def wins(cells: pd.DataFrame, ours: str, measure: str, task: Sequence[str]) -> str:
    """Return a Markdown table of `differences`."""
    return markdown(differences(cells, ours, measure, task))


def differences(
    cells: pd.DataFrame, ours: str, measure: str, task: Sequence[str], noise: float = 0.01
) -> pd.DataFrame:
    """Return how often a method is ahead of, level with and behind every other, per task."""
    wide = cells.groupby([*task, "method"])[measure].mean().unstack("method")
    rows = []
    for other in wide.columns:
        if other == ours:
            continue
        difference = (wide[ours] - wide[other]).dropna()
        rows.append(
            {
                "against": other,
                "ahead": int((difference > noise).sum()),
                "level": int((difference.abs() <= noise).sum()),
                "behind": int((difference < -noise).sum()),
                "mean difference": float(difference.mean()),
                "worst": float(difference.min()),
            }
        )
    return pd.DataFrame(rows)
