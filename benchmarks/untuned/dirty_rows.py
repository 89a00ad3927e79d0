"""One class, clean rows and rows with anomalies among them, beside peers; one's own rows scored.

The anomalies are of one other class, as they are in collections of outlier sets: those among the
training rows resemble those to be found. ``python -m benchmarks.untuned.dirty_rows [--report]``
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta, betabinom, binom
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM as Libsvm

from benchmarks.untuned.data import HALVES, SEEDS, TEXTS, at_hand, frequent_classes, table
from benchmarks.untuned.generated import Task, generated
from benchmarks.untuned.peers import PEERS
from benchmarks.untuned.report import markdown, read_cells, write_cells
from scarce import CalibratedOneClass, OneClassSVM

Array = NDArray[Any]

SIZES = (10, 20, 50, 150)
DRAWS = {10: 6, 20: 12, 50: 6, 150: 6}
CLEAN_DRAWS = 40  # of clean rows, with our default alone: false alarms and their range
TESTED = 300
DIRT = {"none": 0.0, "5 %": 0.05, "10 %": 0.1, "5 %, one cluster": 0.05, "5 %, equal": 0.05}
SPREAD = {"5 %, one cluster": 0.02, "5 %, equal": 0.0}  # of a column's deviation
MANY_CLASSES = ("letter", "digits", "isolet", "ldpa_full_precision")
WANTED = 0.1


def tasks(half: str) -> list[Task]:
    """Return classes of the sets that are at hand, and generated ones."""
    found = []
    for name in at_hand(tuple(name for name in HALVES[half] if name not in TEXTS))[0]:
        X, y = table(name).X, table(name).y
        for label in frequent_classes(y, 2 if name in MANY_CLASSES else 1, 60):
            names, counts = np.unique(y[y != label], return_counts=True)
            names = names[counts >= 0.6 * counts.max()]
            other = names[zlib.crc32(f"{name}{label}".encode()) % len(names)]
            found.append((f"{name}/{label}", X[y == label], X[y == other]))
    return found + generated(half)


def ours() -> dict[str, CalibratedOneClass]:
    """Return what is compared, none of it told what kind of anomalies there are."""
    return {
        "scarce": CalibratedOneClass(false_alarms=WANTED),
        "scarce, auto": CalibratedOneClass(false_alarms=WANTED, contamination="auto"),
        "scarce, 0.05": CalibratedOneClass(false_alarms=WANTED, contamination=0.05),
        "scarce, 0.1": CalibratedOneClass(false_alarms=WANTED, contamination=0.1),
        "scarce, nu .5": CalibratedOneClass(OneClassSVM(gamma="neighbors"), false_alarms=WANTED),
    }


def cells(half: str) -> Iterator[dict[str, Any]]:
    """Yield a cell per task, size, seed, kind of dirt and method."""
    for name, own, others in tasks(half):
        for n in SIZES:
            for seed in range(DRAWS[n]):
                for dirt, share in DIRT.items():
                    if len(own) < n + 30 or (share and n < 50):
                        continue
                    case = {"half": half, "task": name, "n": n, "seed": seed, "dirt": dirt}
                    random = np.random.default_rng(SEEDS[half] + seed)
                    yield from judged(case, own, others, round(share * n), random)
            for seed in range(DRAWS[n], CLEAN_DRAWS if len(own) >= n + 30 else 0):
                order = np.random.default_rng(SEEDS[half] + seed).permutation(len(own))
                model = CalibratedOneClass(false_alarms=WANTED).fit(own[order[:n]])
                inside = model.predict(own[order[n : n + TESTED]])
                case = {"half": half, "task": name, "n": n, "seed": seed, "dirt": "none"}
                yield {**case, "method": "scarce", **false_alarms(inside, own[order[:n]])}


def judged(
    case: dict[str, Any], own: Array, others: Array, k: int, random: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Yield the cells of one draw with ``k`` anomalies among the training rows."""
    n = case["n"]
    own, others = own[random.permutation(len(own))], others[random.permutation(len(others))]
    bad, centre = others[:k], None
    if case["dirt"] in SPREAD:
        deviations = SPREAD[case["dirt"]] * own[k:n].std(axis=0)
        bad = others[:1] + deviations * random.normal(size=(k, own.shape[1]))
        centre = others[:1]
    rows, odd = np.r_[own[k:n], bad], np.arange(n) >= n - k
    new, anomalies = own[n : n + TESTED], others[max(k, 8) : TESTED + max(k, 8)]
    scaler = StandardScaler().fit(rows)
    X, T = scaler.transform(rows), scaler.transform(np.r_[new, anomalies])
    truth = np.repeat([0, 1], [len(new), len(anomalies)])

    def cell(method: str, scores: Array, own_scores: Array | None, **more: Any) -> dict[str, Any]:
        areas = {
            "auc": roc_auc_score(truth, -scores),
            "ap": average_precision_score(truth, -scores),
        }
        if k and own_scores is not None:
            areas["own_auc"] = roc_auc_score(odd, -own_scores)
        return {**case, "method": method, **{a: float(b) for a, b in areas.items()}, **more}

    for method, fit in PEERS.items():
        scorer = fit(X)
        yield cell(method, scorer(T), scorer(X) if method == "IsolationForest" else None)
    yield cell("OneClassSVM sklearn", Libsvm().fit(X).score_samples(T), None)
    for method, model in ours().items():
        if "0.1" in method and n < 50:
            continue
        scaled = method == "scarce, nu .5"  # the others scale by themselves
        held_out = model.fit_score_samples(X if scaled else rows)
        tested = T if scaled else np.r_[new, anomalies]
        inside = model.predict(tested)
        yield cell(
            method,
            model.score_samples(tested),
            held_out,
            detection=float(np.mean(inside[truth == 1] < 0)),
            dropped=len(model.dropped_) / n,
            **false_alarms(inside[truth == 0], rows),
            **({} if centre is None else {"centre": float(model.predict(centre)[0] > 0)}),
        )
    if centre is not None:  # what a model says that has not seen the cluster
        model = CalibratedOneClass(false_alarms=WANTED).fit(own[k:n])
        yield cell(
            "scarce, without them",
            model.score_samples(np.r_[new, anomalies]),
            None,
            centre=float(model.predict(centre)[0] > 0),
        )


