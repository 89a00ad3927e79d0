"""Decision values of the last estimator as ONNX operators, and how exact they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._kernel_sum import KernelSum
from scarce.inspection import KernelAndTrees, Layers, dense, kernel_and_trees, support_vectors
from scarce.io._onnx._graph import TREES, Graph, onnx_module
from scarce.io._onnx._kernels import write_sum
from scarce.kernels import kernel_type, make_operator
from scarce.tensor import TensorMachine


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


MEASURED_ROWS, AT_ONCE = 1000, 50
SAFETY = 4.0  # times the error measured on some rows
TOO_WRONG = 1e-5  # of the range of scores, from which numbers of 32 bits do not do


def formula_of(layers: Layers) -> KernelSum:
    """Return the decision values, without trees beside them, as a formula.

    Models that have none are refused, with the reason.
    """
    both, formula = kernel_and_trees(layers.last), layers.kernel_sum()
    if both is not None:
        return both.kernel
    if formula is not None:
        return formula
    last = layers.last
    name, kernel = type(last).__name__, getattr(last, "kernel", None)
    if kernel is not None and kernel_type(kernel).pairwise:
        why = 'kernel="precomputed" has no formula; fit with a kernel by name'
    elif kernel is not None and kernel_type(kernel).opaque:
        why = f"kernel={kernel!r} is a callable; fit with a kernel by name"
    elif getattr(last, "source", None) is not None:
        why = "its source is another function than a sum of the same kernel"
    else:
        why = "it is not a sum of kernel functions"
    raise ValueError(f"{name} cannot be exported: {why}")


def write_scores(graph: Graph, rows: str, layers: Layers) -> str:
    """Write the decision values of rows as the last estimator sees them, a column an output."""
    if isinstance(layers.last, TensorMachine):
        return _tensor_scores(graph, rows, layers)
    values, both = write_sum(graph, rows, formula_of(layers)), kernel_and_trees(layers.last)
    return values if both is None else write_trees(graph, rows, both, values)


def _tensor_scores(graph: Graph, rows: str, layers: Layers) -> str:
    estimator = layers.last
    weights, constant = estimator._entry_weights(), float(np.ravel(estimator.intercept_)[0])
    if layers.offset is not None:
        constant = -layers.offset
    rows = graph.node("Flatten", rows, axis=1)
    if not estimator._by_norm:
        return graph.plus(graph.product(rows, weights[:, None]), constant)
    size = graph.largest(graph.node("Abs", rows), 1)
    is_zero = graph.node("Equal", size, graph.constant(0.0))
    rows = graph.node("Div", rows, graph.node("Where", is_zero, graph.constant(1.0), size))
    norms = graph.node("Sqrt", graph.total(graph.node("Mul", rows, rows), 1))
    norms = graph.node("Where", is_zero, graph.constant(1.0), norms)
    scores = graph.product(graph.node("Div", rows, norms), weights[:, None])
    nothing = graph.constant(-float(np.linalg.norm(estimator.coef_)))
    return graph.plus(graph.node("Where", is_zero, nothing, scores), constant)


def measured_error(layers: Layers, outside: Any, inside: Any) -> tuple[float, float]:
    """Return the largest error of exported decision values, and the range of these values.

    Measured on the support vectors, with the reference implementation of the operators. Of a
    tensor machine, which keeps none, the error is that of the rounding of an inner product.
    """
    if isinstance(layers.last, TensorMachine):
        weights = layers.last._entry_weights()
        reach = float(np.linalg.norm(weights)) if layers.last._by_norm else 1.0
        eps = float(np.finfo(outside).eps)
        return eps * np.sqrt(weights.size) * reach, 2.0 * reach
    formula, vectors = formula_of(layers), support_vectors(layers.last)
    rows = dense(formula.vectors if vectors is None else vectors)
    rows = rows[:: 1 + rows.shape[0] // MEASURED_ROWS]
    exact = values_of(formula, rows)
    graph = Graph(outside, inside)
    name = graph.add_input("X", (rows.shape[1],))
    graph.add_output("scores", write_sum(graph, name, formula), (exact.shape[1],))
    run = onnx_module("onnx.reference").ReferenceEvaluator(graph.model({})).run
    given = rows.astype(outside)
    parts = range(0, rows.shape[0], AT_ONCE)
    found = np.concatenate([run(None, {"X": given[i : i + AT_ONCE]})[0] for i in parts])
    reach = float(np.ptp(np.vstack([exact, formula.constants[None, :]]), axis=0).max())
    return float(np.abs(found - exact).max()), reach


def values_of(formula: KernelSum, rows: Array) -> Array:
    """Return the values of a formula by plain means, in float64."""
    kernel = formula.kernel
    rows = rows if formula.factors is None else rows * formula.factors
    values = kernel.values(rows, formula.dense_vectors) @ formula.weights.T + formula.constants
    if formula.own:
        values = values + formula.own * np.asarray(make_operator(rows, kernel).diagonal())[:, None]
    return np.asarray(values)
