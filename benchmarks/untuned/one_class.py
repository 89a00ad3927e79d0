"""One class, nothing tuned: false alarms wanted and had, detection and ranking, beside peers.

``python -m benchmarks.untuned.one_class [--quick | --report | --again METHODS]``
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyod.models.iforest import IForest
from pyod.models.inne import INNE
from pyod.models.knn import KNN
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM as Libsvm

from benchmarks.untuned.data import HALVES, SEEDS, TEXTS, at_hand, frequent_classes, table
from benchmarks.untuned.report import markdown, means, read_cells, wins, write_cells
from scarce import CalibratedOneClass, OneClassSTM, OneClassSVM, TransferOneClassSVM
from scarce.model_selection import shuffled_columns_scorer

Array = NDArray[Any]

SIZES = (5, 10, 20, 50, 200, 1000)
RATES = (0.05, 0.1)
OURS = "scarce calibrated"
TEST_ROWS = 500  # of the class, and as many of others
GRID = tuple(2.0**power for power in range(-4, 7))  # times gamma "scale"


class Pyod(BaseEstimator):
    """A detector of pyod with scikit-learn's signs, cut at the contamination it is told."""

    def __init__(self, kind: Callable[..., Any], rate: float) -> None:
        self.kind, self.rate = kind, rate

    def fit(self, X: Array, y: None = None) -> Pyod:
        self.model_ = self.kind(contamination=self.rate).fit(X)
        return self

    def score_samples(self, X: Array) -> Array:
        return -np.asarray(self.model_.decision_function(X))

    def predict(self, X: Array) -> Array:
        return np.where(self.model_.predict(X) == 1, -1, 1)


class SearchedThenCalibrated:
    """Ours with a width chosen by shuffled columns, and a threshold around what was chosen."""

    def __init__(self, search: GridSearchCV, rate: float) -> None:
        self.search, self.rate = search, rate

    def fit(self, X: Array) -> CalibratedOneClass:
        best = self.search.fit(X).best_estimator_
        self.model = CalibratedOneClass(best, false_alarms=self.rate).fit(X)
        self.predict, self.score_samples = self.model.predict, self.model.score_samples
        return self.model


def searched(machine: Any, n_columns: int) -> GridSearchCV:
    """Return a search over the width, without rows of others, of a machine behind a scaler."""
    widths = [factor / n_columns for factor in GRID]  # scaled columns: "scale" is 1 / n_columns
    pipeline = Pipeline([("scaler", StandardScaler()), ("machine", machine)])
    grid = {"machine__gamma": widths}
    return GridSearchCV(pipeline, grid, scoring=shuffled_columns_scorer(), cv=5)


def methods(rate: float, n: int, n_columns: int) -> dict[str, Any]:
    """Return every method at a wanted rate; peers are given it as their share of outliers."""
    scaler = StandardScaler
    ours = OneClassSVM(gamma="neighbors", nu=0.1)
    found = {
        OURS: CalibratedOneClass(make_pipeline(scaler(), ours), false_alarms=rate),
        "scarce left_out, scaler outside": make_pipeline(
            scaler(),
            OneClassSVM(gamma="neighbors", nu=0.1, offset="left_out", false_alarms=rate),
        ),
        "OneClassSVM sklearn": make_pipeline(scaler(), Libsvm(nu=rate)),
        "IsolationForest": IsolationForest(contamination=rate, random_state=0),
        "KNN pyod": Pyod(KNN, rate),
        "KNN pyod, scaled": make_pipeline(scaler(), Pyod(KNN, rate)),
        "IForest pyod": Pyod(IForest, rate),
        "INNE pyod": Pyod(INNE, rate),
    }
    if rate != RATES[-1]:  # peers are run once
        return {name: model for name, model in found.items() if name.startswith("scarce")}
    if n >= 10:
        found["LocalOutlierFactor"] = LocalOutlierFactor(
            n_neighbors=min(20, n - 1), contamination=rate, novelty=True
        )
        found["LocalOutlierFactor, scaled"] = make_pipeline(
            scaler(), clone(found["LocalOutlierFactor"])
        )
    if n < 10:  # neighbours and subsamples that these ask for
        del found["KNN pyod"], found["KNN pyod, scaled"], found["INNE pyod"]
    if n >= 50:  # what a search without rows of others needs
        found["OneClassSVM sklearn, searched"] = searched(Libsvm(nu=rate), n_columns)
        found["scarce calibrated, searched"] = SearchedThenCalibrated(
            searched(OneClassSVM(nu=0.1), n_columns), rate
        )
    return found


