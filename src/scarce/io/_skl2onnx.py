"""Our graphs inside those of skl2onnx, for pipelines with steps that only skl2onnx knows."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np


def register_skl2onnx() -> None:
    """Let skl2onnx convert pipelines that end in an estimator of this library.

    After this call `skl2onnx.to_onnx` takes them, with any step before the estimator that skl2onnx
    knows. The estimator's part is the graph of `scarce.to_onnx`, with its outputs and their names;
    inputs of doubles make it one of doubles. Needs skl2onnx and onnx.

    See Also
    --------
    scarce.to_onnx : Graphs of plain operators, without skl2onnx.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> import scarce
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = make_pipeline(PolynomialFeatures(), scarce.OneClassSVM()).fit(X)
    >>> scarce.io.register_skl2onnx()  # doctest: +SKIP
    >>> graph = skl2onnx.to_onnx(model, X[:1])  # doctest: +SKIP
    """
    try:
        skl2onnx = import_module("skl2onnx")
    except ImportError as error:
        message = "register_skl2onnx needs skl2onnx: python -m pip install skl2onnx"
        raise ImportError(message) from error
    import scarce

    for name in scarce.__all__:
        kind = getattr(scarce, name)
        if isinstance(kind, type) and hasattr(kind, "fit") and hasattr(kind, "predict"):
            skl2onnx.update_registered_converter(
                kind, f"Scarce{name}", lambda operator: None, _convert, parser=_parse
            )


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> Any:
    """Declare what the estimator answers: the outputs of its own graph, which is made here."""
    types = import_module("skl2onnx.common.data_types")
    onnx = import_module("onnx")
    graph = _graph(model, inputs)
    operator = scope.declare_local_operator(f"Scarce{type(model).__name__}", model)
    operator.inputs, operator.scarce_graph = inputs, graph
    kinds = {
        onnx.TensorProto.FLOAT: types.FloatTensorType,
        onnx.TensorProto.DOUBLE: types.DoubleTensorType,
        onnx.TensorProto.BOOL: types.BooleanTensorType,
        onnx.TensorProto.INT64: types.Int64TensorType,
        onnx.TensorProto.STRING: types.StringTensorType,
    }
    for each in graph.graph.output:
        found = each.type.tensor_type
        shape = [None, *(dim.dim_value or None for dim in found.shape.dim[1:])]
        variable = scope.declare_local_variable(each.name, kinds[found.elem_type](shape))
        operator.outputs.append(variable)
    return operator.outputs


def _graph(model: Any, inputs: list[Any]) -> Any:
    from scarce.io._onnx import to_onnx

    types = import_module("skl2onnx.common.data_types")
    double = any(isinstance(each.type, types.DoubleTensorType) for each in inputs)
    return to_onnx(model, dtype="float64" if double else "float32")


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Put the estimator's graph where skl2onnx wants it."""
    graph, outputs = getattr(operator, "scarce_graph", None), operator.outputs
    if graph is None:
        # Of a classifier inside CalibratedClassifierCV: skl2onnx has declared what it wants, labels
        # and a score for every class.
        graph = _graph(operator.raw_operator, operator.inputs)
        outputs = _per_class(scope, container, graph, outputs)
    _insert(scope, container, operator, graph, outputs)


def _per_class(scope: Any, container: Any, graph: Any, outputs: list[Any]) -> list[Any]:
    """Write scores of two classes as two columns; return where the graph's outputs go."""
    names = [each.name for each in graph.graph.output]
    found = {name: scope.get_unique_variable_name(name) for name in names}
    scores = found["scores"]
    if len(graph.graph.output[names.index("scores")].type.tensor_type.shape.dim) == 1:
        column, other, last = (scope.get_unique_variable_name("score") for _ in range(3))
        container.add_initializer(last, import_module("onnx").TensorProto.INT64, [1], [1])
        container.add_node("Unsqueeze", [scores, last], column, op_version=13)
        container.add_node("Neg", column, other, op_version=13)
        container.add_node("Concat", [other, column], outputs[1].full_name, op_version=13, axis=1)
    else:
        container.add_node("Identity", scores, outputs[1].full_name, op_version=13)
    container.add_node("Identity", found["labels"], outputs[0].full_name, op_version=13)
    return [SimpleNamespace(onnx_name=found[name]) for name in names]


def _insert(scope: Any, container: Any, operator: Any, graph: Any, outputs: list[Any]) -> None:
    helpers, onnx = import_module("skl2onnx.helpers"), import_module("onnx")
    inputs = [each.onnx_name for each in operator.inputs]
    own = graph.graph.input
    if len(own) == 1 and own[0].type.tensor_type.elem_type != onnx.TensorProto.STRING:
        kind = own[0].type.tensor_type.elem_type
        inputs = [_cast(scope, container, name, kind) for name in inputs]
        if len(inputs) > 1:
            together = scope.get_unique_variable_name("rows")
            container.add_node("Concat", inputs, together, op_version=13, axis=1)
            inputs = [together]
    if len(inputs) != len(own):
        raise ValueError(
            f"{type(operator.raw_operator).__name__} takes {len(own)} inputs, one for each column, "
            f"and skl2onnx was given {len(inputs)}: give initial_types, one per column, "
            f"{np.array([each.name for each in own]).tolist()}"
        )
    ends = SimpleNamespace(
        inputs=[SimpleNamespace(onnx_name=name) for name in inputs], outputs=outputs
    )
    for place, node in enumerate(graph.graph.node):
        node.name = f"scarce{place}"  # skl2onnx asks for names
    helpers.add_onnx_graph(scope, ends, container, graph)


def _cast(scope: Any, container: Any, name: str, kind: int) -> str:
    values = scope.get_unique_variable_name("cast")
    container.add_node("Cast", name, values, op_version=13, to=kind)
    return str(values)
