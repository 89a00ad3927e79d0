"""Fits and predictions of few rows: scikit-learn, its raw LIBSVM call, and this library.

    python -m benchmarks.small

All run in turn in one process, on the same numbers and with the same tolerance; the table has
medians. Violation and objective are those of `benchmarks.verify`, in float64 from the public
attributes. The raw call has no checks of input or parameters: it is the bar for the solver alone.
`--cpu` counts the process's own CPU time, for a machine that is not idle.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import sklearn
import sklearn.svm
from sklearn.svm import _libsvm

import scarce
from benchmarks.history import keep_line
from benchmarks.timing import interleaved
from benchmarks.verify import Dual, scale_gamma, verify

Clock = Callable[[], float]

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
COLUMNS = 16
TOL = 1e-3
PREDICTED = (1, 100, 1000)
TARGETS = {  # scikit-learn's time over ours
    "one-class nu .1": (1.5, 1.5, 1.8, 2.2, 2.8, 3.5, 8),
    "one-class nu .5": (1.2, 1.3, 1.5, 2.6, 3.5, 5, 16),
    "SVC C 1": (1.9, 2.0, 2.1, 3.4, 3.5, 4.0, 5.4),
    "SVC C 100": (1.7, 1.8, 2.1, 2.7, 2.5, 2.2, 4.3),
}
PROBLEMS: dict[str, tuple[str, dict[str, float]]] = {
    "one-class nu .1": ("one_class", {"nu": 0.1}),
    "one-class nu .5": ("one_class", {"nu": 0.5}),
    "SVC C 1": ("svc", {"C": 1.0}),
    "SVC C 100": ("svc", {"C": 100.0}),
}
RESULTS = Path(__file__).parent / "results" / "small.json"


def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a normal distribution, and labels of two classes that overlap."""
    random = np.random.default_rng(n)
    X = random.normal(size=(n, COLUMNS))
    return X, np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0, 1, -1)


def estimators(problem: str, params: dict[str, float]) -> dict[str, Any]:
    """Return scikit-learn's estimator and ours."""
    name = {"one_class": "OneClassSVM", "svc": "SVC"}[problem]
    return {
        library: getattr(module, name)(tol=TOL, **params)
        for library, module in (("scikit-learn", sklearn.svm), ("ours", scarce))
    }


def raw_call(problem: str, X: np.ndarray, y: np.ndarray, params: dict[str, float]) -> Any:
    """Return a call of LIBSVM without anything around it."""
    kind = {"one_class": 2, "svc": 0}[problem]
    target = (y if problem == "svc" else np.ones(len(X))).astype(np.float64)
    gamma = scale_gamma(X)
    return lambda: _libsvm.fit(
        X, target, svm_type=kind, kernel="rbf", gamma=gamma, tol=TOL, **params
    )


def checked(problem: str, model: Any, X: np.ndarray, y: np.ndarray, params: Any) -> dict[str, Any]:
    """Return what a fitted model is worth."""
    offset = model.offset_ if problem == "one_class" else model.intercept_
    dual = Dual(model.support_, np.asarray(model.dual_coef_)[0], float(np.ravel(offset)[0]))
    found = verify(problem, X, y, dual, kernel="rbf", **params)
    return {"kkt_violation": found.kkt_violation, "objective": found.objective}


def fit_row(name: str, n: int, repeats: int, clock: Clock, target: Any) -> dict[str, Any]:
    """Return one line of the table of fits."""
    problem, params = PROBLEMS[name]
    X, y = sample(n)
    models = estimators(problem, params)
    runs: dict[str, Callable[[], Any]] = {
        library: (lambda model=model: model.fit(X, y)) for library, model in models.items()
    }
    runs["raw"] = raw_call(problem, X, y, params)
    for run in runs.values():
        run()
    timings = interleaved(runs, repeats, clock)
    seconds = {library: timing.median for library, timing in timings.items()}
    row = {
        "case": name,
        "n": n,
        "seconds": seconds,
        "ratio": seconds["scikit-learn"] / seconds["ours"],
        "raw_ratio": seconds["ours"] / seconds["raw"],
        "target": target,
    }
    for library, model in models.items():
        row[library] = checked(problem, model, X, y, params)
    return row


def predict_row(n: int, repeats: int, clock: Clock) -> dict[str, Any]:
    """Return one line of the table of predictions, by one-class models of 1,000 rows."""
    X, _ = sample(1000)
    models = {name: model.fit(X) for name, model in estimators("one_class", {"nu": 0.1}).items()}
    rows = np.random.default_rng(1).normal(size=(n, COLUMNS))
    runs: dict[str, Callable[[], Any]] = {
        library: (lambda model=model: model.predict(rows)) for library, model in models.items()
    }
    timings = interleaved(runs, repeats, clock)
    seconds = {library: timing.median for library, timing in timings.items()}
    same = float(np.mean(timings["ours"].result == timings["scikit-learn"].result))
    ratio = seconds["scikit-learn"] / seconds["ours"]
    return {"case": "predict", "n": n, "seconds": seconds, "ratio": ratio, "same": same}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    load = os.getloadavg()[0]
    rows = []
    print(
        "case               rows  scikit-learn     ours  ratio  target  ours/raw  KKT ours, theirs"
    )
    for name, targets in TARGETS.items():
        for n in options.sizes:
            target = targets[SIZES.index(n)] if n in SIZES else None
            row = fit_row(name, n, options.repeats, clock, target)
            rows.append(row)
            s = row["seconds"]
            print(
                f"{name:16s} {n:6d} {1e3 * s['scikit-learn']:10.2f} ms {1e3 * s['ours']:6.2f} ms "
                f"{row['ratio']:5.2f}  {target or '':>6}  {row['raw_ratio']:8.1f}  "
                f"{row['ours']['kkt_violation']:.1e}, {row['scikit-learn']['kkt_violation']:.1e}",
                flush=True,
            )
    for n in PREDICTED:
        row = predict_row(n, options.repeats, clock)
        rows.append(row)
        s = row["seconds"]
        print(
            f"predict          {n:6d} {1e3 * s['scikit-learn']:10.3f} ms {1e3 * s['ours']:6.3f} ms "
            f"{row['ratio']:5.2f}  same {row['same']:.3f}"
        )
    facts = {
        "load_at_start": load,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "sklearn": sklearn.__version__,
        "when": time.strftime("%Y-%m-%d"),
        "repeats": options.repeats,
        "clock": clock.__name__,
        "median_ratio": median(row["ratio"] for row in rows),
    }
    options.out.write_text(json.dumps({"facts": facts, "rows": rows}, indent=1) + "\n")
    if options.out == RESULTS:
        ratios = {f"{row['case']}, {row['n']}": row["ratio"] for row in rows}
        keep_line("small", ratios, load=load, clock=clock.__name__)


if __name__ == "__main__":
    main()
