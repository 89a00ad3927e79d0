"""Probabilities of `sklearn.calibration.CalibratedClassifierCV` as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor

from scarce._arrays import Array
from scarce.classification import class_pairs
from scarce.inspection import Layers, layers_of
from scarce.io._onnx._graph import Graph
from scarce.io._onnx._scores import formula_of, write_scores
from scarce.io._onnx._steps import Columns, write_step
from scarce.positive_unlabeled import PositiveUnlabeled
from scarce.proportions import ShareMachine


def write_answers(
    graph: Graph, values: str, layers: Layers, *, n_outputs: int, voted: bool, band: float
) -> None:
    """Write the outputs of a model.

    ``values``: name of the decision values, of shape (n, n_outputs). ``voted``: whether they are
    pairs of classes to be voted on. ``band``: decision values of a detector up to this size are
    zero.
    """
    last = layers.last
    if is_regressor(last):
        graph.add_output("values", graph.squeezed(values), ())
    elif not hasattr(last, "classes_"):
        _detector(graph, values, layers, band)
    elif voted:
        _votes(graph, values, last)
    elif n_outputs > 1:
        write_labels(graph, graph.node("ArgMax", values, axis=1, keepdims=0), last.classes_)
        graph.add_output("scores", values, (n_outputs,))
    else:
        zero = graph.constant(0.0)
        # Rows on the boundary are positive, whichever label that is.
        counted = isinstance(last, PositiveUnlabeled) and last._positive_is_second()
        above = graph.node("GreaterOrEqual" if counted else "Greater", values, zero)
        write_labels(graph, graph.cast(graph.squeezed(above), np.int64, always=True), last.classes_)
        graph.add_output("scores", graph.squeezed(values), ())
    if isinstance(last, ShareMachine):
        _probabilities(graph, values, last, n_outputs)


def _detector(graph: Graph, values: str, layers: Layers, band: float) -> None:
    near = graph.node("LessOrEqual", graph.node("Abs", values), graph.constant(band))
    values = graph.node("Where", near, graph.constant(0.0), values)
    inside = graph.node("GreaterOrEqual", values, graph.constant(0.0))
    labels = graph.node("Where", inside, graph.constant(1, np.int64), graph.constant(-1, np.int64))
    graph.add_output("labels", graph.squeezed(labels), (), np.int64)
    graph.add_output("scores", graph.squeezed(values), ())
    model = layers.last if layers.calibrated is None else layers.calibrated
    if hasattr(model, "_left_out_scores"):
        left_out, offset = model._left_out(), float(np.ravel(model.offset_)[0])
        reached = graph.node(
            "LessOrEqual", graph.constant((left_out.scores - offset)[None, :]), values
        )
        counted = graph.cast(reached, graph.inside, always=True)
        share = 1.0 / (1.0 + float(left_out.weights.sum()))
        p_values = graph.plus(graph.product(counted, share * left_out.weights[:, None]), share)
        graph.add_output("p_values", graph.squeezed(p_values), ())


def write_labels(graph: Graph, places: str, classes: Any) -> None:
    classes = np.asarray(classes)
    texts = classes.dtype.kind in "OUS"
    kind = {"b": np.bool_, "i": np.int64, "u": np.int64}.get(classes.dtype.kind)
    names = graph.constant(classes, object if texts else kind)
    labels = graph.node("Gather", names, places, axis=0)
    graph.add_output("labels", labels, (), object if texts else kind)


def _votes(graph: Graph, values: str, last: Any) -> None:
    n_classes = last.classes_.size
    n_pairs = len(class_pairs(n_classes))
    each = class_values(graph, values, n_classes)
    best = each if last.break_ties else _counted(graph, values, n_classes, "Greater")
    write_labels(graph, graph.node("ArgMax", best, axis=1, keepdims=0), last.classes_)
    if last.decision_function_shape == "ovo":
        graph.add_output("scores", values, (n_pairs,))
    else:
        graph.add_output("scores", each, (n_classes,))


def class_values(graph: Graph, values: str, n_classes: int) -> str:
    """Write the decision value of each class, given those of the pairs: votes and confidence."""
    sums = graph.product(values, _members(n_classes))
    confidence = graph.node("Div", sums, graph.times(graph.plus(graph.node("Abs", sums), 1), 3))
    votes = _counted(graph, values, n_classes, "GreaterOrEqual")
    counts = graph.times(graph.plus(votes, n_classes - 1), 0.5)
    return graph.node("Add", counts, confidence)


def _members(n_classes: int) -> Array:
    """Return 1 for the class that a pair is for, its first, and -1 for the other."""
    pairs = np.array(class_pairs(n_classes))
    members = np.zeros((len(pairs), n_classes))
    members[np.arange(len(pairs)), pairs[:, 0]] = 1.0
    members[np.arange(len(pairs)), pairs[:, 1]] = -1.0
    return members


def _counted(graph: Graph, values: str, n_classes: int, comparison: str) -> str:
    plus, minus, zero = graph.constant(1.0), graph.constant(-1.0), graph.constant(0.0)
    won = graph.node("Where", graph.node(comparison, values, zero), plus, minus)
    return graph.product(won, _members(n_classes))


def _probabilities(graph: Graph, values: str, last: ShareMachine, n_outputs: int) -> None:
    calibration = last.calibration_
    if np.any(last._cut):
        values = graph.plus(values, last._cut)
    scaled = values if calibration is None else graph.times(values, calibration[0])
    if n_outputs == 1:
        both = graph.node("Concat", graph.node("Neg", scaled), scaled, axis=1)
        found = graph.node("Sigmoid", both)
    elif calibration is not None:
        found = graph.node("Softmax", scaled, axis=1)
    else:
        each = graph.node("Sigmoid", scaled)
        found = graph.node("Div", each, graph.total(each, 1))
    graph.add_output("probabilities", found, (max(2, n_outputs),))


def members_of(model: Any) -> list[Layers]:
    """Return the models whose scores are calibrated; refuse what has no counterpart."""
    found = []
    for each in model.calibrated_classifiers_:
        if each.method != "sigmoid":
            raise ValueError(
                f"CalibratedClassifierCV(method={each.method!r}) cannot be exported; "
                'method="sigmoid" can'
            )
        layers = layers_of(each.estimator)
        if not np.array_equal(getattr(layers.last, "classes_", ()), model.classes_):
            raise ValueError(
                "CalibratedClassifierCV cannot be exported: a part of the rows that a model was "
                "fitted to lacks a class; ensemble=False fits one model to all rows"
            )
        if getattr(layers.last, "decision_function_shape", "ovr") == "ovo":
            raise ValueError(
                'CalibratedClassifierCV of decision_function_shape="ovo" cannot be exported; of '
                '"ovr" it can'
            )
        found.append(layers)
    return found


def write_calibrated(graph: Graph, columns: Columns, model: Any, members: list[Layers]) -> None:
    """Write labels and probabilities: the mean over the members."""
    n_classes, parts = model.classes_.size, []
    for each, layers in zip(model.calibrated_classifiers_, members, strict=True):
        own = columns
        for step in layers.steps:
            own = write_step(graph, own, step)
        values = write_scores(graph, own.whole(), layers)
        if formula_of(layers).voted:
            values = class_values(graph, values, n_classes)
        slopes, constants = (
            np.array([[getattr(line, name) for line in each.calibrators]]) for name in ("a_", "b_")
        )
        lines = graph.plus(graph.times(values, -slopes), -constants)
        chances = graph.node("Sigmoid", lines)
        if n_classes == 2:
            parts.append(graph.node("Concat", graph.node("Sigmoid", graph.node("Neg", lines)),
                                    chances, axis=1))  # fmt: skip
        else:
            parts.append(graph.node("Div", chances, graph.total(chances, 1)))
    mean = graph.times(graph.node("Sum", *parts), 1.0 / len(parts))
    write_labels(graph, graph.node("ArgMax", mean, axis=1, keepdims=0), model.classes_)
    graph.add_output("probabilities", mean, (n_classes,))
