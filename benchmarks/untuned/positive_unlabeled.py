"""Positive and unlabelled rows, nothing tuned: ``python -m benchmarks.untuned.positive_unlabeled``.

A class of a data set is labelled in part; everything else is unlabelled. F1 and AUC are those of
the true classes of new rows. Methods "given the prior" know the true proportion of the class among
the unlabelled rows, which no other method does. Kinds of tasks: a part of the class labelled, 50 or
15 rows of it, two samples (all positives of the unlabelled sample stay in it), a rare class (2 % of
the unlabelled rows, and by weights of the new ones), columns that do not matter (as many of noise
as there are), biased labels (easy rows first), and many labels (500 rows of a class of 4 % of the
unlabelled rows, and by weights of the new ones).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score, roc_auc_score

from benchmarks.untuned.data import HALVES, SEEDS, at_hand, frequent_classes, table
from benchmarks.untuned.positive_unlabeled_methods import DEFAULT, METHODS, OURS, Answer
from benchmarks.untuned.positive_unlabeled_tasks import KINDS, Task, make_task
from benchmarks.untuned.report import RESULTS, markdown, read_cells, wins, write_cells
from scarce import ScarceDataWarning

CLASSES = {"letter": 3, "digits": 3, "isolet": 3, "20newsgroups": 2, "webkb": 2}  # else one
BIAS = 'labelling="biased"'  # in the warning of biased labels
GIVEN = tuple(f"{name}, given the prior" for name in (OURS, DEFAULT))
WARNINGS = ("warned", "warned of bias")


def tasks(half: str, names: list[str]) -> Iterator[tuple[str, str]]:
    """Return data sets and classes."""
    for name in names:
        for label in frequent_classes(table(name).y, CLASSES.get(name, 1), 45):
            yield name, label


def run(
    half: str,
    names: list[str],
    methods: dict[str, Any],
    kinds: Sequence[str],
    sets: list[str] | None,
    draws: Sequence[int],
    done: Collection[tuple[str, ...]] = (),
) -> Iterator[list[dict[str, Any]]]:
    """Return the cells of one half, perhaps of some data sets only, task by task.

    Those at a place in ``done`` are left out.
    """
    for number, (name, label) in enumerate(tasks(half, names)):
        cells = []
        asked = product(draws, kinds) if sets is None or name in sets else ()
        for draw, kind in asked:
            seed = SEEDS[half] + 10 * number + KINDS.index(kind) + 300 * draw
            about = {"half": half, "task": f"{name} {label}", "kind": kind, "draw": draw}
            left = [
                method
                for method in methods
                if not biased_prior(kind, method) and _place(about | {"method": method}) not in done
            ]
            task = make_task(name, label, kind, seed) if left else None
            if task is None:
                continue
            for method in left:
                cells.append(about | {"method": method} | measured(methods[method], task, seed))
        print(f"{half} {name} {label}: {len(cells)} cells", file=sys.stderr, flush=True)
        yield cells


def biased_prior(kind: str, method: str) -> bool:
    """Say whether a method refuses the true proportion, which biased labels contradict."""
    return kind == "biased" and method in GIVEN


def measured(answer: Callable[[Task, int], Answer], task: Task, seed: int) -> dict[str, Any]:
    """Return the measures of one method on one task."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.process_time()  # other programs may run beside
        try:
            found = answer(task, seed)
        except Exception as error:  # a method that fails accepts nothing
            print(f"  {error!r}"[:150], file=sys.stderr)
            nothing = np.zeros(task.fresh_truth.size)
            found = Answer(nothing > 0, nothing, 0.0)
        seconds = time.process_time() - begin
    ratio = found.share / task.share
    low, high = found.interval or (np.nan, np.nan)
    chances, truth, weights = found.probabilities, task.fresh_truth, task.fresh_weights
    f1 = f1_score(truth, found.predicted, sample_weight=weights, zero_division=0.0)
    return {
        "F1": float(f1),
        "AUC": float(roc_auc_score(task.fresh_truth, found.scores)),
        "share ratio": float(ratio),
        "within a third": float(2 / 3 <= ratio <= 4 / 3),
        "interval holds": float("nan") if np.isnan(low) else float(low <= task.share <= high),
        "interval ratio": float(high / low),
        "ECE": float("nan") if chances is None else _ece(truth, chances, weights),
        "warned": float(any(issubclass(w.category, ScarceDataWarning) for w in caught)),
        "warned of bias": float(any(BIAS in str(w.message) for w in caught)),
        "seconds": seconds,
    }


