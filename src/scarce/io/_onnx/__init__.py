"""Models as graphs of plain ONNX operators."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.validation import check_is_fitted

from scarce.inspection import Layers, layers_of
from scarce.io._onnx._calibrated import members_of, write_answers, write_calibrated
from scarce.io._onnx._graph import Graph, onnx_module
from scarce.io._onnx._scores import (
    SAFETY,
    TOO_WRONG,
    formula_of,
    measured_error,
    write_scores,
)
from scarce.io._onnx._steps import Columns, text_columns, write_step
from scarce.tensor import TensorMachine

DTYPES = ("float32", "float64")


def to_onnx(model: Any, *, dtype: Any = "float32") -> Any:
    """Return a fitted model as a graph of plain ONNX operators.

    The graph answers what the model does: "labels" and "scores" (`predict` and
    `decision_function`), "probabilities" or "p_values" where the model has them, and for regressors
    "values". Its input is one table "X" of numbers; a table with text columns has one input for
    each column, by its name, of shape (n, 1), in which an empty text is a missing one.

    Decision values of a detector that are zero up to rounding count as zero, as in Python, and
    what counts is set from the error of the exported formula on the support vectors. It is stored
    with the graph as ``scarce.band``, beside version, estimator and names of the columns; labels
    can differ from those of Python only where the decision value is within it.

    Parameters
    ----------
    model : estimator
        A fitted kernel or tensor model of this library, or a pipeline, search,
        `CalibratedOneClass` or `CalibratedClassifierCV` of sigmoids that ends in one. Kernels are
        those with a formula. Steps before it may be StandardScaler, MinMaxScaler, MaxAbsScaler,
        RobustScaler, SimpleImputer, OneHotEncoder, PCA, selections of columns, and
        ColumnTransformer and Pipeline of these.
    dtype : {"float32", "float64"}, default="float32"
        Numbers of inputs and outputs. With "float32" the computation between them is in float32
        too, unless that is too inexact for this model.

    Returns
    -------
    onnx.ModelProto
        The model; ``model.SerializeToString()`` is the content of a file.

    See Also
    --------
    save : Model files for Python.

    Examples
    --------
    >>> import numpy as np
    >>> import scarce
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> graph = scarce.to_onnx(scarce.OneClassSVM(nu=0.5).fit(X))
    >>> [output.name for output in graph.graph.output]
    ['labels', 'scores']
    >>> from onnx.reference import ReferenceEvaluator
    >>> rows = np.array([[0.0, 0.0], [9.0, 9.0]], dtype=np.float32)
    >>> ReferenceEvaluator(graph).run(["labels"], {"X": rows})
    [array([ 1, -1])]
    """
    onnx_module()
    check_is_fitted(model)
    outside = np.dtype(dtype)
    if outside.name not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
    layers = layers_of(model)
    if isinstance(layers.last, CalibratedClassifierCV):
        return _with_probabilities(model, layers, outside)
    _check_layers(layers)
    inside, error = _precision([layers], outside)
    band = SAFETY * error
    if layers.calibrated is None:
        band = max(band, float(getattr(layers.last, "_rounding", 0.0)))
    graph = Graph(outside, inside)
    values = write_scores(graph, _rows(graph, model, layers), layers)
    is_tensor = isinstance(layers.last, TensorMachine)
    formula = None if is_tensor else formula_of(layers)
    write_answers(
        graph,
        values,
        layers,
        n_outputs=1 if formula is None else formula.constants.size,
        voted=formula is not None and formula.voted,
        band=band,
    )
    return graph.model(_properties(model, layers.last, band))


def _with_probabilities(model: Any, layers: Layers, outside: Any) -> Any:
    """Return the graph of a model that ends in `CalibratedClassifierCV`."""
    members = members_of(layers.last)
    for each in members:
        _check_layers(each)
    inside, error = _precision(members, outside)
    graph = Graph(outside, inside)
    first = (*layers.steps, *members[0].steps)
    columns = _inputs(graph, model, first)
    for step in layers.steps:
        columns = write_step(graph, columns, step)
    write_calibrated(graph, columns, layers.last, members)
    return graph.model(_properties(model, members[0].last, SAFETY * error))


def _precision(members: list[Layers], outside: Any) -> tuple[Any, float]:
    """Return the type to compute in, and the largest error of decision values."""
    inside = outside
    found = [measured_error(layers, outside, inside) for layers in members]
    if any(error > TOO_WRONG * reach for error, reach in found) and inside == np.float32:
        inside = np.dtype(np.float64)
        found = [measured_error(layers, outside, inside) for layers in members]
    return inside, max(error for error, _ in found)


def _properties(model: Any, last: Any, band: float) -> dict[str, str]:
    """Return what is stored with a graph."""
    properties = {
        "scarce.version": version("scarce"),
        "scarce.estimator": type(last).__name__,
        "scarce.band": repr(float(band)),
    }
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        properties["scarce.columns"] = json.dumps([str(name) for name in names])
    return properties


def _check_layers(layers: Layers) -> None:
    """Refuse what has no counterpart, before anything is written."""
    last = layers.last
    if layers.calibrated is not None and layers.calibrated.method == "cv+":
        raise ValueError(
            'CalibratedOneClass(method="cv+") cannot be exported: it asks one model for each part; '
            'method="one_model" can be'
        )
    if not isinstance(last, TensorMachine):
        formula_of(layers)
    if not layers.steps and getattr(last, "_sparse", False):
        raise ValueError(
            f"{type(last).__name__} was fitted to sparse rows, and ONNX tables are dense; fit to "
            "X.toarray() to export"
        )


def _rows(graph: Graph, model: Any, layers: Layers) -> str:
    """Write the inputs and the steps; return the name of the rows that the last estimator sees."""
    if isinstance(layers.last, TensorMachine) and not layers.steps:
        return graph.add_input("X", layers.last._sample_shape)
    columns = _inputs(graph, model, layers.steps)
    for step in layers.steps:
        columns = write_step(graph, columns, step)
    return columns.whole()


def _inputs(graph: Graph, model: Any, steps: tuple[Any, ...]) -> Columns:
    """Write the inputs; the first step says which columns are texts."""
    names = getattr(model, "feature_names_in_", None)
    n_columns = int(model.n_features_in_)
    texts = text_columns(steps[0], np.arange(n_columns)) if steps else set()
    if texts:
        each = [f"x{place}" if names is None else str(names[place]) for place in range(n_columns)]
        inputs = [
            graph.add_input(name, (1,), object if place in texts else None)
            for place, name in enumerate(each)
        ]
        return Columns.each(graph, inputs)
    return Columns.matrix(graph, graph.add_input("X", (n_columns,)), n_columns)
