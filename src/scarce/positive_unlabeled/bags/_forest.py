"""Many decision trees as plain arrays, which model files hold safely and are quick to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.tree import ExtraTreeClassifier

from scarce._arrays import Array
from scarce._core import add_trees
from scarce.positive_unlabeled.bags._design import Part

PLACES = 1 << 24  # values of sparse rows that are made dense at a time


def out_of_bag_trees(
    X: Any, parts: Sequence[Part], seed: int, n_jobs: int | None
) -> tuple[dict[str, Array], Array]:
    """Return extremely randomised trees, one a bag, and scores by those not trained on a row.

    All rows go down all trees at once; what the trees of its own bags say is then taken from a row.
    """
    seeds = np.random.default_rng(seed).integers(2**31 - 1, size=len(parts))
    trained = [part.trained() for part in parts]
    grown = Parallel(n_jobs=n_jobs)(
        delayed(_grown)(X[rows], labels, weights, int(each))
        for (rows, labels, weights), each in zip(trained, seeds, strict=True)
    )
    trees = as_arrays(grown)
    by_all_trees = forest_scores(trees, X)
    sums, times = len(grown) * by_all_trees, np.full(X.shape[0], float(len(grown)))
    for tree, (rows, _, _) in zip(grown, trained, strict=True):
        sums[rows] -= forest_scores(as_arrays([tree]), X[rows])
        times[rows] -= 1.0
    # A row in every bag: what the mean of all says is all there is.
    return trees, np.where(times > 0, sums / np.maximum(times, 1.0), by_all_trees)


def _grown(X: Any, labels: Array, weights: Array, seed: int) -> Any:
    state = int(np.random.default_rng(seed).integers(2**31 - 1))
    tree = ExtraTreeClassifier(random_state=state)
    return tree.fit(X, labels, sample_weight=weights, check_input=sparse.issparse(X))


def as_arrays(trees: Sequence[Any]) -> dict[str, Array]:
    """Return fitted binary trees of scikit-learn, one after another.

    ``feature`` is -1 in leaves; rows with a value of at most ``threshold`` go to ``left``;
    ``value`` is the proportion of the second class in the node.
    """
    sizes = [each.tree_.node_count for each in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    parts: dict[str, list[Array]] = {name: [] for name in ("feature", "threshold", "value")}
    parts |= {"left": [], "right": []}
    for root, each in zip(roots, trees, strict=True):
        tree = each.tree_
        leaf = tree.children_left < 0
        shares = tree.value[:, 0, :]
        parts["feature"].append(np.where(leaf, -1, tree.feature).astype(np.int64))
        parts["threshold"].append(tree.threshold)
        parts["value"].append(shares[:, -1] / shares.sum(axis=1))
        parts["left"].append(np.where(leaf, 0, tree.children_left) + root)
        parts["right"].append(np.where(leaf, 0, tree.children_right) + root)
    return {name: np.concatenate(each) for name, each in parts.items()} | {"root": roots}


def forest_scores(trees: dict[str, Array], X: Any) -> Array:
    """Return the mean proportion of the second class over all trees, of rows of 32 bits."""
    scores = np.zeros(X.shape[0])
    step = max(1, PLACES // max(1, X.shape[1])) if sparse.issparse(X) else max(1, X.shape[0])
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        add_trees(
            X[part].toarray() if sparse.issparse(X) else np.ascontiguousarray(X),
            trees["feature"],
            trees["threshold"],
            trees["left"],
            trees["right"],
            trees["value"],
            trees["root"],
            scores[part],
        )
    return np.asarray(scores / trees["root"].size)
