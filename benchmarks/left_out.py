"""What left-out scores cost: as ratios to one fit, and to plain scoring.

``python -m benchmarks.left_out``
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import machine
from scarce import SVDD, OneClassSVM, TransferOneClassSVM
from scarce.testing._subject import one_sample

RESULTS = Path(__file__).parent / "results" / "left_out.json"
RUNS = 9
SCORED = 100_000
MACHINES: dict[str, Callable[..., Any]] = {
    "OneClassSVM, scale": lambda **given: OneClassSVM(nu=0.1, **given),
    "OneClassSVM, neighbors": lambda **given: OneClassSVM(nu=0.1, gamma="neighbors", **given),
    "SVDD, scale": lambda **given: SVDD(nu=0.1, **given),
    "TransferOneClassSVM": lambda offset: TransferOneClassSVM(
        offset="original" if offset == "training" else offset
    ),
}


def cpu_time(*calls: Callable[[], Any]) -> list[float]:
    """Return the median CPU time of each call, runs alternating, the first of each not counted."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(RUNS + 1):
        for call, found in zip(calls, times, strict=True):
            begin = time.process_time()
            call()
            found.append(time.process_time() - begin)
    return [median(found[1:]) for found in times]


def fits() -> Iterator[dict[str, Any]]:
    """Yield the time of a fit with left-out scores beside one without, and of all p-values."""
    for name, make in MACHINES.items():
        for n in (20, 50, 200, 300, 1500):
            X = one_sample(n)[0]
            plain, left_out, settled = cpu_time(
                lambda X=X, make=make: make(offset="training").fit(X),
                lambda X=X, make=make: make(offset="left_out").fit(X),
                lambda X=X, make=make: make(offset="left_out").fit(X).left_out_scores_,
            )
            yield {
                "case": name,
                "n": n,
                "fit_ms": 1e3 * plain,
                "left_out": left_out / plain,
                "with_p_values": settled / plain,
            }


def scoring() -> Iterator[dict[str, Any]]:
    """Yield the time of p-values of many rows beside that of their scores."""
    rows = one_sample(SCORED)[0]
    for name, make in MACHINES.items():
        model = make(offset="left_out").fit(one_sample(200)[0])
        model.p_values(rows[:10])
        plain, values = cpu_time(
            lambda model=model: model.score_samples(rows), lambda model=model: model.p_values(rows)
        )
        yield {"case": name, "rows": SCORED, "scores_ms": 1e3 * plain, "p_values": values / plain}


def main() -> None:
    """Run, write and print."""
    warnings.simplefilter("ignore")
    content = {"machine": machine(), "fits": list(fits()), "scoring": list(scoring())}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")
    for cell in content["fits"]:
        print(
            "{case:24} {n:5} {fit_ms:7.1f} ms {left_out:6.1f} {with_p_values:6.1f}".format(**cell)
        )
    for cell in content["scoring"]:
        print("{case:24} {rows} {scores_ms:7.1f} ms {p_values:5.2f}".format(**cell))


if __name__ == "__main__":
    main()
