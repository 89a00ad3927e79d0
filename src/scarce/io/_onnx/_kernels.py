"""Sums of kernel functions as ONNX operators."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from scarce._arrays import Array
from scarce._kernel_sum import KernelSum
from scarce.io._onnx._graph import Graph
from scarce.kernels import (
    Kernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    SigmoidKernel,
)

EXPONENT_ERRORS = {np.dtype(np.float32): 4e-6, np.dtype(np.float64): 1e-12}


def write_sum(graph: Graph, rows: str, model: KernelSum) -> str:
    """Write the decision values of rows, a column for each output.

    ``rows``: name of the rows, of shape (n, d).
    """
    if model.factors is not None:
        rows = graph.times(rows, model.factors)
    if model.kernel.explicit:
        return _linear(graph, rows, model)
    values = kernel_values(model.kernel, graph, rows, model.dense_vectors)
    sums, constants = graph.product(values, model.weights.T), model.constants
    if model.own and model.kernel.shift_invariant:
        constants = constants + model.own  # k(x, x) is 1
    elif model.own:
        squares = graph.total(graph.node("Mul", rows, rows), 1)
        squares = graph.times(squares, model.kernel.parameters().get("gamma", 1.0))
        own = graph.times(of_products(model.kernel, graph, squares), model.own)
        sums = graph.node("Add", sums, own)
    return graph.plus(sums, constants)


def _linear(graph: Graph, rows: str, model: KernelSum) -> str:
    coef = model.weights @ model.dense_vectors
    if not model.own:
        return graph.plus(graph.product(rows, coef.T), model.constants)
    # A squared distance to the centre, in which nothing cancels.
    centre = -coef[0] / (2.0 * model.own)
    moved = graph.minus(rows, centre)
    squares = graph.total(graph.node("Mul", moved, moved), 1)
    return graph.plus(
        graph.times(squares, model.own), model.constants - model.own * float(centre @ centre)
    )


@singledispatch
def kernel_values(kernel: Kernel, graph: Graph, rows: str, vectors: Array) -> str:
    """Write the kernel values of rows, a column for each vector."""
    raise ValueError(
        f"kernel {kernel.name!r} cannot be written in ONNX operators; linear, rbf, laplacian, poly "
        "and sigmoid can"
    )


@kernel_values.register(PolynomialKernel)
@kernel_values.register(SigmoidKernel)
@kernel_values.register(LinearKernel)
def _(kernel: Kernel, graph: Graph, rows: str, vectors: Array) -> str:
    # The slope goes into the matrix: runtimes fuse a product with a factor that they round.
    slope = kernel.parameters().get("gamma", 1.0)
    return of_products(kernel, graph, graph.product(rows, slope * vectors.T))


@kernel_values.register
def _(kernel: RBFKernel, graph: Graph, rows: str, vectors: Array) -> str:
    # Near the middle of the vectors, so that little cancels.
    middle = vectors.mean(axis=0)
    rows, vectors = graph.minus(rows, middle), vectors - middle
    norms = np.einsum("ij,ij->i", vectors, vectors)
    error = kernel.gamma * float(norms.max()) * float(np.finfo(graph.inside).eps)
    if error > EXPONENT_ERRORS[graph.inside]:
        moved = _differences(graph, rows, vectors)
        squares = graph.total(graph.node("Mul", moved, moved), 2, keepdims=False)
    else:
        own = graph.total(graph.node("Mul", rows, rows), 1)
        squares = graph.node("Add", graph.product(rows, -2.0 * vectors.T), own)
        squares = graph.node("Relu", graph.plus(squares, norms))
    return graph.node("Exp", graph.times(squares, -kernel.gamma))


@kernel_values.register
def _(kernel: LaplacianKernel, graph: Graph, rows: str, vectors: Array) -> str:
    lengths = graph.node("Abs", _differences(graph, rows, vectors))
    sums = graph.total(lengths, 2, keepdims=False)
    return graph.node("Exp", graph.times(sums, -kernel.gamma))


def _differences(graph: Graph, rows: str, vectors: Array) -> str:
    """Write ``x_i - z_j``, of shape (n, n_vectors, d)."""
    rows = graph.node("Unsqueeze", rows, graph.constant([1], np.int64))
    return graph.minus(rows, vectors[None, :, :])


@singledispatch
def of_products(kernel: Kernel, graph: Graph, products: str) -> str:
    """Write the values of a kernel of inner products, given these times its slope."""
    return products


@of_products.register
def _(kernel: PolynomialKernel, graph: Graph, products: str) -> str:
    base = graph.plus(products, kernel.coef0)
    return graph.node("Pow", base, graph.constant(kernel.degree))


@of_products.register
def _(kernel: SigmoidKernel, graph: Graph, products: str) -> str:
    return graph.node("Tanh", graph.plus(products, kernel.coef0))
