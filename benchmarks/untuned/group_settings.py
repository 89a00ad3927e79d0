"""Groups under prior shift, of columns, at random and of clusters, for the benchmark.

Every setting holds training rows, what is known of their groups, and labelled test rows. Under
prior shift (Beta and Dirichlet) the proportions of groups differ for a reason that is in no column:
the usual benchmark of the field. Groups of columns are made as real groups are, of columns that the
model does not see afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, make_classification, make_friedman1, make_hastie_10_2
from sklearn.preprocessing import StandardScaler

from benchmarks.untuned.data import Array, Table, frequent_classes, table
from papers.data import DatasetNotFoundError

ROWS = 1500  # for training, and at most as many for testing
FEWEST_GROUPS = 6
MOST_CLASSES = 4
CONCENTRATION = 2.0  # of the Beta and Dirichlet distributions: uniform proportions at one half
LEFTOVER = -2
SAMPLED = 15  # labels of a group whose proportion is estimated
SEEDS = {"choosing": 0, "confirming": 1000}
SETS = {
    "choosing": (
        "letter",
        "digits",
        "ionosphere",
        "heart_cleveland",
        "breast_cancer_wisconsin_original",
        "mushroom",
        "wine",
        "hastie",
        "rare",
    ),
    "confirming": (
        "isolet",
        "wdbc",
        "sonar",
        "australian_credit",
        "house_votes_84",
        "arrhythmia",
        "ldpa_full_precision",
        "diabetes",
        "friedman",
        "overlapping",
    ),
}
KINDS = (
    "Beta 20",
    "Beta 50",
    "Beta 200",
    "sample of 15",
    "unequal",
    "columns",
    "random 32",
    "k-means 32",
)
SEVERAL = ("Dirichlet 20", "Dirichlet 50", "Dirichlet 200", "random 32")


class Setting(NamedTuple):
    """Training rows with the groups and proportions of each, and labelled test rows."""

    half: str
    set: str
    kind: str
    X: Any
    y: Array
    groups: Array
    labels: Array
    X_test: Any
    y_test: Array


def generated(name: str) -> Table | None:
    """Return a set that is generated or comes with scikit-learn; None for another name."""
    if name == "hastie":
        X, y = make_hastie_10_2(6000, random_state=0)
        return Table(name, X, (y > 0).astype(int).astype(str))
    if name == "friedman":
        X, value = make_friedman1(6000, n_features=12, noise=3.0, random_state=1)
        return Table(name, X, (value > np.quantile(value, 0.7)).astype(int).astype(str))
    if name in ("rare", "overlapping"):
        rare = name == "rare"
        X, y = make_classification(
            6000,
            n_features=15,
            n_informative=6,
            n_clusters_per_class=2,
            weights=[0.88 if rare else 0.6],
            class_sep=1.0 if rare else 0.6,
            flip_y=0.02,
            random_state=2 if rare else 3,
        )
        return Table(name, X, y.astype(str))
    if name == "diabetes":
        X, value = load_diabetes(return_X_y=True)
        return Table(name, X, (value > np.median(value)).astype(int).astype(str))
    return None


def two_class_labels(y: Array) -> Array:
    """Return 0 and 1, every second class of several."""
    names = frequent_classes(y, len(np.unique(y)), 1)
    order = {name: i for i, name in enumerate(sorted(names))}
    return np.array([order[str(label)] % 2 for label in y])


def shifted_groups(y: Array, sizes: Array, random: Any) -> Array:
    """Return groups whose proportions are drawn; rows that no group takes are left over."""
    n_classes = int(y.max()) + 1
    pools = [random.permutation(np.flatnonzero(y == c)).tolist() for c in range(n_classes)]
    prior = np.bincount(y) / y.size
    groups = np.full(y.size, LEFTOVER)
    for group, size in enumerate(sizes):
        drawn = random.multinomial(size, random.dirichlet(CONCENTRATION * prior * n_classes / 2))
        if any(want > len(pool) for want, pool in zip(drawn, pools, strict=True)):
            continue
        for want, pool in zip(drawn, pools, strict=True):
            for _ in range(want):
                groups[pool.pop()] = group
    return groups


def column_groups(X: Array, random: Any) -> tuple[Array, Array] | None:
    """Return groups of the values of two columns, and the columns that are left."""
    for _ in range(50):
        chosen = random.choice(X.shape[1], 2, replace=False)
        codes = np.zeros(X.shape[0], np.intp)
        for column in chosen:
            edges = np.unique(np.quantile(X[:, column], np.linspace(0, 1, 6)[1:-1]))
            codes = codes * 6 + np.searchsorted(edges, X[:, column], side="right")
        ids, counts = np.unique(codes, return_counts=True)
        large = counts >= 8
        if large.sum() >= FEWEST_GROUPS and counts[large].sum() >= 0.9 * codes.size:
            groups = np.where(np.isin(codes, ids[large]), codes, LEFTOVER)
            return groups, np.setdiff1d(np.arange(X.shape[1]), chosen)
    return None


def proportions(y: Array, groups: Array, random: Any = None) -> Array:
    """Return the proportions of each row's group; with ``random`` of a few labels of the group."""
    n_classes = int(y.max()) + 1
    found = np.full((y.size, n_classes), np.nan)
    for group in np.unique(groups[groups != LEFTOVER]):
        rows = np.flatnonzero(groups == group)
        seen = rows if random is None else random.choice(rows, min(SAMPLED, rows.size), False)
        found[rows] = np.bincount(y[seen], minlength=n_classes) / seen.size
    return found[:, 1] if n_classes == 2 else found