def _ece(truth: Any, chances: Any, weights: Any, bins: int = 10) -> float:
    """Return the expected calibration error."""
    which = np.minimum((bins * chances).astype(int), bins - 1)
    gaps = np.bincount(which, weights * (truth - chances))
    return float(np.abs(gaps).sum() / weights.sum())


def summary(cells: pd.DataFrame) -> str:
    """Return Markdown: F1 and AUC by half, what our classifiers say of themselves, wins."""
    lines = []
    for (half, part), measure in product(cells.groupby("half", sort=False), ("F1", "AUC")):
        lines += [f"\n## {measure}, {half} ({part['task'].nunique()} tasks)\n"]
        lines += [markdown(by_kind(part, measure))]
    for measure in ("within a third", "interval holds", "ECE", *WARNINGS):
        own = cells[cells["method"].isin([OURS, DEFAULT, *GIVEN])]
        own = own if measure == "ECE" else own[~own["method"].isin(GIVEN)]
        own = own.assign(method=own["half"] + ", " + own["method"])
        lines += [f"\n## {measure}\n", markdown(by_kind(own, measure))]
    for measure, name in product(("F1", "AUC"), (OURS, DEFAULT)):
        if (cells["method"] == name).any():
            table_ = wins(cells, name, measure, ["half", "task", "kind"])
            lines += [f"\n## {measure} of {name} against each\n", table_]
    return "\n".join(lines)


def by_kind(cells: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the mean of every method over the tasks of each kind, the best method first."""
    kinds = [kind for kind in KINDS if (cells["kind"] == kind).any()]
    wide = cells.pivot_table(measure, "method", "kind", sort=False)
    wide = wide.reindex(columns=[kind for kind in kinds if kind in wide])
    wide.insert(0, "mean", wide.mean(axis=1))
    return wide.sort_values("mean", ascending=False).reset_index()


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for, put it in place of older cells of the same kind, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=list(HALVES), help="only one half")
    parser.add_argument("--kind", choices=KINDS, help="only one kind of task")
    parser.add_argument("--sets", nargs="+", help="only these data sets")
    parser.add_argument("--draws", nargs="+", type=int, default=[0, 1], help="only these draws")
    parser.add_argument("--methods", nargs="+", help="only methods whose name has such a word")
    parser.add_argument("--missing", action="store_true", help="only cells that are not there")
    parser.add_argument("--tables", action="store_true", help="run nothing, print the tables")
    parser.add_argument("--out", default="positive-unlabeled", help="name of the results")
    options = parser.parse_args(arguments)
    methods = {
        name: answer
        for name, answer in METHODS.items()
        if options.methods is None or any(word in name for word in options.methods)
    }
    cells: dict[tuple[str, ...], dict[str, Any]] = {}
    if (RESULTS / f"untuned-{options.out}.json").exists():
        cells = {_place(cell): cell for cell in read_cells(options.out).to_dict("records")}
    absent: list[str] = []
    for half in [options.half] if options.half else list(HALVES):
        names, missing = at_hand(_up_to_last(HALVES[half], options.sets))
        absent += missing
        if not options.tables:
            kinds = [options.kind] if options.kind else KINDS
            done = set(cells) if options.missing else ()
            for new in run(half, names, methods, kinds, options.sets, options.draws, done):
                cells |= {_place(cell): cell for cell in new}
                write_cells(options.out, cells.values(), absent)
    print(summary(pd.DataFrame(cells.values())))
    if absent:
        print(f"\nNot at hand: {', '.join(absent)}")
    return 0


def _up_to_last(names: tuple[str, ...], sets: list[str] | None) -> tuple[str, ...]:
    """Return the sets up to the last one asked for: seeds count tasks, texts take long to read."""
    places = [i + 1 for i, name in enumerate(names) if sets is None or name in sets]
    return names[: max(places, default=0)]


def _place(cell: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(cell[name]) for name in ("half", "task", "kind", "draw", "method"))


if __name__ == "__main__":
    sys.exit(main())
