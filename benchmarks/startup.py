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

MAX_IMPORT_RATIO = 1.3
FEW_ROWS = 100
MAX_FIRST_FIT_SECONDS = {500: 0.5, FEW_ROWS: 0.02}  # by rows; of few beyond loading the class
TASKS = [
    ("one_class", "float64", 500),
    ("one_class", "float32", 500),
    ("svc", "float64", 500),
    ("one_class", "float64", FEW_ROWS),
    ("svc", "float64", FEW_ROWS),
]


def startup_rows(subject: str, repeats: int) -> list[dict[str, Any]]:
    """Measure import and first fits of `subject` in fresh processes."""
    return [_import_row(subject, repeats)] + [
        _first_fit_row(subject, problem, dtype, rows, repeats) for problem, dtype, rows in TASKS
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


def _first_fit_row(
    subject: str, problem: str, dtype: str, rows: int, repeats: int
) -> dict[str, Any]:
    task = json.dumps({"module": subject, "problem": problem, "dtype": dtype, "rows": rows})
    runs = [run_child("benchmarks.startup", task) for _ in range(repeats + 1)][1:]
    times = [run["first_fit"] for run in runs]
    first, most = median(times), MAX_FIRST_FIT_SECONDS[rows]
    return {
        "case": f"first fit in a new process, {problem} {rows} x 16",
        "dtype": dtype,
        "ours_s": first,
        "range_s": [min(times), max(times)],
        "cpu_s": median(run["first_fit_cpu"] for run in runs),
        "second_fit_s": median(run["second_fit"] for run in runs),
        "target": f"<= {most:g} s",
        "verdict": "met" if first <= most else "missed (time)",
    }


def _measure(task: dict[str, Any]) -> dict[str, float]:
    start = time.perf_counter()
    module = importlib.import_module(task["module"])
    result = {"import": time.perf_counter() - start}
    if "problem" in task:
        from benchmarks.data import load
        from benchmarks.peers import ESTIMATORS

        data = load("easy", task["rows"], 16)
        X = data.X.astype(task["dtype"])
        y = None if task["problem"] == "one_class" else data.y
        if task["rows"] == FEW_ROWS:
            getattr(module, ESTIMATORS[task["problem"]])  # loads the class
        for name in ("first_fit", "second_fit"):
            start, cpu = time.perf_counter(), time.process_time()
            getattr(module, ESTIMATORS[task["problem"]])().fit(X, y)
            result[name] = time.perf_counter() - start
            result[f"{name}_cpu"] = time.process_time() - cpu
    return result


if __name__ == "__main__":
    print(json.dumps(_measure(json.loads(sys.argv[1]))))
