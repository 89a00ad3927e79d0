"""The mean of a kernel model and of trees: a sum of two formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from scarce._arrays import Array
from scarce._kernel_sum import KernelSum


@dataclass(frozen=True)
class KernelAndTrees:
    """``f(x) = kernel(x) + factor mean_t tree_t(scale x)``.

    Attributes
    ----------
    kernel : KernelSum
        The kernel part, with the constants of the whole.
    trees : dict of ndarray
        Nodes, as `scarce.positive_unlabeled.bags._forest.as_arrays` makes them.
    factor : float
        Of the mean of the trees.
    scale : ndarray of shape (n_features,)
        What the columns of `x` are multiplied by; trees see the product in 32 bits.
    """

    kernel: KernelSum
    trees: dict[str, Array]
    factor: float
    scale: Array

    def of_trees(self, rows: Array) -> Array:
        """Return rows as the trees see them."""
        return np.asarray(rows * self.scale).astype(np.float32)


def kernel_and_trees(model: Any) -> KernelAndTrees | None:
    """Return the decision values of a model as a kernel part and trees, None if they are not."""
    trees = getattr(model, "trees_", None)
    if trees is None:
        return None
    kernel = model.svc_._kernel_sum()
    (middle, width), (of_trees, width_of_trees) = model._standards
    half = 0.5 * model._sign()
    shift = half * (-middle / width - of_trees / width_of_trees) - model._sign() * model.threshold_
    return KernelAndTrees(
        kernel.scaled(half / width, shift), trees, half / width_of_trees, model._scale
    )


@dataclass(frozen=True)
class Leaves:
    """What leads to each leaf of some trees, as bounds of features.

    Attributes
    ----------
    feature, low, high : ndarray of shape (n_bounds,)
        A row reaches a leaf if ``low < x[feature] <= high`` for all its bounds.
    column : ndarray of int of shape (n_parts,)
        Parts are the bounds of a leaf on the features that are made from one column.
    part_starts, leaf_starts : ndarray of int
        Where the bounds of each part and the parts of each leaf begin.
    value : ndarray of shape (n_leaves,)
        What each leaf adds to the mean of all trees.
    """

    feature: Array
    low: Array
    high: Array
    column: Array
    part_starts: Array
    leaf_starts: Array
    value: Array


def leaves_of(trees: dict[str, Array], made_from: Array) -> Leaves:
    """Return the leaves of trees; ``made_from`` is the table's column of each feature."""
    bounds: list[tuple[int, int, int, float, float]] = []  # leaf, column, feature, low, high
    values: list[float] = []
    for root in trees["root"]:
        waiting: list[tuple[int, dict[int, tuple[float, float]]]] = [(int(root), {})]
        while waiting:
            node, path = waiting.pop()
            feature = int(trees["feature"][node])
            if feature < 0:
                if path:
                    bounds += [
                        (len(values), int(made_from[each]), each, *path[each]) for each in path
                    ]
                    values.append(float(trees["value"][node]))
                continue
            low, high = path.get(feature, (-np.inf, np.inf))
            cut = float(trees["threshold"][node])
            waiting.append((int(trees["left"][node]), path | {feature: (low, min(high, cut))}))
            waiting.append((int(trees["right"][node]), path | {feature: (max(low, cut), high)}))
    bounds.sort(key=lambda each: each[:3])
    leaf, column, feature_of, low_of, high_of = (
        np.array(each) for each in zip(*bounds, strict=True)
    )
    new_part = np.ones(leaf.size, bool)
    new_part[1:] = (np.diff(leaf) != 0) | (np.diff(column) != 0)
    part_starts = np.flatnonzero(new_part)
    new_leaf = np.ones(part_starts.size, bool)
    new_leaf[1:] = np.diff(leaf[part_starts]) != 0
    return Leaves(
        feature_of,
        low_of,
        high_of,
        column[part_starts],
        part_starts,
        np.flatnonzero(new_leaf),
        np.array(values) / trees["root"].size,
    )


def tree_shares(leaves: Leaves, rows: Array, baseline: Array, n_columns: int) -> Array:
    """Return Shapley values of the columns in the difference of two scores of trees, exactly.

    A leaf is reached by a mixture of a row and its baseline if it takes from the row all columns
    whose bounds only the row keeps (`a` of them), and from the baseline all whose bounds only that
    keeps (`b`). Each of the former adds ``(a - 1)! b! / (a + b)!`` of the leaf's value, each of the
    latter takes ``a! (b - 1)! / (a + b)!`` from it.
    """
    shares = np.zeros((rows.shape[0], n_columns))
    sizes = np.diff(np.append(leaves.leaf_starts, leaves.column.size))
    with np.errstate(invalid="ignore"):
        for place, (row, other) in enumerate(zip(rows, baseline, strict=True)):
            ours, theirs = (_kept(leaves, each) for each in (row, other))
            a, b = (
                np.add.reduceat(each.astype(np.int64), leaves.leaf_starts)
                for each in (ours & ~theirs, theirs & ~ours)
            )
            dead = np.add.reduceat((~ours & ~theirs).astype(np.int64), leaves.leaf_starts) > 0
            value = np.where(dead | (a + b == 0), 0.0, leaves.value)
            gain, loss = (value * _weight(x, y) for x, y in ((a, b), (b, a)))
            parts = np.where(ours, np.repeat(gain, sizes), -np.repeat(loss, sizes))
            parts[ours == theirs] = 0.0
            shares[place] = np.bincount(leaves.column, parts, n_columns)
    return shares


def _kept(leaves: Leaves, row: Array) -> Array:
    """Return which parts of the leaves' bounds a row keeps."""
    values = row[leaves.feature]
    kept = (values > leaves.low) & (values <= leaves.high)
    return np.logical_and.reduceat(kept, leaves.part_starts)


def _weight(a: Array, b: Array) -> Array:
    """Return ``(a - 1)! b! / (a + b)!``, zero without any of `a`."""
    logs = gammaln(np.maximum(a, 1)) + gammaln(b + 1) - gammaln(a + b + 1)
    return np.where(a > 0, np.exp(logs), 0.0)
