"""How methods bear labels that are not random: ``python -m benchmarks.untuned.selection_bias``.

A class of normal rows beside another, 40 rows of it labelled, easy ones first (bias above 0) or
hard ones first (below 0); see `scarce.datasets.label_some_positives`. F1 is that of fresh rows.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.untuned.positive_unlabeled import measured
from benchmarks.untuned.positive_unlabeled_methods import DEFAULT, METHODS, OURS
from benchmarks.untuned.positive_unlabeled_tasks import Task
from benchmarks.untuned.report import markdown, write_cells
from scarce.datasets import label_some_positives

BIASES = (-1.0, 0.0, 0.5, 1.0, 2.0)
SEEDS = range(4)
SHARE, DISTANCE, FEATURES = 0.25, 1.2, 6
COMPARED = (
    OURS,
    f"{OURS}, biased",
    DEFAULT,
    f"{DEFAULT}, biased",
    "bagged trees, vote",
    "pulearn bagging of SVC",
    "Elkan-Noto, forest",
    "nnPU, given the prior",
    "balanced SVC, threshold",
    "unbiased risk, double hinge, given the prior",
    "SVMC",
    "MappingConvergence",
)


def make_task(bias: float, seed: int) -> Task:
    """Return 800 rows with biased labels, and as many fresh ones."""
    random = np.random.default_rng(seed)
    truth = random.random(1600) < SHARE
    X = random.normal(size=(truth.size, FEATURES)) + DISTANCE * truth[:, None]
    y = label_some_positives(X[:800], truth[:800], 40, bias=bias, random_state=seed)
    return Task(X[:800], y, truth[:800], X[800:], truth[800:], np.ones(len(X) - 800))


def main() -> int:
    """Run everything and print a table of F1, one column per bias."""
    cells: list[dict[str, Any]] = []
    for bias in BIASES:
        for seed in SEEDS:
            task = make_task(bias, seed)
            for method in COMPARED:
                found = measured(METHODS[method], task, seed)
                cells.append({"bias": bias, "seed": seed, "method": method, **found})
        print(f"bias {bias}", file=sys.stderr, flush=True)
    write_cells("selection-bias", cells)
    wide = pd.DataFrame(cells).pivot_table(index="method", columns="bias", values="F1")
    print(markdown(wide.loc[list(COMPARED)].reset_index()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
