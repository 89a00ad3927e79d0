"""Positive and unlabelled rows, nothing tuned: ``python -m benchmarks.untuned.positive_unlabeled``.

A class of a data set is labelled in part; everything else is unlabelled. F1 and AUC are those of
the true classes of fresh rows. nnPU is told the true share of the class, which no other method is.
Kinds of tasks: a part of the class labelled, 50 or 15 rows of it, two samples (all positives of the
unlabelled sample stay in it), a rare class (2 % of the unlabelled rows), columns that do not matter
(as many of noise as there are), and biased labels (easy rows first).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pulearn import (
    BaggingPuClassifier,
    ElkanotoPuClassifier,
    NNPUClassifier,
    WeightedElkanotoPuClassifier,
)
from scipy import sparse
from sklearn import svm
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    train_test_split,
)
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.untuned.data import HALVES, SEEDS, at_hand, frequent_classes, table
from benchmarks.untuned.report import RESULTS, markdown, read_cells, wins, write_cells
from scarce import (
    SVC,
    SVMC,
    MappingConvergence,
    PositiveUnlabeledClassifier,
    PositiveUnlabeledSVC,
    ScarceDataWarning,
    UnbiasedPUSVC,
    pu_threshold,
)
from scarce.datasets import label_some_positives
from scarce.model_selection import lee_liu_scorer

CLASSES = {"letter": 3, "digits": 3, "isolet": 3, "20newsgroups": 2, "webkb": 2}  # else one
KINDS = (
    "10 %",
    "30 %",
    "50 rows",
    "15 rows",
    "two samples",
    "rare",
    "noise columns",
    "biased",
)
LARGEST = 1500  # rows of a task; with 50 positives 2,250
COMPONENTS = 30  # of many features, for gradient boosting, which takes minutes else
OURS = "PositiveUnlabeledSVC"
DEFAULT = "PositiveUnlabeledClassifier"
RARE = 0.02  # share of the class among unlabelled rows of that kind
MOST_DENSE = 100  # columns beside which others of noise are put


class Task(NamedTuple):
    """Rows with labels (1 labelled positive, 0 unlabelled) and truth; fresh rows with truth."""

    X: Any
    y: Any
    truth: Any
    fresh: Any
    fresh_truth: Any

    @property
    def share(self) -> float:
        return float(self.truth[self.y == 0].mean())


class Answer(NamedTuple):
    """Predictions and scores of the fresh rows; the share of the class among unlabelled rows."""

    predicted: Any
    scores: Any
    share: float
    interval: tuple[float, float] | None = None
    probabilities: Any = None


def make_task(name: str, label: str, kind: str, seed: int) -> Task | None:
    """Draw a task; None where the class is too small for it."""
    data = table(name)
    random = np.random.default_rng(seed)
    truth = data.y == label
    n = min(len(truth), LARGEST if kind != "50 rows" else LARGEST * 3 // 2)
    # Rare classes keep their share, and enough rows to learn from.
    own, others = np.flatnonzero(truth), np.flatnonzero(~truth)
    n_own = min(own.size, max(round(n * own.size / truth.size), 160))
    n_others = min(others.size, n - n_own)
    rows = np.concatenate(
        [random.choice(own, n_own, replace=False), random.choice(others, n_others, replace=False)]
    )
    fit, fresh = train_test_split(
        rows, test_size=0.3, stratify=truth[rows], random_state=int(random.integers(2**31))
    )
    of_class = random.permutation(np.flatnonzero(truth[fit]))
    n_labelled = labelled_rows(kind, of_class.size)
    if kind == "rare":  # few of the class are left beside the labelled ones
        kept = max(6, round(RARE * (fit.size - of_class.size)))
        n_labelled = min(40, of_class.size - kept)
        fit = np.delete(fit, of_class[n_labelled + kept :]) if n_labelled >= 12 else fit
        of_class = random.permutation(np.flatnonzero(truth[fit]))
    elif n_labelled > 0.6 * of_class.size:
        return None
    if n_labelled < 5 or (kind == "rare" and n_labelled < 12):
        return None
    X, new = data.X[fit], data.X[fresh]
    dense = not sparse.issparse(X)
    if dense:
        scaler = StandardScaler().fit(X)
        X, new = scaler.transform(X), scaler.transform(new)
    if kind == "noise columns":
        if not dense or X.shape[1] > MOST_DENSE:
            return None
        n_columns = max(10, X.shape[1])
        X = np.c_[X, random.normal(size=(fit.size, n_columns))]
        new = np.c_[new, random.normal(size=(fresh.size, n_columns))]
    if kind == "biased":
        rows = X if dense else X.toarray()
        y = label_some_positives(rows, truth[fit], n_labelled, bias=1.0, random_state=random)
    else:
        y = np.zeros(fit.size, int)
        y[of_class[:n_labelled]] = 1
    task = Task(X, y, truth[fit], new, truth[fresh])
    return _two_samples(task, random) if kind == "two samples" else task


def labelled_rows(kind: str, n: int) -> int:
    """Return how many of so many rows of the class are labelled."""
    parts = {"10 %": 0.1, "30 %": 0.3, "two samples": 0.3, "noise columns": 0.3, "biased": 0.25}
    return {"50 rows": 50, "15 rows": 15}.get(kind, round(parts.get(kind, 0.0) * n))


def _two_samples(task: Task, random: np.random.Generator) -> Task:
    """Return the task with as large a share of the class among unlabelled rows as before."""
    others = np.flatnonzero((task.y == 0) & ~task.truth)
    kept = round(others.size * (1 - task.y.sum() / task.truth.sum()))
    gone = random.permutation(others)[max(50, kept) :]
    left = np.delete(np.arange(task.y.size), gone)
    return task._replace(X=task.X[left], y=task.y[left], truth=task.truth[left])


def with_threshold(make: Callable[[], Any], method: str) -> Callable[[Task, int], Answer]:
    """Return a classifier with out-of-fold scores and `pu_threshold`."""

    def answer(task: Task, seed: int) -> Answer:
        folds = StratifiedKFold(min(5, int(task.y.sum())), shuffle=True, random_state=seed)
        X, new = task.X, task.fresh
        if method == "predict_proba" and X.shape[1] > COMPONENTS:
            projection = TruncatedSVD(COMPONENTS, random_state=seed).fit(X)
            X, new = projection.transform(X), projection.transform(new)
        scores = _column(cross_val_predict(make(), X, task.y, cv=folds, method=method))
        found = pu_threshold(scores[task.y == 1], scores[task.y == 0])
        fresh = _column(getattr(make().fit(X, task.y), method)(new))
        return Answer(fresh > found.threshold, fresh, found.share)

    return answer


def _column(values: Any) -> Any:
    return values[:, 1] if values.ndim == 2 else values


def ours(kind: Any = PositiveUnlabeledSVC, **parameters: Any) -> Callable[[Task, int], Answer]:
    def answer(task: Task, seed: int) -> Answer:
        model = kind(random_state=seed, **parameters).fit(task.X, task.y)
        scores = model.decision_function(task.fresh)
        told = kind(random_state=seed, class_prior=task.share, **parameters)
        try:
            chances = told.fit(task.X, task.y).predict_proba(task.fresh)[:, 1]
        except ValueError:  # biased labels: the true share contradicts them
            chances = None
        return Answer(scores > 0, scores, model.class_prior_, model.class_prior_interval_, chances)

    return answer


def bagged_trees(task: Task, seed: int) -> Answer:
    """Vote of a hundred trees of all positives against as many unlabelled rows (Mordelet, Vert)."""
    random = np.random.default_rng(seed)
    own, others = np.flatnonzero(task.y == 1), np.flatnonzero(task.y == 0)
    scores, seen = np.zeros(task.fresh.shape[0]), np.zeros(others.size)
    for _ in range(100):
        drawn = random.choice(others, min(own.size, others.size), replace=False)
        tree = DecisionTreeClassifier(random_state=int(random.integers(2**31)))
        tree.fit(task.X[np.r_[own, drawn]], np.repeat([1, 0], [own.size, drawn.size]))
        scores += tree.predict_proba(task.fresh)[:, 1] / 100
        seen += tree.predict_proba(task.X[others])[:, 1] / 100
    return Answer(scores > 0.5, scores, float((seen > 0.5).mean()))


def two_step(first: str) -> Callable[[Task, int], Answer]:
    """Return a named two-step method: reliable negatives by spies or Rocchio, then an SVC."""

    def answer(task: Task, seed: int) -> Answer:
        random = np.random.default_rng(seed)
        own, others = np.flatnonzero(task.y == 1), np.flatnonzero(task.y == 0)
        if first == "spy":  # Liu et al. 2002: a part of the positives among the unlabelled rows
            spies = random.permutation(own)[: max(1, round(0.15 * own.size))]
            rest = np.setdiff1d(own, spies)
            rows = np.concatenate([rest, others, spies])
            labels = np.repeat([1, 0], [rest.size, others.size + spies.size])
            model = svm.SVC(class_weight="balanced").fit(task.X[rows], labels)
            cut = np.quantile(model.decision_function(task.X[spies]), 0.05)
            low = model.decision_function(task.X[others]) < cut
        else:  # Li and Liu 2003: nearer to the prototype of the unlabelled rows
            low = NearestCentroid().fit(task.X, task.y).predict(task.X[others]) == 0
        negatives = others[low] if low.sum() >= 5 else others
        rows = np.concatenate([own, negatives])
        labels = np.repeat([1, 0], [own.size, negatives.size])
        model = svm.SVC(class_weight="balanced").fit(task.X[rows], labels)
        scores = model.decision_function(task.fresh)
        accepted = float((model.decision_function(task.X[others]) > 0).mean())
        return Answer(scores > 0, scores, accepted)

    return answer


def bagging(task: Task, seed: int) -> Answer:
    model = BaggingPuClassifier(
        svm.SVC(), n_estimators=50, max_samples=int(task.y.sum()), random_state=seed
    ).fit(task.X, task.y)
    accepted = float((model.predict(task.X[task.y == 0]) == 1).mean())
    return Answer(
        model.predict(task.fresh) == 1, np.ravel(model.decision_function(task.fresh)), accepted
    )


def elkan_noto(weighted: bool) -> Callable[[Task, int], Answer]:
    def answer(task: Task, seed: int) -> Answer:
        forest = RandomForestClassifier(100, random_state=seed)
        X, new = task.X, task.fresh
        if sparse.issparse(X):
            X, new = X.toarray(), new.toarray()
        given: dict[str, Any] = {"hold_out_ratio": 0.2, "random_state": seed}
        if weighted:
            n = int(task.y.sum())
            model = WeightedElkanotoPuClassifier(forest, n, task.y.size - n, **given)
        else:
            model = ElkanotoPuClassifier(forest, **given)
        model.fit(X, task.y)
        accepted = float((model.predict(X[task.y == 0]) == 1).mean())
        return Answer(model.predict(new) == 1, _column(model.predict_proba(new)), accepted)

    return answer


def nnpu(task: Task, seed: int) -> Answer:
    X, new = task.X, task.fresh
    if sparse.issparse(X):
        X, new = X.toarray(), new.toarray()
    model = NNPUClassifier(prior=task.share, random_state=seed).fit(X, np.where(task.y, 1, -1))
    scores = np.ravel(new @ model.coef_ + model.intercept_)
    accepted = float((model.predict(X[task.y == 0]) == 1).mean())
    return Answer(model.predict(new) == 1, scores, accepted)


def one_class(task: Task, seed: int) -> Answer:
    model = svm.OneClassSVM(nu=0.1).fit(task.X[task.y == 1])
    scores = model.decision_function(task.fresh)
    accepted = float((model.decision_function(task.X[task.y == 0]) > 0).mean())
    return Answer(scores > 0, scores, accepted)


def loop(make: Callable[[], Any]) -> Callable[[Task, int], Answer]:
    """Return a loop of mapping convergence."""

    def answer(task: Task, seed: int) -> Answer:
        model = make().fit(task.X, task.y)
        scores = model.decision_function(task.fresh)
        return Answer(scores > 0, scores, model.class_prior_)

    return answer


def unbiased(task: Task, seed: int) -> Answer:
    model = UnbiasedPUSVC(class_prior=task.share).fit(task.X, task.y)
    scores = model.decision_function(task.fresh)
    accepted = float((model.predict(task.X[task.y == 0]) == 1).mean())
    return Answer(scores > 0, scores, accepted)


def biased_svm(task: Task, seed: int) -> Answer:
    """Choose the two prices of Liu et al. (2003) by the score of Lee and Liu, cross-validated."""
    few = int(task.y.sum()) / int((task.y == 0).sum())
    prices = [{1: 1.0, 0: few * factor} for factor in (0.3, 1.0, 3.0)]
    search = GridSearchCV(
        SVC(),
        {"class_weight": prices, "C": [0.3, 1.0, 10.0]},
        scoring=lee_liu_scorer,
        cv=StratifiedKFold(3, shuffle=True, random_state=seed),
    ).fit(task.X, task.y)
    scores = search.decision_function(task.fresh)
    accepted = float((search.predict(task.X[task.y == 0]) == 1).mean())
    return Answer(scores > 0, scores, accepted)


def all_labels(task: Task, seed: int) -> Answer:
    model = svm.SVC().fit(task.X, task.truth)
    scores = model.decision_function(task.fresh)
    return Answer(scores > 0, scores, float(model.predict(task.X[task.y == 0]).mean()))


def boosting() -> Any:
    return GradientBoostingClassifier(n_estimators=40, max_features=10, random_state=0)


METHODS: dict[str, Callable[[Task, int], Answer]] = {
    OURS: ours(),
    DEFAULT: ours(PositiveUnlabeledClassifier),
    f"{OURS}, biased": ours(labelling="biased"),
    f"{DEFAULT}, biased": ours(PositiveUnlabeledClassifier, labelling="biased"),
    "bagged trees, vote": bagged_trees,
    "spies, then an SVC": two_step("spy"),
    "Rocchio, then an SVC": two_step("rocchio"),
    f"{OURS}, n_bags=0": ours(n_bags=0),
    "pulearn bagging of SVC": bagging,
    "Elkan-Noto, forest": elkan_noto(False),
    "weighted Elkan-Noto, forest": elkan_noto(True),
    "nnPU, told the share": nnpu,
    "balanced SVC, threshold": with_threshold(
        lambda: svm.SVC(class_weight="balanced"), "decision_function"
    ),
    "gradient boosting, threshold": with_threshold(boosting, "predict_proba"),
    "one-class SVM": one_class,
    "unbiased risk, double hinge, told the share": unbiased,
    "biased SVM, chosen by Lee-Liu": biased_svm,
    "SVMC": loop(SVMC),
    "MappingConvergence": loop(MappingConvergence),
    "all labels": all_labels,
}


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
) -> Iterator[list[dict[str, Any]]]:
    """Return the cells of one half, perhaps of some data sets only, task by task."""
    for number, (name, label) in enumerate(tasks(half, names)):
        cells = []
        asked = product(draws, kinds) if sets is None or name in sets else ()
        for draw, kind in asked:
            seed = SEEDS[half] + 10 * number + KINDS.index(kind) + 300 * draw
            task = make_task(name, label, kind, seed)
            if task is None:
                continue
            about = {"half": half, "task": f"{name} {label}", "kind": kind, "draw": draw}
            for method, answer in methods.items():
                cells.append(about | {"method": method} | measured(answer, task, seed))
        print(f"{half} {name} {label}: {len(cells)} cells", file=sys.stderr, flush=True)
        yield cells


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
    chances = found.probabilities
    return {
        "F1": float(f1_score(task.fresh_truth, found.predicted, zero_division=0.0)),
        "AUC": float(roc_auc_score(task.fresh_truth, found.scores)),
        "share ratio": float(ratio),
        "within a third": float(2 / 3 <= ratio <= 4 / 3),
        "interval holds": float("nan") if np.isnan(low) else float(low <= task.share <= high),
        "interval ratio": float(high / low),
        "ECE told": float("nan") if chances is None else _ece(task.fresh_truth, chances),
        "warned": float(any(issubclass(w.category, ScarceDataWarning) for w in caught)),
        "seconds": seconds,
    }


def _ece(truth: Any, chances: Any, bins: int = 10) -> float:
    """Return the expected calibration error."""
    which = np.minimum((bins * chances).astype(int), bins - 1)
    return float(
        sum(
            abs(truth[which == k].mean() - chances[which == k].mean()) * np.mean(which == k)
            for k in np.unique(which)
        )
    )


def summary(cells: pd.DataFrame) -> str:
    """Return Markdown: a table per half and kind, then wins and losses."""
    lines = []
    for (half, kind), part in cells.groupby(["half", "kind"], sort=False):
        grouped = part.groupby("method", sort=False)
        means = grouped[
            ["F1", "AUC", "within a third", "interval holds", "ECE told", "warned", "seconds"]
        ].mean()
        means.insert(1, "worst F1", grouped["F1"].min())
        n = part["task"].nunique()
        lines += [f"\n**{half}, {kind}** ({n} tasks)\n", markdown(means.reset_index())]
    for measure, name in product(("F1", "AUC"), (OURS, DEFAULT)):
        table_ = wins(cells, name, measure, ["half", "task", "kind"])
        lines += [f"\n**{measure} of {name} against each**\n", table_]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for, put it in place of older cells of the same kind, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=list(HALVES), help="only one half")
    parser.add_argument("--kind", choices=KINDS, help="only one kind of task")
    parser.add_argument("--sets", nargs="+", help="only these data sets")
    parser.add_argument("--draws", nargs="+", type=int, default=[0, 1], help="only these draws")
    parser.add_argument("--methods", nargs="+", help="only methods whose name has such a word")
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
            for new in run(half, names, methods, kinds, options.sets, options.draws):
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
