"""Transformers of scikit-learn as ONNX operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from scarce._arrays import Array
from scarce.inspection import column_numbers
from scarce.io._onnx._graph import Graph


@dataclass(frozen=True)
class Columns:
    """Columns of a table on their way through the steps: one matrix, or one vector each."""

    graph: Graph  # where they are
    names: tuple[str, ...]  # of the one matrix, or of each column
    size: int  # number of columns
    single: bool

    @classmethod
    def matrix(cls, graph: Graph, name: str, size: int) -> Columns:
        """Return the columns of a matrix."""
        return cls(graph, (name,), size, False)

    @classmethod
    def each(cls, graph: Graph, names: list[str]) -> Columns:
        """Return columns that are a matrix each, of one column."""
        return cls(graph, tuple(names), len(names), True)

    def take(self, which: Array) -> Columns:
        """Return some of the columns."""
        if self.single:
            return Columns.each(self.graph, [self.names[place] for place in which])
        if np.array_equal(which, np.arange(self.size)):
            return self
        return Columns.matrix(self.graph, self.graph.columns(self.names[0], which), which.size)

    def whole(self) -> str:
        """Return the name of one matrix of all columns, which are numbers."""
        if len(self.names) == 1:
            return self.names[0]
        return self.graph.node("Concat", *self.names, axis=1)


def text_columns(step: Any, columns: Array) -> set[int]:
    """Return which columns of the table a step takes as texts.

    ``step``: the first step that sees the columns.
    """
    if isinstance(step, Pipeline):
        return text_columns(step.steps[0][1], columns)
    if isinstance(step, ColumnTransformer):
        found: set[int] = set()
        for _, part, chosen in step.transformers_:
            own = column_numbers(chosen, columns.size, getattr(step, "feature_names_in_", None))
            found |= text_columns(part, columns[own])
        return found
    if isinstance(step, OneHotEncoder):
        pairs = zip(columns, step.categories_, strict=True)
        return {int(place) for place, values in pairs if values.dtype.kind in "OUS"}
    return set()


def write_step(graph: Graph, columns: Columns, step: Any) -> Columns:
    """Write a fitted transformer; return what it makes of the columns."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return columns
    if isinstance(step, Pipeline):
        for _, part in step.steps:
            columns = write_step(graph, columns, part)
        return columns
    if isinstance(step, ColumnTransformer):
        return _parts(graph, columns, step)
    if isinstance(step, SelectorMixin):
        return columns.take(np.asarray(step.get_support(indices=True)))
    for kind, write in WRITERS.items():
        if isinstance(step, kind):
            name, size = write(graph, columns, step)
            return Columns.matrix(graph, name, size)
    raise ValueError(
        f"the step {type(step).__name__} cannot be exported: "
        f"{', '.join(kind.__name__ for kind in WRITERS)}, ColumnTransformer, Pipeline and "
        "selections of columns can"
    )


def _parts(graph: Graph, columns: Columns, step: ColumnTransformer) -> Columns:
    names, made = getattr(step, "feature_names_in_", None), []
    for name, part, chosen in step.transformers_:
        own = column_numbers(chosen, step.n_features_in_, names)
        place = step.output_indices_[name]
        if place.start == place.stop or not own.size:
            continue
        weight = (step.transformer_weights or {}).get(name, 1.0)
        found = write_step(graph, columns.take(own), part)
        matrix = found.whole() if weight == 1.0 else graph.times(found.whole(), weight)
        made.append((place, matrix, found.size))
    made.sort(key=lambda each: each[0].start)
    every = Columns(graph, tuple(each[1] for each in made), sum(each[2] for each in made), True)
    return Columns.matrix(graph, every.whole(), every.size)


def _standard(graph: Graph, columns: Columns, step: StandardScaler) -> tuple[str, int]:
    return _scaled(graph, columns, step.mean_ if step.with_mean else None, step.scale_)


def _robust(graph: Graph, columns: Columns, step: RobustScaler) -> tuple[str, int]:
    return _scaled(graph, columns, step.center_, step.scale_)


def _max_abs(graph: Graph, columns: Columns, step: MaxAbsScaler) -> tuple[str, int]:
    values, size = _scaled(graph, columns, None, step.scale_)
    if getattr(step, "clip", False):
        values = _clipped(graph, values, -1.0, 1.0)
    return values, size


def _scaled(graph: Graph, columns: Columns, centre: Any, scale: Any) -> tuple[str, int]:
    values = columns.whole()
    if centre is not None:
        values = graph.minus(values, centre)
    if scale is not None:
        values = graph.node("Div", values, graph.constant(scale))
    return values, columns.size


def _min_max(graph: Graph, columns: Columns, step: MinMaxScaler) -> tuple[str, int]:
    low, high = step.feature_range
    values = graph.minus(columns.whole(), step.data_min_)
    values = graph.plus(graph.times(values, step.scale_), low)
    return _clipped(graph, values, low, high) if step.clip else values, columns.size


