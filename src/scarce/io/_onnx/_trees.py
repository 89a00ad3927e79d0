"""Trees as an ONNX operator."""

from __future__ import annotations

import numpy as np

from scarce.inspection import KernelAndTrees
from scarce.io._onnx._graph import TREES, Graph


def write_trees(graph: Graph, rows: str, model: KernelAndTrees, values: str) -> str:
    """Write the mean of the trees beside the values of the kernel part; return the sum.

    ``rows``: name of the rows, of shape (n, d). ``values``: name of the values of its kernel part,
    of shape (n, 1).
    """
    trees = model.trees
    sizes = np.diff(np.append(trees["root"], trees["feature"].size))
    tree = np.repeat(np.arange(sizes.size), sizes)
    own = np.arange(tree.size) - trees["root"][tree]  # numbers of nodes in their tree
    leaf = trees["feature"] < 0
    # Rows of 32 bits are on the same side of the next such number below.
    cuts = trees["threshold"].astype(np.float32)
    cuts = np.where(cuts > trees["threshold"], np.nextafter(cuts, np.float32(-np.inf)), cuts)
    seen = graph.cast(graph.times(rows, model.scale), np.float32, always=True)
    found = graph.node(
        "TreeEnsembleRegressor",
        seen,
        domain=TREES,
        n_targets=1,
        aggregate_function="AVERAGE",
        nodes_treeids=tree.tolist(),
        nodes_nodeids=own.tolist(),
        nodes_featureids=np.where(leaf, 0, trees["feature"]).tolist(),
        nodes_values=np.where(leaf, 0.0, cuts).tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(leaf, 0, trees["left"] - trees["root"][tree]).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, trees["right"] - trees["root"][tree]).tolist(),
        target_treeids=tree[leaf].tolist(),
        target_nodeids=own[leaf].tolist(),
        target_ids=[0] * int(leaf.sum()),
        target_weights=trees["value"][leaf].tolist(),
    )
    mean = graph.cast(found, graph.inside, always=True)
    return graph.node("Add", values, graph.times(mean, model.factor))
