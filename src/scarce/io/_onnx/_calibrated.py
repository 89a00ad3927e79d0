"""Probabilities of `sklearn.calibration.CalibratedClassifierCV` as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce.inspection import Layers, layers_of
from scarce.io._onnx._answers import class_values, write_labels
from scarce.io._onnx._graph import Graph
from scarce.io._onnx._scores import formula_of, write_scores
from scarce.io._onnx._steps import Columns, write_step


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