def make_groups(kind: str, X: Array, y: Array, random: Any) -> tuple[Array, Array, Array] | None:
    """Return groups, proportions of the rows and kept columns; None where rows are too few."""
    columns = np.arange(X.shape[1])
    n = y.size
    if kind == "columns":
        found = column_groups(X, random)
        if found is None:
            return None
        groups, columns = found
    elif kind == "random 32":
        groups = random.permutation(n) % max(2, n // 32)
    elif kind == "k-means 32":
        seed = int(random.integers(2**31))
        groups = KMeans(max(2, n // 32), n_init=1, max_iter=20, random_state=seed).fit(X).labels_
    else:
        sizes = {"sample of 15": 50, "unequal": 30}.get(kind) or int(kind.split()[-1])
        drawn = np.full(3 * n // sizes, sizes)
        if kind == "unequal":
            drawn = np.clip(random.lognormal(np.log(sizes), 1.0, drawn.size), 5, 300).astype(int)
        groups = shifted_groups(y, drawn, random)
    if np.unique(groups[groups != LEFTOVER]).size < FEWEST_GROUPS:
        return None
    return groups, proportions(y, groups, random if kind == "sample of 15" else None), columns


def settings(half: str, kinds: tuple[str, ...] = KINDS + SEVERAL) -> Iterator[Setting]:
    """Return the settings of a half; sets that are not at hand are left out."""
    for place, name in enumerate(SETS[half]):
        try:
            found = generated(name) or table(name)
        except DatasetNotFoundError:
            continue
        kept = frequent_classes(found.y, MOST_CLASSES, 30)
        inside = np.flatnonzero(np.isin(found.y, kept))
        tasks = [(KINDS, found.X, two_class_labels(found.y))]
        if len(kept) > 2:
            codes = np.searchsorted(np.sort(kept), found.y[inside])
            tasks.append((SEVERAL, found.X[inside], codes))
        for several, (own, X, y) in enumerate(tasks):
            for number, kind in enumerate(own):
                if kind not in kinds:
                    continue
                random = np.random.default_rng([SEEDS[half], place, several, number])
                rows = random.permutation(y.size)
                n = min(ROWS, int(0.6 * y.size))
                train, test = rows[:n], rows[n : n + ROWS]
                scale = StandardScaler().fit(X[train])
                Z, y0 = scale.transform(X[train]), y[train]
                made = make_groups(kind, Z, y0, random)
                if made is None:
                    continue
                groups, known, columns = made
                label = f"several {kind}" if several else kind
                Z_test = scale.transform(X[test])[:, columns]
                yield Setting(half, name, label, Z[:, columns], known, groups, y0, Z_test, y[test])
