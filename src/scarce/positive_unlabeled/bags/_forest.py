"""Many decision trees as plain arrays, which model files hold safely and are quick to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array

PLACES = 1 << 18  # rows times trees at a time


def as_arrays(trees: Sequence[Any]) -> dict[str, Array]:
    """Return fitted binary trees of scikit-learn, one after another.

    ``feature`` is -1 in leaves; rows with a value of at most ``threshold`` go to ``left``;
    ``value`` is the share of the second class in the node.
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
    """Return the mean share of the second class over all trees, of rows of 32 bits."""
    feature, threshold = trees["feature"], trees["threshold"]
    left, right, roots = trees["left"], trees["right"], trees["root"]
    step = max(1, PLACES // roots.size)
    scores = np.empty(X.shape[0])
    for start in range(0, X.shape[0], step):
        rows = X[start : start + step]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        node = np.tile(roots, rows.shape[0])
        owner = np.repeat(np.arange(rows.shape[0]), roots.size)
        active = np.flatnonzero(feature[node] >= 0)
        for _ in range(feature.size):  # more steps than there are nodes, no path has
            if active.size == 0:
                break
            here = node[active]
            below = rows[owner[active], feature[here]] <= threshold[here]
            node[active] = np.where(below, left[here], right[here])
            active = active[feature[node[active]] >= 0]
        scores[start : start + step] = trees["value"][node].reshape(-1, roots.size).mean(axis=1)
    return scores
