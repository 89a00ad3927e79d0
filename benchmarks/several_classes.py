"""Several classes and regression on sets that come with scikit-learn, beside scikit-learn's.

    python -m benchmarks.several_classes [--repeats N] [--out FILE]

Same data, parameters and `tol=1e-3`; runs alternate, medians. Objectives are the sum over the pairs
of classes of the dual's, both computed from the multipliers with plain NumPy.
"""

from __future__ import annotations

import argparse
import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.metrics.pairwise import rbf_kernel

import scarce
from benchmarks.history import keep_line
from benchmarks.report import machine
from benchmarks.timing import interleaved

RESULTS = Path(__file__).parent / "results" / "several-classes.json"
CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "digits, C = 1": (load_digits, "SVC", {}),
    "digits, C = 100": (load_digits, "SVC", {"C": 100.0}),
    "digits, nu .1": (load_digits, "NuSVC", {"nu": 0.1}),
    "iris, C = 1": (load_iris, "SVC", {}),
    "iris, nu .5": (load_iris, "NuSVC", {}),
    "diabetes, C = 1": (load_diabetes, "SVR", {}),
    "diabetes, C = 1000": (load_diabetes, "SVR", {"C": 1000.0}),
    "diabetes, nu .5": (load_diabetes, "NuSVR", {"C": 100.0}),
}


def dual_objective(model: Any, X: Any) -> float | None:
    """Return ``1/2 a'Qa - sum a`` over the pairs for a C-SVC, None for other machines."""
    if not isinstance(model, scarce.SVC | sklearn.svm.SVC):
        return None
    K = rbf_kernel(X[model.support_], gamma=model._gamma)
    codes = np.repeat(np.arange(len(model.classes_)), model.n_support_)
    total = 0.0
    for first, second in combinations(range(len(model.classes_)), 2):
        theta = np.where(codes == first, model.dual_coef_[second - 1], 0.0)
        theta = np.where(codes == second, model.dual_coef_[first], theta)
        total += 0.5 * float(theta @ K @ theta) - float(np.abs(theta).sum())
    return total


def measure(load: Any, name: str, parameters: dict[str, Any], repeats: int) -> dict[str, Any]:
    X, y = load(return_X_y=True)
    ours, theirs = getattr(scarce, name), getattr(sklearn.svm, name)
    ours(**parameters).fit(X, y)  # warms up
    fits = interleaved(
        {
            "ours": lambda: ours(**parameters).fit(X, y),
            "scikit-learn": lambda: theirs(**parameters).fit(X, y),
        },
        repeats,
    )
    models = {key: timing.result for key, timing in fits.items()}
    answers = interleaved(
        {key: lambda m=model: m.predict(X) for key, model in models.items()}, repeats
    )
    return {
        "fit_seconds": {key: timing.median for key, timing in fits.items()},
        "predict_seconds": {key: timing.median for key, timing in answers.items()},
        "fit_ratio": fits["scikit-learn"].median / fits["ours"].median,
        "predict_ratio": answers["scikit-learn"].median / answers["ours"].median,
        "objective": {key: dual_objective(model, X) for key, model in models.items()},
        "kkt_violation": models["ours"].kkt_violation_,
        "dual_gap": models["ours"].dual_gap_,
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    found: dict[str, Any] = {"machine": machine(), "load": os.getloadavg()[0], "cases": {}}
    print("| case | fit | predict | objective, ours / theirs | violation | gap |")
    print("|---|---|---|---|---|---|")
    for case, (load, name, parameters) in CASES.items():
        row = measure(load, name, parameters, options.repeats)
        found["cases"][case] = row
        values = [f"{each:.6g}" for each in row["objective"].values() if each is not None]
        print(
            f"| {case} | {row['fit_ratio']:.2f} | {row['predict_ratio']:.2f} | "
            f"{' / '.join(values)} | "
            f"{row['kkt_violation']:.1g} | {row['dual_gap']:.1g} |",
            flush=True,
        )
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    if options.out == RESULTS:
        cases = found["cases"].items()
        ratios = {f"{c}, {w}": row[f"{w}_ratio"] for c, row in cases for w in ("fit", "predict")}
        keep_line("several_classes", ratios, load=found["load"], clock="perf_counter")


if __name__ == "__main__":
    main()
