"""From tables with categories and gaps to numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from papers.data._dataset import Array, Dataset

MISSING = ("drop", "impute", "neutral")


def encode_table(
    dataset: Dataset,
    *,
    missing: str = "drop",
    one_hot: bool = True,
    without: Sequence[str] = (),
    numbered: str = "sorted",
) -> Dataset:
    """Return a table without missing values whose categories are numbers.

    Parameters
    ----------
    dataset : Dataset
        A table from `load_dataset`.
    missing : {"drop", "impute", "neutral"}, default="drop"
        What becomes of missing values: rows that have some are left out; or they become the median
        of their feature, for categories the most frequent; or, for categories only, they become as
        near to one value as to any other (no indicator is set, or 1/2 between two values).
    one_hot : bool, default=True
        Whether a category of three or more values becomes one indicator for each. Otherwise, and
        with two values, it becomes the number it is or else its position among the values.
    without : sequence of str, default=()
        Features to leave out. Rows that miss no other value are complete.
    numbered : {"sorted", "appearance"}, default="sorted"
        What the position of a value is: that in alphabetical order, or of its first appearance.

    Returns
    -------
    Dataset
        The same with `data` of finite floats and no categories.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.data import Dataset, encode_table
    >>> colours = {"colour": ("blue", "green", "red")}
    >>> data = np.array([[1.5, 0.0], [2.5, 2.0], [np.nan, 1.0]])
    >>> table = Dataset("toy", data, np.array(["a", "b", "b"]), ("size", "colour"), colours)
    >>> encode_table(table).data
    array([[1.5, 1. , 0. , 0. ],
           [2.5, 0. , 0. , 1. ]])
    >>> encode_table(table, missing="impute", one_hot=False).data
    array([[1.5, 0. ],
           [2.5, 2. ],
           [2. , 1. ]])
    """
    if missing not in MISSING:
        raise ValueError(f"missing must be one of {MISSING}, got {missing!r}")
    if numbered not in ("sorted", "appearance"):
        raise ValueError(f'numbered must be "sorted" or "appearance", got {numbered!r}')
    unknown = sorted(set(without) - set(dataset.feature_names))
    if unknown:
        raise ValueError(f"without names no feature of {dataset.name}: {unknown}")
    kept = [j for j, name in enumerate(dataset.feature_names) if name not in without]
    data, names = dataset.data[:, kept], [dataset.feature_names[j] for j in kept]
    rows = np.arange(len(data))
    if missing == "drop":
        rows = np.flatnonzero(~np.isnan(data).any(axis=1))
    columns: list[Array] = []
    labels: list[str] = []
    for name, column in zip(names, data[rows].T, strict=True):
        values = dataset.categories.get(name)
        if missing == "impute":
            column = _imputed(column, categorical=values is not None)
        if one_hot and values is not None and len(values) > 2:
            columns += [np.asarray(column == code, dtype=float) for code in range(len(values))]
            labels += [f"{name}={value}" for value in values]
            continue
        gaps = np.isnan(column)
        if gaps.any() and (values is None or len(values) > 2):
            raise ValueError(
                f'missing="neutral" cannot fill {name!r}, which is neither one-hot nor of two '
                'values; use "drop" or "impute"'
            )
        if values is not None:
            numbers = _numbers(values, column if numbered == "appearance" else None)
            column = np.where(gaps, numbers.mean(), numbers[np.where(gaps, 0, column).astype(int)])
        columns.append(column)
        labels.append(name)
    return replace(
        dataset,
        data=np.column_stack(columns),
        target=dataset.target[rows],
        feature_names=tuple(labels),
        categories={},
        extra={key: values[rows] for key, values in dataset.extra.items()},
    )


def _numbers(values: Sequence[str], codes: Array | None) -> Array:
    """Return the values if they are numbers, else their positions, perhaps among given codes."""
    try:
        return np.array(values, dtype=float)
    except ValueError:
        numbers = np.arange(len(values), dtype=float)
    if codes is not None:
        first = list(dict.fromkeys(codes[~np.isnan(codes)].astype(int).tolist()))
        first += [code for code in range(len(values)) if code not in first]
        numbers[first] = np.arange(len(values), dtype=float)
    return numbers


def _imputed(column: Array, categorical: bool) -> Array:
    known = column[~np.isnan(column)]
    value = np.bincount(known.astype(int)).argmax() if categorical else np.median(known)
    return np.where(np.isnan(column), value, column)
