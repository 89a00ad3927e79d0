"""Known classes, or none of them: classes that training never saw, at several shares of them.

``python -m benchmarks.untuned.open_set`` prints a table for each half of the data sets. Every method may call the same
proportion of rows of known classes unknown (`RATE`), by thresholds from scores out of cross-validation; nothing is tuned.
"""
# ruff: noqa: E501

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import LocalOutlierFactor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.untuned.data import SEEDS, Array, table
from scarce import OpenSetClassifier

SETS = {"choosing": ("digits", "letter"), "confirming": ("isolet", "ldpa_full_precision")}
UNKNOWN_SHARES = (0.2, 0.5, 0.8)  # of the classes
ROWS, TEST_ROWS = 50, 60  # of a class
RATE = 0.05
UNKNOWN = "unknown"


class Peer:
    """A classifier of the known classes beside a score of being known, cut at a held-out quantile."""

    def __init__(self, classifier: BaseEstimator, scorer: Any) -> None:
        self.classifier, self.scorer = classifier, scorer

    def fit(self, X: Array, y: Array) -> Peer:
        held_out = np.empty(len(y))
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            held_out[test] = self.scorer(X[train], y[train], X[test])
        self.threshold = np.quantile(held_out, RATE)
        self.X, self.y = X, y
        self.model = clone(self.classifier).fit(X, y)
        return self

    def answers(self, X: Array) -> tuple[Array, Array]:
        """Return scores, higher for known rows, and labels."""
        scores = self.scorer(self.X, self.y, X)
        return scores, np.where(scores < self.threshold, UNKNOWN, self.model.predict(X))


def by_margin(X: Array, y: Array, new: Array) -> Array:
    """Return the largest one-against-rest decision value of an SVC."""
    values = svc().fit(X, y).decision_function(new)
    return values.max(axis=1) if values.ndim > 1 else np.abs(values)


def by_mean(X: Array, y: Array, new: Array) -> Array:
    """Return minus the distance to the nearest class mean."""
    scaler = StandardScaler().fit(X)
    X, new = scaler.transform(X), scaler.transform(new)
    means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
    return -np.min(np.linalg.norm(new[:, None] - means, axis=2), axis=1)


def by_detector(detector: Any) -> Any:
    """Return a score of a novelty detector of all known rows together."""

    def score(X: Array, y: Array, new: Array) -> Array:
        return np.asarray(
            make_pipeline(StandardScaler(), clone(detector)).fit(X).score_samples(new)
        )

    return score


def svc() -> Any:
    return make_pipeline(StandardScaler(), svm.SVC(C=10.0))


def methods() -> dict[str, Any]:
    """Return the methods by name."""
    return {
        "OpenSetClassifier": None,
        "SVC, threshold": Peer(svc(), by_margin),
        "nearest class mean": Peer(make_pipeline(StandardScaler(), NearestCentroid()), by_mean),
        "SVC + local outlier factor": Peer(svc(), by_detector(LocalOutlierFactor(novelty=True))),
        "SVC + one-class SVM": Peer(svc(), by_detector(svm.OneClassSVM(nu=0.1))),
        "SVC + isolation forest": Peer(svc(), by_detector(IsolationForest(random_state=0))),
    }


def task(name: str, share: float, seed: int) -> tuple[Array, Array, Array, Array]:
    """Return training rows of some classes, and test rows of all, "unknown" for the others."""
    data, random = table(name), np.random.default_rng(seed)
    labels, counts = np.unique(data.y, return_counts=True)
    labels = random.permutation(labels[counts >= ROWS + 10])
    n_known = max(2, len(labels) - max(1, round(share * len(labels))))
    train, test = [], []
    for place, label in enumerate(labels):
        rows = random.permutation(np.flatnonzero(data.y == label))
        train.append(rows[:ROWS] if place < n_known else rows[:0])
        test.append(rows[ROWS : ROWS + TEST_ROWS])
    taught, asked = np.concatenate(train), np.concatenate(test)
    truth = np.where(np.isin(data.y[asked], labels[:n_known]), data.y[asked], UNKNOWN)
    return data.X[taught], data.y[taught], data.X[asked], truth


def cell(method: Any, X: Array, y: Array, new: Array, truth: Array) -> dict[str, float]:
    """Return what one method reaches on one task."""
    if method is None:
        model = OpenSetClassifier(false_alarms=RATE).fit(X, y)
        scores, found = model.score_samples(new), model.predict(new)
    else:
        scores, found = method.fit(X, y).answers(new)
    known = truth != UNKNOWN
    return {
        "AUROC": float(roc_auc_score(known, scores)),
        "macro F1": float(f1_score(truth, found, average="macro")),
        "known called unknown": float((found[known] == UNKNOWN).mean()),
        "accuracy of known": float((found[known] == truth[known]).mean()),
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    arguments = parser.parse_args()
    for half, names in SETS.items():
        found: dict[tuple[str, float], list[dict[str, float]]] = defaultdict(list)
        for name in names:
            for share in UNKNOWN_SHARES:
                for draw in range(arguments.draws):
                    drawn = task(name, share, SEEDS[half] + draw)
                    for label, method in methods().items():
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            found[label, share].append(cell(method, *drawn))
        print(f"\n{half}: {', '.join(names)}; {arguments.draws} draws\n")
        print(
            "| method | unknown classes | AUROC | macro F1 | known called unknown | accuracy of known |"
        )
        print("|---|---|---|---|---|---|")
        for (label, share), cells in found.items():
            means = [np.mean([each[key] for each in cells]) for key in cells[0]]
            print(
                f"| {label} | {share:.0%} | " + " | ".join(f"{each:.3f}" for each in means) + " |"
            )


if __name__ == "__main__":
    main()
