"""Leave-one-out selection of a one-class tensor machine from a few images, beside fixed settings.

One digit of scikit-learn's set is the class, a few of its images are the sample, and all other
images are for the test. No figure of the test enters a choice.

    python -m benchmarks.small_sample_selection [repetitions] [size ...]
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut

from scarce import OneClassSTM
from scarce.model_selection import LeaveOneOutSearch

TOL = 1e-4
GRID = {"nu": [0.1, 0.3, 0.5, 0.7, 0.9], "rank": [1, 2, 3]}


def acceptance(estimator, X, y=None):
    return float(np.mean(estimator.predict(X) > 0))


def methods():
    machine = OneClassSTM(tol=TOL, max_iter=1000)
    return {
        "rank 1, nu 0.1": OneClassSTM(tol=TOL, max_iter=1000),
        "rank 2, nu 0.1": OneClassSTM(rank=2, tol=TOL, max_iter=1000),
        "rank 3, nu 0.1": OneClassSTM(rank=3, tol=TOL, max_iter=1000),
        "by acceptance": GridSearchCV(machine, GRID, scoring=acceptance, cv=LeaveOneOut()),
        "search, nu 0.1": LeaveOneOutSearch(machine, {"rank": GRID["rank"]}),
        "search": LeaveOneOutSearch(machine, GRID),
    }


def figures(model, target, others):
    inside = model.decision_function(target), model.decision_function(others)
    truth = np.repeat([1, 0], [len(target), len(others)])
    accepted, refused = np.mean(inside[0] >= 0), np.mean(inside[1] < 0)
    area = roc_auc_score(truth, np.concatenate(inside))
    return area, accepted, refused, 0.5 * (accepted + refused)


def run(repetitions, size):
    digits = load_digits()
    images, labels = digits.images / 16.0, digits.target
    results = {name: [] for name in methods()}
    for seed in range(repetitions):
        for digit in range(10):
            random = np.random.default_rng([size, seed, digit])
            own = images[random.permutation(np.flatnonzero(labels == digit))]
            for name, model in methods().items():
                model.fit(own[:size])
                results[name].append(figures(model, own[size:], images[labels != digit]))
    return {name: np.array(values) for name, values in results.items()}


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for size in map(int, sys.argv[2:] or ["4", "6", "8", "10"]):
        results = run(repetitions, size)
        print(f"\n{size} images, {10 * repetitions} samples: mean (standard error)\n")
        print("| | area under ROC | accepted | others refused | mean of both |")
        print("|---|---|---|---|---|")
        for name, values in results.items():
            errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            cells = [f"{m:.3f} ({e:.3f})" for m, e in zip(values.mean(axis=0), errors, strict=True)]
            print(f"| {name} | " + " | ".join(cells) + " |")
        gain = results["search"] - results["rank 1, nu 0.1"]
        errors = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        print("\nsearch minus rank 1, nu 0.1, paired: ", end="")
        print(
            ", ".join(f"{m:+.3f} ({e:.3f})" for m, e in zip(gain.mean(axis=0), errors, strict=True))
        )


if __name__ == "__main__":
    main()
