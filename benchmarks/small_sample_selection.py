"""Leave-one-out selection of a one-class tensor machine from a few images, beside fixed settings.

One digit of scikit-learn's set, or one person, is the class; a few images of it are the sample, and
all other images are for the test. No figure of the test enters a choice. The measure itself was
chosen on other draws of the digits; the faces are independent.

    python -m benchmarks.small_sample_selection [digits | faces] [repetitions] [size ...]

Faces are ``orl_32x32.npz`` in the folder that SCARCE_DATA names.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut

from scarce import OneClassSTM
from scarce.model_selection import LeaveOneOutSearch

TOL = 1e-4
PUBLISHED = {"normalize": False, "offset": "training"}  # and rank 1
GRID = {"nu": [0.1, 0.3, 0.5, 0.7, 0.9], "rank": [1, 2, 3]}


def acceptance(estimator, X, y=None):
    return float(np.mean(estimator.predict(X) > 0))


def methods():
    machine = OneClassSTM(rank=1, tol=TOL, max_iter=1000, **PUBLISHED)
    return {
        "rank 1, nu 0.1": OneClassSTM(rank=1, tol=TOL, max_iter=1000, **PUBLISHED),
        "rank 2, nu 0.1": OneClassSTM(rank=2, tol=TOL, max_iter=1000, **PUBLISHED),
        "rank 3, nu 0.1": OneClassSTM(rank=3, tol=TOL, max_iter=1000, **PUBLISHED),
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


def images_and_labels(name):
    if name == "faces":
        data = np.load(Path(os.environ["SCARCE_DATA"]) / "orl_32x32.npz")
        return data["X"] / 255.0, data["y"]
    digits = load_digits()
    return digits.images / 16.0, digits.target


def run(name, repetitions, size):
    images, labels = images_and_labels(name)
    results = {method: [] for method in methods()}
    for seed in range(repetitions):
        for label in np.unique(labels):
            random = np.random.default_rng([size, 100 + seed, label])
            own = images[random.permutation(np.flatnonzero(labels == label))]
            for method, model in methods().items():
                model.fit(own[:size])
                results[method].append(figures(model, own[size:], images[labels != label]))
    return {method: np.array(values) for method, values in results.items()}


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "digits"
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for size in map(int, sys.argv[3:] or ["4", "6", "8", "10"]):
        results = run(name, repetitions, size)
        count = len(results["search"])
        print(f"\n{name}, {size} images, {count} samples: mean (standard error)\n", flush=True)
        print("| | area under ROC | accepted | others refused | mean of both |")
        print("|---|---|---|---|---|")
        for method, values in results.items():
            errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            cells = [f"{m:.3f} ({e:.3f})" for m, e in zip(values.mean(axis=0), errors, strict=True)]
            print(f"| {method} | " + " | ".join(cells) + " |")
        gain = results["search"] - results["rank 1, nu 0.1"]
        errors = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        print("\nsearch minus rank 1, nu 0.1, paired: ", end="")
        print(
            ", ".join(f"{m:+.3f} ({e:.3f})" for m, e in zip(gain.mean(axis=0), errors, strict=True))
        )


if __name__ == "__main__":
    main()
