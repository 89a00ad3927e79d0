"""Files in the three formats: tables, image archives, texts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from papers.data._dataset import Array, Dataset
from papers.data._registry import Entry

LISTS = ("topics", "places", "people", "orgs", "exchanges")


def read(name: str, entry: Entry, path: Path) -> Dataset:
    """Read a file by its ending."""
    if path.name.endswith(".csv.gz"):
        return read_table(name, entry, path)
    if path.name.endswith(".npz"):
        return read_archive(name, path)
    return read_texts(name, path)


def read_table(name: str, entry: Entry, path: Path) -> Dataset:
    """Read a gzip CSV file whose last column is the label."""
    import pandas as pd

    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    *features, target = table.columns
    columns = [table[feature].tolist() for feature in features]
    data, categories = encode_columns(features, columns, entry.nominal)
    return Dataset(
        name,
        data,
        np.array(table[target].tolist()),
        feature_names=tuple(features),
        categories=categories,
        source=str(path),
    )


def encode_columns(
    names: Sequence[str], columns: Sequence[Sequence[Any]], nominal: Sequence[str] = ()
) -> tuple[Array, dict[str, tuple[str, ...]]]:
    """Return columns of text or numbers as one table of floats, and what its categories mean.

    An empty field is NaN. A column is one of categories when it is in `nominal` or when some field
    is not a number.
    """
    data = np.empty((len(columns[0]), len(columns)))
    categories = {}
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        try:
            if name in nominal:
                raise ValueError
            data[:, j] = [float(value) if value != "" else np.nan for value in column]
        except ValueError:
            values = tuple(sorted({value for value in column if value != ""}))
            code: dict[Any, float] = {value: i for i, value in enumerate(values)}
            data[:, j] = [code.get(value, np.nan) for value in column]
            categories[name] = values
    return data, categories


def read_archive(name: str, path: Path) -> Dataset:
    """Read a NumPy archive with arrays X, y and others."""
    with path.open("rb") as file, np.load(file) as archive:  # a damaged file is closed, too
        arrays = {key: archive[key] for key in archive.files}
    target = arrays.pop("y")
    if target.dtype.kind in "iu":  # small unsigned numbers overflow in the user's arithmetic
        target = target.astype(np.int64)
    return Dataset(name, arrays.pop("X"), target, extra=arrays, source=str(path))


def read_texts(name: str, path: Path) -> Dataset:
    """Read gzip JSON lines with a text each."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    fields = {key: [document[key] for document in documents] for key in documents[0]}
    texts = as_objects(fields.pop("text"))
    extra = {
        key: as_objects(map(tuple, values)) if isinstance(values[0], list) else np.array(values)
        for key, values in fields.items()
    }
    # Reuters has several labels a document; its topics stand for them.
    target = extra.pop("label") if "label" in extra else extra["topics"]
    return Dataset(name, texts, target, extra=extra, source=str(path))


def as_objects(values: Any) -> Array:
    """Return a 1-D array of the values as they are."""
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