def false_alarms(inside: Array, rows: Array) -> dict[str, Any]:
    """Return the rate of new rows that are rejected, and whether the 90 % range holds it.

    New rows have noise too: that of the beta-binomial distribution of the same parameters, or
    where rows repeat, of a rate that is a proportion of a beta variable.
    """
    rejected, n = int(np.sum(inside < 0)), len(rows)
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    once = float(np.mean(np.repeat(counts, counts) == 1))
    low, high = betabinom.ppf([0.05, 0.95], len(inside), *parameters(n))
    if once < 1.0:
        rates = once * beta.ppf((np.arange(200) + 0.5) / 200, *parameters(len(counts)))
        at_most = binom.cdf(np.arange(len(inside) + 1)[:, None], len(inside), rates).mean(axis=1)
        low = min(low, float(np.argmax(at_most >= 0.05)))
    return {"false_alarms": rejected / len(inside), "range_holds": bool(low <= rejected <= high)}


def parameters(n: int) -> tuple[float, float]:
    """Return the parameters of the beta distribution of `false_alarm_range_`."""
    counted, k = max(0.15, 1 - 3 / n**0.5), max(1, int(WANTED * (n + 1) + 1e-9))
    return counted * k, counted * (n + 1 - k)


def report(frame: pd.DataFrame) -> str:
    """Return means by half, dirt and size."""
    texts = []
    for measure in ("auc", "ap", "own_auc", "false_alarms", "centre"):
        part = frame[frame[measure].notna() & ((frame.dirt == "none") | (frame.n >= 50))]
        part = part[part.n >= 50]
        texts.append(f"{measure}, 50 and 150 rows\n\n{wide(part, measure, 'dirt')}")
    clean = frame[frame.dirt == "none"]
    for measure in ("auc", "ap", "false_alarms", "range_holds"):
        part = clean[clean[measure].notna()].astype({measure: float})
        texts.append(f"{measure}, clean rows\n\n{wide(part, measure, 'n')}")
    generated_names = [name for half in HALVES for name, _, _ in generated(half)]
    part = frame[frame.task.isin(generated_names) & frame.dirt.isin(["none", "5 %"])]
    part = part[part.n >= 50]
    part = part.assign(case=part.task + ", " + part.dirt)
    for half in HALVES:
        texts.append(f"auc, generated\n\n{wide(part[part.half == half], 'auc', 'case')}")
    return "\n\n".join(texts)


def wide(frame: pd.DataFrame, measure: str, column: str) -> str:
    """Return a table of means, a line for each method and a column for each half and value."""
    table = frame.pivot_table(measure, "method", ["half", column], sort=False).reset_index()
    table.columns = [" ".join(map(str, each)).strip() for each in table.columns]
    return markdown(table)


def main(argv: list[str] | None = None) -> None:
    """Run, write and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="tables of the last run, no run")
    parser.add_argument("--half", choices=list(HALVES), help="run one half only")
    given = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    if not given.report:
        for half in HALVES if given.half is None else [given.half]:
            write_cells(f"dirty-rows-{half}", cells(half))
    if given.half is None:
        print(report(pd.concat([read_cells(f"dirty-rows-{half}") for half in HALVES])))


if __name__ == "__main__":
    main()
