"""The mean of a kernel model and of trees: a sum of two formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import add_tree_shares
from scarce._kernel_sum import KernelSum


@dataclass(frozen=True)
class KernelAndTrees:
    """``f(x) = kernel(x) + factor mean_t tree_t(scale x)``."""

    kernel: KernelSum  # the kernel part, with the constants of the whole
    # nodes, as `scarce.positive_unlabeled.bags._forest.as_arrays` makes them
    trees: dict[str, Array]
    factor: float  # of the mean of the trees
    # (n_features,): what the columns of `x` are multiplied by; trees see the product in 32 bits
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


def tree_shares(
    trees: dict[str, Array], rows: Array, baseline: Array, made_from: Array, n_columns: int
) -> Array:
    """Return Shapley values of the columns in the difference of two scores of trees, exactly.

    A leaf is reached by a mixture of a row and its baseline if it takes from the row all columns
    whose bounds only the row keeps (`a` of them), and from the baseline all whose bounds only that
    keeps (`b`). Each of the former adds ``(a - 1)! b! / (a + b)!`` of the leaf's value, each of the
    latter takes ``a! (b - 1)! / (a + b)!`` from it.
    """
    shares = np.zeros((rows.shape[0], n_columns))
    add_tree_shares(
        np.ascontiguousarray(rows),
        np.ascontiguousarray(baseline),
        np.asarray(made_from, dtype=np.int64),
        trees["feature"],
        trees["threshold"],
        trees["left"],
        trees["right"],
        trees["value"],
        trees["root"],
        shares,
    )
    return np.asarray(shares / trees["root"].size)
