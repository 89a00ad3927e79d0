"""Few rows of a target with related and unrelated sources: does a source help, and is it told?

Sources: more rows of the class, moved by .3 or 1 standard deviation in every column or stretched;
the class with the nearest mean, that with the farthest, one in between, a mixture of all others,
of which others are tested. The reference is the model
of the target's rows alone. False alarms of the held-out threshold are counted apart, in more draws
of the target's rows. ``python -m benchmarks.untuned.relation [--report]``
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks.untuned.data import HALVES, SEEDS, at_hand, frequent_classes, table
from benchmarks.untuned.report import markdown, read_cells, write_cells
from scarce import OneClassSVM, TransferOneClassSVM

Array = NDArray[Any]

SETS = {
    "choosing": ("letter", "digits", "wine", "mushroom", "breast_cancer_wisconsin_original"),
    "confirming": ("isolet", "ldpa_full_precision", "wdbc", "iris", "australian_credit"),
}
SIZES = (5, 10, 20, 50)
SOURCE, TESTED, LABELS, DRAWS = 120, 200, 3, 2
RELATED = ("shift .3", "shift 1", "stretched")
ALARM_ROWS, ALARM_DRAWS, ALARM_KINDS = 20, 20, ("shift .3", "nearest")


def sources(X: Array, y: Array, label: str) -> dict[str, str]:
    """Return the class that each kind of source comes from."""
    scaled = StandardScaler().fit_transform(X)
    names = [name for name in frequent_classes(y, 26, 45) if name != label]
    away = {
        name: scaled[y == name].mean(axis=0) - scaled[y == label].mean(axis=0) for name in names
    }
    order = sorted(names, key=lambda name: float(np.sum(away[name] ** 2)))
    others = {"farthest": order[-1]}
    if len(order) > 1:
        others["nearest"] = order[0]
    if len(order) > 2:
        others["middle"] = order[len(order) // 2]
    return {kind: label for kind in RELATED} | others | {"mixed": ""}


def related_rows(rows: Array, kind: str, deviations: Array, random: np.random.Generator) -> Array:
    """Return rows of the class as another plant, or instrument, would have recorded them."""
    if kind != "stretched":
        return rows + float(kind.split()[1]) * deviations * random.normal(size=deviations.size)
    centre = rows.mean(axis=0)
    stretched = centre + (rows - centre) * np.exp(0.5 * random.normal(size=deviations.size))
    return stretched + 0.3 * deviations * random.normal(size=deviations.size)


def drawn(
    X: Array, y: Array, label: str, kind: str, source: str, n: int, random: np.random.Generator
) -> tuple[Array, Array, Array, Array] | None:
    """Return rows of the target and of the source, new rows of the class and others."""
    own = X[y == label]
    own = own[random.permutation(len(own))]
    rest = own[n:]
    if kind in RELATED:
        n_source = min(SOURCE, len(rest) - 30)
        if n_source < 20:
            return None
        moved = related_rows(rest[:n_source], kind, X.std(axis=0), random)
        rest = rest[n_source:]
    elif kind == "mixed":
        places = random.permutation(np.flatnonzero(y != label))[
            : min(SOURCE, np.sum(y != label) // 2)
        ]
        moved, y = X[places], y.copy()
        y[places] = label  # seen: none of the others that are tested
    else:
        moved = X[y == source]
        moved = moved[random.permutation(len(moved))[:SOURCE]]
    other = y != label
    if kind == "nearest":
        other &= y != source
    others = X[other]
    if len(rest) < 30:
        return None
    return own[:n], moved, rest[:TESTED], others[random.permutation(len(others))[:TESTED]]


def cells(half: str) -> Iterator[dict[str, Any]]:
    """Yield a cell per set, class, kind of source, number of rows and draw."""
    for name in at_hand(SETS[half])[0]:
        X, y = table(name).X, table(name).y
        for label in frequent_classes(y, LABELS, 45):
            for kind, source in sources(X, y, label).items():
                for n in SIZES:
                    for seed in range(DRAWS):
                        random = np.random.default_rng(SEEDS[half] + seed)
                        rows = drawn(X, y, label, kind, source, n, random)
                        if rows is not None:
                            case = {"half": half, "task": f"{name}/{label}", "kind": kind, "n": n}
                            yield case | {"seed": seed} | areas(*rows)


def alarms(half: str) -> Iterator[dict[str, Any]]:
    """Yield proportions of new rows of the class that are rejected where .1 is wanted."""
    for name in at_hand(SETS[half])[0]:
        X, y = table(name).X, table(name).y
        for label in frequent_classes(y, LABELS, 45):
            for kind, source in sources(X, y, label).items():
                for seed in range(ALARM_DRAWS if kind in ALARM_KINDS else 0):
                    random = np.random.default_rng(SEEDS[half] + seed)
                    rows = drawn(X, y, label, kind, source, ALARM_ROWS, random)
                    if rows is not None:
                        case = {"half": half, "task": f"{name}/{label}", "kind": kind, "seed": seed}
                        yield case | rejected(*rows[:3])


def rejected(target: Array, source: Array, new: Array) -> dict[str, float]:
    """Return the proportion of new rows rejected behind each scaler."""
    domain = np.r_[np.full(len(target), -1), np.zeros(len(source), int)]
    found = {}
    seen = {"both": np.r_[target, source], "source": source, "target": target}
    for name, rows in seen.items():
        scaler = StandardScaler().fit(rows)
        X = scaler.transform(np.r_[target, source])
        model = TransferOneClassSVM().fit(X, sample_domain=domain)
        found[name] = float(np.mean(model.predict(scaler.transform(new)) < 0))
    return found


def areas(target: Array, source: Array, new: Array, others: Array) -> dict[str, float]:
    """Return areas under the curve without the source, with it as it is, and as the data say."""
    scaler = StandardScaler().fit(np.r_[target, source])
    X = scaler.transform(np.r_[target, source])
    T, truth = scaler.transform(np.r_[new, others]), np.repeat([1, 0], [len(new), len(others)])
    domain = np.r_[np.full(len(target), -1), np.zeros(len(source), int)]
    alone = OneClassSVM(gamma="neighbors", nu=0.1).fit(X[: len(target)])
    keep = TransferOneClassSVM(offset="original", relation="keep").fit(X, sample_domain=domain)
    auto = TransferOneClassSVM(offset="original").fit(X, sample_domain=domain)
    return {
        **{
            method: float(roc_auc_score(truth, model.score_samples(T)))
            for method, model in (("alone", alone), ("keep", keep), ("auto", auto))
        },
        "p": keep.source_p_value_[0],
        "p_moved": auto.source_p_value_[0],
    }


def alarms_report(frame: pd.DataFrame) -> str:
    """Return false alarms by half and scaler, with the standard error of the mean of classes."""
    scalers = ["both", "source", "target"]
    mean = frame.groupby(["half", "task"])[scalers].mean()
    rows = [
        {"half": half, "scaler fitted to": scaler, "rate": part.mean(), "error": part.sem()}
        for half, table in mean.groupby("half")
        for scaler, part in table.items()
    ]
    return markdown(pd.DataFrame(rows))


def report(frame: pd.DataFrame) -> str:
    """Return gains over the target's rows alone, by kind and number of rows, and how many fail."""
    texts = []
    by = ["half", "task", "kind", "n"]
    gains = frame[[*by, "p", "p_moved"]].assign(
        keep=frame["keep"] - frame["alone"], auto=frame["auto"] - frame["alone"]
    )
    for column in ("kind", "n"):
        texts.append(
            markdown(gains.groupby(["half", column]).mean(numeric_only=True).reset_index())
        )
    mean = gains.groupby(by)[["keep", "auto"]].mean()
    mixed = mean.index.get_level_values("kind") == "mixed"
    rows = [
        {
            "half": half,
            "sources": sources,
            "relation": relation,
            "cells": len(part),
            "gain": float(part.mean()),
            "ahead": float((part > 0.01).mean()),
            "behind": float((part < -0.01).mean()),
            "worst": float(part.min()),
        }
        for sources, some in (("of one class", mean[~mixed]), ("mixed", mean[mixed]))
        for relation in ("keep", "auto")
        for half, part in some[relation].groupby("half")
    ]
    return "\n\n".join([*texts, markdown(pd.DataFrame(rows))])


def main(argv: list[str] | None = None) -> None:
    """Run, write and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="tables of the last run, no run")
    warnings.simplefilter("ignore")
    parser.add_argument("--half", choices=list(HALVES), help="run one half only")
    given = parser.parse_args(argv)
    if not given.report:
        for half in HALVES if given.half is None else [given.half]:
            write_cells(f"relation-{half}", cells(half))
            write_cells(f"relation-alarms-{half}", alarms(half))
    if given.half is None:
        both = [read_cells(f"relation-{half}") for half in HALVES]
        print(report(pd.concat(both, ignore_index=True)))
        alarm_cells = pd.concat([read_cells(f"relation-alarms-{half}") for half in HALVES])
        print(f"\n{alarms_report(alarm_cells)}")


if __name__ == "__main__":
    main()