def tasks(half: str, quick: bool) -> tuple[list[tuple[str, Array, Array]], list[str]]:
    """Return rows of the largest class of each set and rows of others, and what is missing."""
    there, missing = at_hand(tuple(name for name in HALVES[half] if name not in TEXTS))
    found = []
    for name in there[: 2 if quick else None]:
        X, y = table(name).X, table(name).y
        for label in frequent_classes(y, 1, 60):
            found.append((f"{name}/{label}", X[y == label], X[y != label]))
    return found, missing


def drawn(own: Array, others: Array, n: int, seed: int) -> tuple[Array, Array, Array] | None:
    """Return training rows, fresh rows of the class and rows of others."""
    random = np.random.default_rng(seed)
    if len(own) < n + 30:
        return None
    order = random.permutation(len(own))
    fresh = own[order[n : n + TEST_ROWS]]
    return own[order[:n]], fresh, others[random.permutation(len(others))[:TEST_ROWS]]


def thresholds(
    half: str, seeds: int, sizes: tuple[int, ...], quick: bool, only: str = ""
) -> Iterator[dict]:
    """Yield a cell per task, size, seed, rate and method of a matching name."""
    for name, own, others in tasks(half, quick)[0]:
        for n in sizes:
            for seed in range(seeds):
                split = drawn(own, others, n, SEEDS[half] + seed)
                if split is None:
                    continue
                X, fresh, other = split
                for rate in RATES:
                    for method, model in methods(rate, n, X.shape[1]).items():
                        if not re.search(only, method):
                            continue
                        model.fit(X)
                        truth = np.repeat([1, 0], [len(fresh), len(other)])
                        scores = model.score_samples(np.r_[fresh, other])
                        yield {
                            "part": "thresholds",
                            "half": half,
                            "task": name,
                            "n": n,
                            "seed": seed,
                            "wanted": rate,
                            "method": method,
                            "false_alarms": float(np.mean(model.predict(fresh) < 0)),
                            "detection": float(np.mean(model.predict(other) < 0)),
                            "auc": float(roc_auc_score(truth, scores)),
                        }


def widths(half: str, seeds: int, quick: bool) -> Iterator[dict]:
    """Yield ranking of kernel widths by rule, and of the best of a grid, which sees the truth."""
    for name, own, others in tasks(half, quick)[0]:
        for n in (20, 50, 200):
            for seed in range(seeds):
                split = drawn(own, others, n, SEEDS[half] + seed)
                if split is None:
                    continue
                scaler = StandardScaler().fit(split[0])
                X, fresh, other = (scaler.transform(part) for part in split)
                truth = np.repeat([1, 0], [len(fresh), len(other)])

                def area(gamma: Any, X=X, T=np.r_[fresh, other], truth=truth) -> float:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        model = OneClassSVM(nu=0.1, gamma=gamma).fit(X)
                    return float(roc_auc_score(truth, model.score_samples(T)))

                scale = 1.0 / (X.shape[1] * X.var())
                found = {word: area(word) for word in ("scale", "neighbors")}
                found["best of grid"] = max(area(scale * factor) for factor in GRID)
                for method, auc in found.items():
                    yield {
                        "part": "widths",
                        "half": half,
                        "task": name,
                        "n": n,
                        "seed": seed,
                        "method": method,
                        "auc": auc,
                        "regret": found["best of grid"] - auc,
                    }


def transfer(half: str, seeds: int, quick: bool) -> Iterator[dict]:
    """Yield target classes of few rows; the source is another class's neighbour, shifted rows."""
    for name, own, others in tasks(half, quick)[0]:
        for n in (5, 10, 20):
            for seed in range(seeds):
                split = drawn(own, others, n + 60, SEEDS[half] + seed)
                if split is None:
                    continue
                rows, fresh, other = split
                scaler = StandardScaler().fit(rows[n:])  # of the source: many rows
                X, T = scaler.transform(rows), scaler.transform(np.r_[fresh, other])
                X[n:] += 0.3 * np.random.default_rng(seed).normal(size=X.shape[1])
                domain = np.r_[np.full(n, -1), np.zeros(60, int)]
                truth = np.repeat([1, 0], [len(fresh), len(other)])
                choices = {
                    "default": TransferOneClassSVM(),
                    "published": TransferOneClassSVM(
                        gamma="scale", offset="original", relation="keep"
                    ),
                }
                for method, model in choices.items():
                    model.fit(X, sample_domain=domain)
                    inside = model.predict(T) > 0
                    yield {
                        "part": "transfer",
                        "half": half,
                        "task": name,
                        "n": n,
                        "seed": seed,
                        "method": method,
                        "f1": float(f1_score(truth, inside)),
                        "false_alarms": float(1 - inside[truth == 1].mean()),
                        "auc": float(roc_auc_score(truth, model.score_samples(T))),
                    }


