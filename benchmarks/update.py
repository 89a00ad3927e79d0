"""Updates of a model beside fitting it again, and beside online detectors.

``python -m benchmarks.update`` takes about half a minute. Per case: CPU time of a fit of 10,000 rows (median of nine), of `partial_fit`
with 1 row and with 100, growing and in a window (means over a stream), and what share of a fit that is. Online detectors (scikit-learn's `SGDOneClassSVM`, river's
if it is installed) learn one row at a time or in parts; their answers are approximate. ``--rows N`` follows a stream of single rows
instead, and judges the last model from nothing.
"""
# ruff: noqa: E501

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from sklearn.linear_model import SGDOneClassSVM

from benchmarks.data import load
from scarce import SVC, OneClassSVM
from scarce.kernels import make_kernel, make_operator
from scarce.reductions import one_class_program
from scarce.solvers import certify

N, MORE, SIZES = 10_000, 3_000, {1: 400, 100: 30}  # rows, those to come, and repeats of each size
CASES: dict[str, tuple[str, int, Any]] = {
    "one class, clusters": ("mixture", 16, OneClassSVM(nu=0.1)),
    "one class, one blob": ("hard", 10, OneClassSVM(nu=0.1)),
    "one class, nu .5, clusters of two classes": ("easy", 16, OneClassSVM(nu=0.5)),
    "SVC C=1, little overlap": ("easy", 16, SVC()),
    "SVC C=1, strong overlap": ("hard", 10, SVC()),
    "SVC C=100, little overlap": ("easy", 16, SVC(C=100.0)),
}


def seconds(call: Callable[[], Any]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def updates(model: Any, X: Any, y: Any, size: int, repeats: int) -> float:
    """Return the mean time of an update with so many rows, over a stream."""
    model.partial_fit(X[:N], y[:N])
    taken = []
    for number in range(repeats):
        part = slice(N + number * size, N + (number + 1) * size)
        taken.append(seconds(lambda part=part: model.partial_fit(X[part], y[part])))
    return float(np.mean(taken))


def compare() -> None:
    """Print a table of updates and fits."""
    print("| case | fit, ms | rows | growing, ms | share | in a window, ms | share | violation |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (source, width, estimator) in CASES.items():
        data = load(source, N + MORE, width)
        X = np.asarray(data.X, np.float64)
        y = np.zeros(len(X)) if data.y is None else data.y
        model = type(estimator)(**estimator.get_params())
        fits = [seconds(lambda model=model, X=X, y=y: model.fit(X[:N], y[:N])) for _ in range(10)]
        fit = median(fits[1:])
        for size, repeats in SIZES.items():
            line = [name, f"{1e3 * fit:.1f}", str(size)]
            for window in (None, N):
                model = type(estimator)(**{**estimator.get_params(), "window": window})
                mean = updates(model, X, y, size, repeats)
                line += [f"{1e3 * mean:.2f}", f"{mean / fit:.3f}"]
            print("| " + " | ".join([*line, f"{model.kkt_violation_:.1e}"]) + " |", flush=True)


def online() -> None:
    """Print what online detectors take for a row."""
    X = np.asarray(load("hard", N + MORE, 10).X, np.float64)
    sgd = SGDOneClassSVM(nu=0.1).fit(X[:N])
    taken = [
        seconds(lambda row=row: sgd.partial_fit(X[row : row + 1])) for row in range(N, N + 200)
    ]
    print(f"\nSGDOneClassSVM (linear): {1e3 * median(taken):.3f} ms a row")
    try:
        from river import anomaly
    except ImportError:
        print("river is not installed")
        return
    names = [str(number) for number in range(10)]
    for model in (anomaly.HalfSpaceTrees(seed=0), anomaly.OneClassSVM(nu=0.1), anomaly.LODA()):
        rows = [dict(zip(names, row, strict=True)) for row in X[N : N + 200].tolist()]
        taken = [seconds(lambda row=row, model=model: model.learn_one(row)) for row in rows]
        print(f"river {type(model).__name__}: {1e3 * median(taken):.3f} ms a row")


def stream(number: int) -> None:
    """Follow single rows in a window, and judge the last model from nothing."""
    window = 1000
    random = np.random.default_rng(0)
    X = random.normal(size=(window + number, 5))
    model = OneClassSVM(nu=0.1, gamma=0.2, window=window).partial_fit(X[:window])
    start = time.process_time()
    for row in range(window, window + number):
        model.partial_fit(X[row : row + 1])
    taken = time.process_time() - start
    operator = make_operator(X[-window:], make_kernel("rbf", gamma=0.2))
    program = one_class_program(operator, nu=0.1, weights=np.ones(window))
    alpha = np.zeros(window)
    alpha[model.support_] = model.dual_coef_[0]
    truth = certify(program, alpha)
    print(
        f"{number} single rows in a window of {window}: {1e3 * taken / number:.2f} ms each; violation "
        f"{truth.kkt_violation:.1e} (said {model.kkt_violation_:.1e}), gap {truth.dual_gap:.1e} (said "
        f"{model.dual_gap_:.1e}), equality off by {truth.relative_infeasibility:.1e}"
    )


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="follow a stream of so many single rows")
    arguments = parser.parse_args()
    if arguments.rows:
        stream(arguments.rows)
    else:
        compare()
        online()


if __name__ == "__main__":
    main()
