"""What a user waits for in a new process: the import, and the first fit with a warm JIT cache.

Only the standard library is imported up here, so that the child times the whole import.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from statistics import median
from typing import Any

from benchmarks.child import run_child

MAX_FIRST_FIT_SECONDS = 0.5
MAX_IMPORT_RATIO = 1.3
FIT_ROWS = 500
TASKS = [("one_class", "float64"), ("one_class", "float32"), ("svc", "float64")]


def startup_rows(subject: str, repeats: int) -> list[dict[str, Any]]:
    """Measure import and first fits of `subject` in fresh processes."""
    return [_import_row(subject, repeats)] + [
        _first_fit_row(subject, problem, dtype, repeats) for problem, dtype in TASKS
    ]


def _import_row(subject: str, repeats: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {subject: [], "sklearn.svm": []}
    for run in range(repeats + 1):
        for module, times in seconds.items():
            elapsed = run_child("benchmarks.startup", json.dumps({"module": module}))["import"]
            if run:  # the first run only fills the caches of files and bytecode
                times.append(elapsed)
    ours, peer = median(seconds[subject]), median(seconds["sklearn.svm"])
    return {
        "case": f"import {subject} / import sklearn.svm",
        "ours_s": ours,
        "peer_s": peer,
        "import_ratio": ours / peer,
        "target": f"<= {MAX_IMPORT_RATIO:g} x",
        "verdict": "met" if ours <= MAX_IMPORT_RATIO * peer else "missed (time)",
    }


def _first_fit_row(subject: str, problem: str, dtype: str, repeats: int) -> dict[str, Any]:
    task = json.dumps({"module": subject, "problem": problem, "dtype": dtype})
    runs = [run_child("benchmarks.startup", task) for _ in range(repeats + 1)][1:]
    first = median(run["first_fit"] for run in runs)
    return {
        "case": f"first fit in a new process, {problem} {FIT_ROWS} x 16",
        "dtype": dtype,
        "ours_s": first,
        "second_fit_s": median(run["second_fit"] for run in runs),
        "target": f"<= {MAX_FIRST_FIT_SECONDS:g} s",
        "verdict": "met" if first <= MAX_FIRST_FIT_SECONDS else "missed (time)",
    }


def _measure(task: dict[str, str]) -> dict[str, float]:
    start = time.perf_counter()
    module = importlib.import_module(task["module"])
    result = {"import": time.perf_counter() - start}
    if "problem" in task:
        from benchmarks.data import load
        from benchmarks.peers import ESTIMATORS

        data = load("easy", FIT_ROWS, 16)
        X = data.X.astype(task["dtype"])
        y = None if task["problem"] == "one_class" else data.y
        for name in ("first_fit", "second_fit"):
            start = time.perf_counter()
            getattr(module, ESTIMATORS[task["problem"]])().fit(X, y)
            result[name] = time.perf_counter() - start
    return result


if __name__ == "__main__":
    print(json.dumps(_measure(json.loads(sys.argv[1]))))
