"""What scikit-learn has or downloads, in our form."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from papers.data._dataset import Array, Dataset
from papers.data._read import as_objects, encode_columns
from papers.data._registry import Entry


def embedded(name: str) -> Dataset | None:
    """Return a set that comes with scikit-learn, None if it does not."""
    from sklearn import datasets  # takes a while to import

    loaders: dict[str, tuple[Callable[[], Any], str]] = {
        "iris": (datasets.load_iris, "Iris-"),
        "digits": (datasets.load_digits, ""),
        "wdbc": (datasets.load_breast_cancer, ""),
    }
    if name not in loaders:
        return None
    loader, prefix = loaders[name]
    bunch = loader()
    names = np.array([f"{prefix}{value}" for value in bunch.target_names])
    return Dataset(
        name,
        bunch.data,
        names[bunch.target],
        feature_names=tuple(map(str, bunch.feature_names)),
        source="scikit-learn",
    )


def can_download(name: str, entry: Entry) -> bool:
    """Tell whether scikit-learn can download the set."""
    return entry.openml is not None or name == "20newsgroups"


def download(name: str, entry: Entry) -> Dataset:
    """Download a set into scikit-learn's cache, or find it there."""
    from sklearn import datasets

    if name == "20newsgroups":
        parts = {
            part: datasets.fetch_20newsgroups(subset=part, shuffle=False)
            for part in ("train", "test")
        }
        return Dataset(
            name,
            as_objects(text for part in parts.values() for text in part.data),
            np.concatenate([np.array(p.target_names)[p.target] for p in parts.values()]),
            extra={"split": np.repeat(list(parts), [len(p.data) for p in parts.values()])},
            source="fetch_20newsgroups",
        )

    with warnings.catch_warnings():
        # What is said at each new attempt is said again by the error, if all of them fail.
        warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
        # This parser needs no pandas. It writes a category as its position in `categories`.
        bunch = datasets.fetch_openml(data_id=entry.openml, as_frame=False, parser="liac-arff")
    names = tuple(map(str, bunch.feature_names))
    columns = [_as_text(bunch.data[:, j], bunch.categories.get(n)) for j, n in enumerate(names)]
    data, categories = encode_columns(names, columns, entry.nominal)
    labels = [entry.openml_labels.get(str(label), str(label)) for label in bunch.target]
    return Dataset(
        name,
        data.astype(np.float32) if name == "isolet" else data,
        np.array(labels),
        feature_names=names,
        categories=categories,
        source=f"OpenML {entry.openml}",
    )


def _as_text(column: Array, categories: list[str] | None) -> Any:
    """Return the values a column of codes stands for; a column of numbers as it is."""
    if not categories:
        return column
    return ["" if np.isnan(code) else categories[int(code)] for code in column]