def tensors(seeds: int, quick: bool) -> Iterator[dict]:
    """Yield few digits, images of 8 x 8; even digits are to choose by, odd ones to confirm."""
    X, y = table("digits").X.reshape(-1, 8, 8), table("digits").y
    for label in "0123456789"[: 2 if quick else None]:
        half = "choosing" if int(label) % 2 == 0 else "confirming"
        own, others = X[y == label], X[y != label]
        for n in (4, 8, 16):
            for seed in range(seeds):
                split = drawn(own, others, n, SEEDS[half] + seed)
                assert split is not None
                flat = [part.reshape(len(part), -1) / 16.0 for part in split]
                narrow = OneClassSVM(gamma="neighbors", nu=0.1, offset="left_out")
                published = OneClassSTM(rank=1, normalize=False, offset="training", tol=1e-4)
                choices = {
                    "OneClassSTM": (OneClassSTM(tol=1e-4, max_iter=1000), split),
                    "published STM": (published.set_params(max_iter=1000), split),
                    "RBF on vectors": (narrow, flat),
                }
                for method, (model, (a, b, c)) in choices.items():
                    model.fit(a)
                    truth = np.repeat([1, 0], [len(b), len(c)])
                    accepted = float(np.mean(model.predict(b) > 0))
                    refused = float(np.mean(model.predict(c) < 0))
                    yield {
                        "part": "tensors",
                        "half": half,
                        "task": f"digits/{label}",
                        "n": n,
                        "seed": seed,
                        "method": method,
                        "balanced": (accepted + refused) / 2,
                        "false_alarms": 1 - accepted,
                        "auc": float(
                            roc_auc_score(truth, model.score_samples(np.concatenate([b, c])))
                        ),
                    }


def main(argv: list[str] | None = None) -> None:
    """Run, write and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few tasks, sizes and seeds")
    parser.add_argument("--again", help="run methods of such names and our own parts")
    parser.add_argument("--report", action="store_true", help="tables of the last run, no run")
    given = parser.parse_args(argv)
    quick = given.quick
    warnings.simplefilter("ignore")
    if given.report:
        return print(report(read_cells("one-class")))
    if given.again is not None:
        return print(report(again(given.again)))
    seeds, sizes = (1, (10, 50)) if quick else (3, SIZES)
    cells, missing = [], []
    for half in HALVES:
        missing += tasks(half, quick)[1]
        cells += [*thresholds(half, seeds, sizes, quick), *widths(half, 1, quick)]
        cells += transfer(half, 1 if quick else 8, quick)
    cells += tensors(1, quick)
    if not quick:
        write_cells("one-class", cells, missing)
    print(report(pd.DataFrame(cells)))


def again(only: str) -> pd.DataFrame:
    """Run some methods of the thresholds once more, and all other parts, which are of ours alone.

    What peers had in the last run is kept.
    """
    last = read_cells("one-class")
    new = [*tensors(1, False)]
    for half in HALVES:
        new += [*thresholds(half, 3, SIZES, False, only), *widths(half, 1, False)]
        new += transfer(half, 8, False)
    kept = last[(last.part == "thresholds") & ~last.method.str.contains(only)]
    old = [row.dropna().to_dict() for _, row in kept.iterrows()]
    missing = [name for half in HALVES for name in tasks(half, False)[1]]
    write_cells("one-class", [*new, *old], missing)
    return read_cells("one-class")


def report(cells: pd.DataFrame) -> str:
    """Return the tables, one of each part."""
    texts = []
    part = cells[cells.part == "thresholds"]
    wide = part.pivot_table(
        "false_alarms", ["half", "wanted", "method"], "n", aggfunc="mean"
    ).reset_index()
    texts.append("False alarms\n\n" + markdown(wide))
    at = part[part.wanted == 0.1]
    for measure in ("detection", "auc"):
        wide = at.pivot_table(measure, ["half", "method"], "n", aggfunc="mean").reset_index()
        texts.append(f"{measure}, wanted .1\n\n" + markdown(wide))
    for half, cells_of in at.groupby("half", sort=False):
        texts.append(f"auc, {half}\n\n" + wins(cells_of, OURS, "auc", ["task", "n"]))
    for name, measures in (
        ("widths", ["auc", "regret"]),
        ("transfer", ["f1", "false_alarms", "auc"]),
        ("tensors", ["balanced", "false_alarms", "auc"]),
    ):
        own = cells[cells.part == name]
        texts.append(f"{name}\n\n" + means(own, ["half", "n", "method"], measures))
    return "\n\n".join(texts)


if __name__ == "__main__":
    main()