def _clipped(graph: Graph, values: str, low: float, high: float) -> str:
    return graph.node("Clip", values, graph.constant(low), graph.constant(high))


def _pca(graph: Graph, columns: Columns, step: PCA) -> tuple[str, int]:
    scale = 1.0 / np.sqrt(step.explained_variance_) if step.whiten else 1.0
    values = graph.minus(columns.whole(), step.mean_)
    return graph.product(values, step.components_.T * scale), step.components_.shape[0]


def _nothing(graph: Graph, columns: Columns, step: FunctionTransformer) -> tuple[str, int]:
    if step.func is not None:
        raise ValueError(f"FunctionTransformer({step.func!r}) cannot be exported: it is a callable")
    return columns.whole(), columns.size


def _imputed(graph: Graph, columns: Columns, step: SimpleImputer) -> tuple[str, int]:
    if not (isinstance(step.missing_values, float) and np.isnan(step.missing_values)):
        raise ValueError(
            f"SimpleImputer(missing_values={step.missing_values!r}) cannot be exported; NaN can be"
        )
    statistics = np.asarray(step.statistics_)
    if statistics.dtype.kind not in "fiub":
        raise ValueError("a SimpleImputer of texts cannot be exported, one of numbers can")
    values = columns.whole()
    missing = graph.node("IsNaN", values)
    filled = graph.node("Where", missing, graph.constant(np.nan_to_num(statistics)), values)
    kept = np.arange(columns.size)
    if not step.keep_empty_features:
        kept = np.flatnonzero(~np.isnan(statistics))
    if kept.size < columns.size:
        filled = graph.columns(filled, kept)
    marks = np.arange(0) if step.indicator_ is None else np.asarray(step.indicator_.features_)
    if not marks.size:
        return filled, kept.size
    marked = graph.columns(graph.cast(missing, graph.inside, always=True), marks)
    return graph.node("Concat", filled, marked, axis=1), kept.size + marks.size


def _one_hot(graph: Graph, columns: Columns, step: OneHotEncoder) -> tuple[str, int]:
    made, size = [], 0
    dropped: Any = [None] * columns.size if step.drop_idx_ is None else step.drop_idx_
    rare = getattr(step, "infrequent_categories_", [None] * columns.size)
    if any(few is not None for few in rare) and any(drop is not None for drop in dropped):
        raise ValueError("OneHotEncoder with both drop and rare categories cannot be exported")
    for place, categories in enumerate(step.categories_):
        values = columns.take(np.array([place])).whole()
        few = set() if rare[place] is None else set(rare[place].tolist())
        own = np.array([value for value in categories if value not in few], dtype=categories.dtype)
        matched = _matched(graph, values, own)
        if few and step.handle_unknown == "infrequent_if_exist":
            other = graph.node("Sub", graph.constant(1.0), graph.total(matched, 1))
        elif few:
            these = np.array(list(few), dtype=categories.dtype)
            other = graph.total(_matched(graph, values, these), 1)
        count = own.size
        if few:
            matched, count = graph.node("Concat", matched, other, axis=1), count + 1
        if dropped[place] is not None:
            matched = graph.columns(matched, np.delete(np.arange(count), dropped[place]))
            count -= 1
        made.append(matched)
        size += count
    return made[0] if len(made) == 1 else graph.node("Concat", *made, axis=1), size


def _matched(graph: Graph, values: str, categories: Array) -> str:
    """Write 1 where a value is a category and 0 elsewhere, a column for each category."""
    if categories.dtype.kind in "OUS":
        texts = ["" if _is_missing(value) else value for value in categories]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(
                f"OneHotEncoder of mixed values cannot be exported, got {categories.tolist()}; "
                "texts or numbers can"
            )
        if len(set(texts)) < len(texts):
            raise ValueError(
                "OneHotEncoder with both missing and empty texts cannot be exported: the empty "
                "text stands for a missing one"
            )
        same = graph.node("Equal", values, graph.constant(np.array([texts], object), object))
    else:
        known = np.isnan(categories.astype(np.float64))
        same = graph.node("Equal", values, graph.constant(np.nan_to_num(categories)[None, :]))
        if known.any():
            missing = graph.node("And", graph.node("IsNaN", values), graph.constant([known], bool))
            same = graph.node(
                "Or", missing, graph.node("And", same, graph.constant([~known], bool))
            )
    return graph.cast(same, graph.inside, always=True)


def _is_missing(value: Any) -> bool:
    return value is None or value != value


WRITERS: dict[type, Callable[[Graph, Columns, Any], tuple[str, int]]] = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    SimpleImputer: _imputed,
    OneHotEncoder: _one_hot,
    PCA: _pca,
    FunctionTransformer: _nothing,
}
