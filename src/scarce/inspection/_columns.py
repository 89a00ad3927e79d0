"""Which column of a table each column that an estimator sees was made from."""

from __future__ import annotations

from collections import UserList
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from scarce._arrays import Array

ONE_TO_ONE = (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)


def origins(step: Any, n_columns: int) -> Array | None:
    """Return for each column that a fitted transformer makes the one it is made from.

    ``step``: a transformer of scikit-learn, or a pipeline of them. Returned: none where columns are
    made from several ones, or nothing is known of the transformer.
    """
    all_columns = np.arange(n_columns)
    if step is None or isinstance(step, str):
        return all_columns if step in (None, "passthrough") else all_columns[:0]
    if isinstance(step, Pipeline):
        found: Array | None = all_columns
        for _, part in step.steps:
            further = None if found is None else origins(part, found.size)
            found = None if found is None or further is None else found[further]
        return found
    if isinstance(step, ColumnTransformer):
        return _of_parts(step)
    if isinstance(step, ONE_TO_ONE) or (isinstance(step, FunctionTransformer) and not step.func):
        return all_columns
    if isinstance(step, SimpleImputer):
        return _imputed(step, all_columns)
    if isinstance(step, MissingIndicator):
        return np.asarray(step.features_)
    if isinstance(step, OneHotEncoder):
        return np.repeat(all_columns, _n_encoded(step))
    if isinstance(step, SelectorMixin):
        return np.asarray(step.get_support(indices=True))
    return None


def _imputed(step: SimpleImputer, all_columns: Array) -> Array:
    empty = np.array([value != value for value in step.statistics_])  # NaN: nothing to fill with
    kept = all_columns if step.keep_empty_features else all_columns[~empty]
    return kept if step.indicator_ is None else np.append(kept, step.indicator_.features_)


def _n_encoded(step: OneHotEncoder) -> Array:
    sizes = [len(categories) for categories in step.categories_]
    rare = getattr(step, "infrequent_categories_", [None] * len(sizes))
    dropped = [None] * len(sizes) if step.drop_idx_ is None else step.drop_idx_
    return np.array(
        [
            size - (0 if few is None else len(few) - 1) - (drop is not None)
            for size, few, drop in zip(sizes, rare, dropped, strict=True)
        ]
    )


def _of_parts(step: ColumnTransformer) -> Array | None:
    names = getattr(step, "feature_names_in_", None)
    pairs: list[tuple[slice, Array]] = []
    for name, part, columns in step.transformers_:
        given = column_numbers(columns, step.n_features_in_, names)
        found = origins(part, given.size)
        if found is None:
            return None
        pairs.append((step.output_indices_[name], given[found]))
    pairs = [(place, made) for place, made in pairs if made.size]
    pairs.sort(key=lambda pair: pair[0].start)
    return np.concatenate([made for _, made in pairs]) if pairs else np.arange(0)


def column_numbers(columns: Any, n_columns: int, names: Any) -> Array:
    """Return as numbers the columns that a part of a `ColumnTransformer` is given."""
    all_columns = np.arange(n_columns)
    if isinstance(columns, (str, int)):
        columns = [columns]
    if isinstance(columns, slice):
        if not (isinstance(columns.start, str) or isinstance(columns.stop, str)):
            return all_columns[columns]
        # By names, as pandas slices: the last one is in it.
        places = {name: place for place, name in enumerate(names)}
        first = 0 if columns.start is None else places[columns.start]
        last = n_columns - 1 if columns.stop is None else places[columns.stop]
        return all_columns[first : last + 1 : columns.step]
    if isinstance(columns, UserList):  # of scikit-learn 1.6, which warns when it is read
        columns = columns.data
    chosen = np.asarray(columns)
    if chosen.dtype.kind in "OUT":
        places = {name: place for place, name in enumerate(names)}
        return np.array([places[name] for name in chosen], dtype=np.intp)
    return all_columns[chosen] if chosen.size else all_columns[:0]
