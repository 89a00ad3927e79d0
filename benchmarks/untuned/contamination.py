"""One class with rows of others among the training rows: the rule of the guide, and what it costs.

``python -m benchmarks.untuned.contamination``
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.untuned.data import HALVES, SEEDS
from benchmarks.untuned.one_class import drawn, tasks
from benchmarks.untuned.report import markdown, write_cells
from scarce import CalibratedOneClass, OneClassSVM

ROWS = 100
SHARES = (0.0, 0.05, 0.1)
WANTED = 0.1
SETTINGS = [(nu, gamma) for nu in (0.1, 0.5) for gamma in ("scale", "neighbors")]


def cells(half: str, seeds: int) -> Iterator[dict]:
    """Yield a cell per task, share of others, seed, machine and rate asked for."""
    for name, own, others in tasks(half, quick=False)[0]:
        for seed in range(seeds):
            split = drawn(own, others, ROWS, SEEDS[half] + seed)
            if split is None:
                continue
            rows, fresh, other = split
            strangers, other = other[: ROWS // 10], other[ROWS // 10 :]
            truth = np.repeat([1, 0], [len(fresh), len(other)])
            for share in SHARES:
                n_others = round(share * ROWS)
                X = np.r_[rows[n_others:], strangers[:n_others]]
                for nu, gamma in SETTINGS:
                    # The share is known, or it is not.
                    for asked in sorted({WANTED, WANTED + share}):
                        machine = make_pipeline(StandardScaler(), OneClassSVM(nu=nu, gamma=gamma))
                        model = CalibratedOneClass(machine, false_alarms=asked).fit(X)
                        scores = model.score_samples(np.r_[fresh, other])
                        yield {
                            "half": half,
                            "task": name,
                            "seed": seed,
                            "others": share,
                            "method": f"nu {nu}, {gamma}",
                            "asked": asked,
                            "auc": float(roc_auc_score(truth, scores)),
                            "false_alarms": float(np.mean(model.predict(fresh) < 0)),
                            "detection": float(np.mean(model.predict(other) < 0)),
                        }


def main() -> None:
    """Run, write and print."""
    warnings.simplefilter("ignore")
    found = [cell for half in HALVES for cell in cells(half, seeds=3)]
    write_cells("contamination", found)
    frame = pd.DataFrame(found)
    measures = ["auc", "false_alarms", "detection"]
    by = ["half", "others", "asked", "method"]
    print(markdown(frame.groupby(by)[measures].mean().reset_index()))


if __name__ == "__main__":
    main()
