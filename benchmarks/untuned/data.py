"""Data sets for the untuned comparisons, as numbers, in two halves that do not meet.

Defaults are chosen on the first half and confirmed on the second with other seeds. Sets that are
not at hand (no ``SCARCE_DATA``) are left out, and the report says which.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.feature_extraction.text import TfidfVectorizer

from papers.data import DatasetNotFoundError, encode_table, load_dataset, plain_texts

Array = NDArray[Any]

# Alternating by kind, so that both halves have images, letters, medicine, votes and text.
CHOOSING = (
    "letter",
    "digits",
    "ionosphere",
    "heart_cleveland",
    "breast_cancer_wisconsin_original",
    "mushroom",
    "wine",
    "20newsgroups",
)
CONFIRMING = (
    "isolet",
    "wdbc",
    "sonar",
    "australian_credit",
    "house_votes_84",
    "arrhythmia",
    "iris",
    "ldpa_full_precision",
    "webkb",
)
HALVES = {"choosing": CHOOSING, "confirming": CONFIRMING}
SEEDS = {"choosing": 0, "confirming": 1000}  # the first seed of a half
TEXTS = ("20newsgroups", "webkb", "reuters")
WORDS = 2000


class Table(NamedTuple):
    """Rows as numbers (CSR for text) and their labels as strings."""

    name: str
    X: Any
    y: Array


@lru_cache(maxsize=4)
def table(name: str) -> Table:
    """Return one data set; `DatasetNotFoundError` when it is not at hand."""
    if name == "wine":
        wine = load_wine()
        return Table(name, wine.data, wine.target.astype(str))
    dataset = load_dataset(name, download_if_missing=False)
    if name in TEXTS:
        words = TfidfVectorizer(max_features=WORDS, min_df=5, stop_words="english")
        X = words.fit_transform(plain_texts(dataset))
        return Table(name, X, np.asarray(dataset.target).astype(str))
    if len(dataset.feature_names) == 0:  # numbers and nothing else
        return Table(name, dataset.data.astype(np.float64), np.asarray(dataset.target).astype(str))
    coded = encode_table(dataset, missing="impute")
    return Table(name, coded.data.astype(np.float64), np.asarray(coded.target).astype(str))


def at_hand(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the sets that can be loaded, and those that cannot."""
    there, missing = [], []
    for name in names:
        try:
            table(name)
            there.append(name)
        except DatasetNotFoundError:
            missing.append(name)
    return there, missing


def frequent_classes(y: Array, most: int, smallest: int) -> list[str]:
    """Return up to ``most`` classes of at least ``smallest`` rows, the largest first."""
    names, counts = np.unique(y, return_counts=True)
    order = np.lexsort((names, -counts))
    return [str(names[i]) for i in order if counts[i] >= smallest][:most]
