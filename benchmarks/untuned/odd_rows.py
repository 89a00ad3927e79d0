"""One class with noisy rows or strangers among the training rows: is it said, and falsely said?

``python -m benchmarks.untuned.odd_rows``
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from benchmarks.untuned.data import HALVES, SEEDS
from benchmarks.untuned.one_class import drawn, tasks
from benchmarks.untuned.report import markdown, write_cells
from scarce import OneClassSVM, TransferOneClassSVM
from scarce.datasets import add_noise
from scarce.held_out import HeldOutScores, among_odd_rows

Array = NDArray[Any]

SIZES = (10, 20, 50, 100)
SOURCE = 60
WANTED = 0.1
CASES = (
    *(("noise", share) for share in (0.0, 0.1, 0.2, 0.4, 1.0)),
    ("others", 0.2),
    ("others", 0.4),
)


def cells(half: str, seeds: int) -> Iterator[dict]:
    """Yield a cell per task, size, seed, kind and share of odd rows, and machine."""
    for name, own, others in tasks(half, quick=False)[0]:
        for n in SIZES:
            for seed in range(seeds):
                split = drawn(own, others, n + SOURCE, SEEDS[half] + seed)
                if split is None:
                    continue
                rows, fresh, other = split
                for kind, share in CASES:
                    number = round(share * n) if kind == "others" else 0
                    if len(other) < number + 50:
                        continue
                    X = np.r_[other[:number], rows[number:]]
                    if kind == "noise" and share:
                        X = add_noise(X, random_state=[seed, 1], share=share).X
                    case = {"half": half, "task": name, "n": n, "seed": seed}
                    case |= {"odd": kind, "share": share}
                    for machine in ("one class", "transfer"):
                        yield (
                            case
                            | {"method": machine}
                            | judged(machine, X, n, fresh, other[number:])
                        )


def judged(machine: str, X: Array, n: int, fresh: Array, other: Array) -> dict:
    """Fit to the first ``n`` rows, and to the others as a source; return rates and the warning."""
    X = X[:n] if machine == "one class" else X
    scaler = StandardScaler().fit(X)
    if machine == "one class":
        model = OneClassSVM(gamma="neighbors", nu=0.1, offset="left_out", false_alarms=WANTED)
        model.fit(scaler.transform(X))
    else:
        domain = np.r_[np.full(n, -1), np.zeros(SOURCE, int)]
        model = TransferOneClassSVM(false_alarms=WANTED)
        model.fit(scaler.transform(X), sample_domain=domain)
    # All of them, which a plain machine finds only when asked.
    left_out = HeldOutScores.of(model.left_out_scores_[~np.isnan(model.left_out_scores_)])
    closeness = model._closeness(left_out)
    return {
        "false_alarms": float(np.mean(model.predict(scaler.transform(fresh)) < 0)),
        "detection": float(np.mean(model.predict(scaler.transform(other)) < 0)),
        "warned": among_odd_rows(left_out, WANTED, closeness) is not None,
    }


def report(found: pd.DataFrame) -> str:
    """Return how many fits of each case are warned of."""
    by = found.groupby(["half", "method", "odd", "share"])
    table = by.agg(
        fits=("warned", "size"), warned=("warned", "sum"), detection=("detection", "mean")
    )
    return markdown(table.reset_index())


def main() -> None:
    """Run, write and print."""
    warnings.simplefilter("ignore")
    found = [cell for half in HALVES for cell in cells(half, seeds=3)]
    write_cells("odd-rows", found)
    print(report(pd.DataFrame(found)))


if __name__ == "__main__":
    main()
