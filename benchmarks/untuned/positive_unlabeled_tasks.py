"""Tasks of positive and unlabelled rows: a class of a data set, labelled in part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.untuned.data import table
from scarce.datasets import label_some_positives

KINDS = (
    "10 %",
    "30 %",
    "50 rows",
    "15 rows",
    "two samples",
    "rare",
    "noise columns",
    "biased",
    "many labels",
)
LARGEST = 1500  # rows of a task; times 1.5 with 50 positives, twice with many
# Of these kinds: share of the class among unlabelled rows; most and fewest labelled rows.
RARE = {"rare": (0.02, 40, 12), "many labels": (0.04, 500, 500)}
MOST_DENSE = 100  # columns beside which others of noise are put


class Task(NamedTuple):
    """Rows with labels (1 labelled positive, 0 unlabelled) and truth; fresh rows with truth.

    Fresh rows have weights where the class is rarer among the unlabelled rows than among them.
    """

    X: Any
    y: Any
    truth: Any
    fresh: Any
    fresh_truth: Any
    fresh_weights: Any

    @property
    def share(self) -> float:
        return float(self.truth[self.y == 0].mean())


def make_task(name: str, label: str, kind: str, seed: int) -> Task | None:
    """Draw a task; None where the class is too small for it."""
    data = table(name)
    random = np.random.default_rng(seed)
    truth = data.y == label
    n = min(len(truth), round(LARGEST * {"50 rows": 1.5, "many labels": 2.0}.get(kind, 1.0)))
    enough = 900 if kind == "many labels" else 160
    # Rare classes keep their share, and enough rows to learn from.
    own, others = np.flatnonzero(truth), np.flatnonzero(~truth)
    n_own = min(own.size, max(round(n * own.size / truth.size), enough))
    n_others = min(others.size, n - n_own)
    rows = np.concatenate(
        [random.choice(own, n_own, replace=False), random.choice(others, n_others, replace=False)]
    )
    fit, fresh = train_test_split(
        rows, test_size=0.3, stratify=truth[rows], random_state=int(random.integers(2**31))
    )
    of_class = random.permutation(np.flatnonzero(truth[fit]))
    n_labelled = labelled_rows(kind, of_class.size)
    if kind in RARE:  # few of the class are left beside the labelled ones
        part, most, fewest = RARE[kind]
        kept = max(6, round(part * (fit.size - of_class.size)))
        n_labelled = min(most, of_class.size - kept)
        if n_labelled < fewest:
            return None
        fit = np.delete(fit, of_class[n_labelled + kept :])
        of_class = random.permutation(np.flatnonzero(truth[fit]))
    elif n_labelled < 5 or n_labelled > 0.6 * of_class.size:
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
    task = Task(X, y, truth[fit], new, truth[fresh], np.ones(fresh.size))
    if kind in RARE:
        share, often = task.share, float(truth[fresh].mean())
        weights = np.where(truth[fresh], share / often, (1 - share) / (1 - often))
        task = task._replace(fresh_weights=weights)
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
