"""Data sets of the benchmarks: seeded generators, and real sets when ``SCARCE_DATA`` names them.

Every value is a float32 number, also in the float64 version of a set. Both precisions thus state
exactly the same problem, and a library that works in float64 anyway is measured only once.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

N_CLUSTERS = 8
LATENT_FEATURES = 32  # wide data lie near a subspace, as measured data do
TOKENS_PER_TEXT = 84  # gives about 80 different words
N_TOPICS = 20


@dataclass(frozen=True)
class Dataset:
    """Rows in float32 (dense or CSR), labels in {-1, +1} or None, and where they come from."""

    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray | None
    source: str


def load(name: str, n: int, d: int, seed: int = 0) -> Dataset:
    """Return the data set `name`; `n` and `d` size the generated ones."""
    return _load(name, n, d, seed, os.environ.get("SCARCE_DATA"))


def is_available(name: str) -> bool:
    """Tell whether `name` can be had: a generator, or a file that is there."""
    return name not in REAL_ONLY or (_real_folder() / REAL_ONLY[name]).exists()


def _real_folder() -> Path:
    return Path(os.environ.get("SCARCE_DATA") or "no such folder")


@lru_cache(maxsize=2)
def _load(name: str, n: int, d: int, seed: int, folder: str | None) -> Dataset:
    # `folder` is part of the key: the same name may mean a real or a generated set.
    return LOADERS[name](n, d, seed)


def mixture(n: int, d: int, seed: int) -> Dataset:
    """Eight Gaussian clusters of different spread, standardised."""
    rng = np.random.default_rng(seed)
    X, _ = _clusters(rng, n, d, distance=1.5)
    return Dataset(_standardised(X), None, "generated mixture")


def easy_classes(n: int, d: int, seed: int) -> Dataset:
    """Eight clusters, each of one class, that hardly overlap."""
    rng = np.random.default_rng(seed)
    X, cluster = _clusters(rng, n, d, distance=1.5)
    return Dataset(_standardised(X), np.where(cluster % 2, 1.0, -1.0), "generated, little overlap")


def hard_classes(n: int, d: int, seed: int) -> Dataset:
    """Two Gaussians so close that the best rule errs on one row in five."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((n, d))
    X += np.outer(y, np.full(d, 0.84 / np.sqrt(d)))  # error of the best rule: Phi(-0.84) = 0.2
    return Dataset(_standardised(X), y, "generated, strong overlap")


def text(n: int, d: int, seed: int) -> Dataset:
    """Bags of words with Zipf frequencies and topics, tf-idf weighted, rows of length 1."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(10, d + 10)
    cumulative = np.cumsum(frequency / frequency.sum())
    topic_words = np.argsort(rng.random((N_TOPICS, d)), axis=1)
    length = np.maximum(rng.poisson(TOKENS_PER_TEXT, n), 1)
    row = np.repeat(np.arange(n), length)
    word = np.minimum(np.searchsorted(cumulative, rng.random(row.size)), d - 1)
    topic = rng.integers(N_TOPICS, size=n)[row]
    from_topic = rng.random(row.size) < 0.5
    word[from_topic] = topic_words[topic[from_topic], word[from_topic]]
    counts = sparse.csr_matrix((np.ones(row.size), (row, word)), shape=(n, d))
    return Dataset(_weighted(counts), None, "generated text")


def letters() -> tuple[np.ndarray, np.ndarray]:
    """Return the standardised images of Letter Recognition and the letters they show."""
    with gzip.open(_real_folder() / REAL_ONLY["letter"], "rt") as lines:
        table = np.array([line.rstrip().split(",") for line in lines][1:])
    return _standardised(table[:, :-1].astype(float)), table[:, -1]


def letter(n: int, d: int, seed: int) -> Dataset:
    """Letter Recognition, A-M against N-Z: 20,000 rows, 16 features."""
    X, names = letters()
    return Dataset(X, np.where(names > "M", 1.0, -1.0), "letter")


def isolet(n: int, d: int, seed: int) -> Dataset:
    """ISOLET (7,797 x 617), or a generated set of the size asked for."""
    path = _real_folder() / "isolet.npz"
    if not path.exists() or (n, d) != (7797, 617):
        return mixture(n, d, seed)
    with np.load(path) as archive:
        return Dataset(_standardised(archive["X"].astype(float)), None, "isolet")


def newsgroups(n: int, d: int, seed: int) -> Dataset:
    """The first `n` messages of 20 Newsgroups, their `d` most frequent words."""
    with gzip.open(_real_folder() / REAL_ONLY["newsgroups"], "rt", encoding="utf-8") as lines:
        messages = [json.loads(line)["text"] for _, line in zip(range(n), lines, strict=False)]
    X = TfidfVectorizer(max_features=d).fit_transform(messages)
    return Dataset(sparse.csr_matrix(X, dtype=np.float32), None, "20 newsgroups")


def _clusters(
    rng: np.random.Generator, n: int, d: int, distance: float
) -> tuple[np.ndarray, np.ndarray]:
    # The clusters are drawn before the rows: every n samples one and the same distribution.
    latent = min(d, LATENT_FEATURES)
    centres = distance * rng.standard_normal((N_CLUSTERS, latent))
    spread = np.geomspace(0.4, 1.6, N_CLUSTERS)
    loadings = np.eye(d) if latent == d else rng.standard_normal((latent, d)) / np.sqrt(latent)
    cluster = rng.integers(N_CLUSTERS, size=n)
    X = centres[cluster] + spread[cluster, None] * rng.standard_normal((n, latent))
    if latent < d:
        X = X @ loadings + 0.3 * rng.standard_normal((n, d))
    return X, cluster


def _standardised(X: np.ndarray) -> np.ndarray:
    scale = X.std(axis=0)
    scale[scale == 0] = 1.0
    return ((X - X.mean(axis=0)) / scale).astype(np.float32)


def _weighted(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    return sparse.csr_matrix(TfidfTransformer().fit_transform(counts), dtype=np.float32)


REAL_ONLY = {"letter": "letter.csv.gz", "newsgroups": "20newsgroups_bydate.jsonl.gz"}

LOADERS: dict[str, Callable[[int, int, int], Dataset]] = {
    "mixture": mixture,
    "easy": easy_classes,
    "hard": hard_classes,
    "text": text,
    "letter": letter,
    "isolet": isolet,
    "newsgroups": newsgroups,
}
