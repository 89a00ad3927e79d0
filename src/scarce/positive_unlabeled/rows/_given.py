"""What `fit` of the machines for positive and unlabelled rows was given, in memory or in chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._by_chunks import surveyed
from scarce._data import budget, comes_in_chunks
from scarce._frame import checked_weights
from scarce.chunks import COPIES, PER_ROW, Chunks, DaskChunks, Part, as_chunks
from scarce.positive_unlabeled.rows._chunk_rows import ChunkRows
from scarce.positive_unlabeled.rows._labels import Labels, check_both, read_labels
from scarce.positive_unlabeled.rows._row_source import RowSource, checked_rows, learner_kernel

FEWEST = 2000  # rows in memory that a fit must be allowed


@dataclass(frozen=True)
class Given:
    """Checked rows.

    Attributes
    ----------
    rows : RowSource
        The rows.
    positive, negative : ndarray of bool of shape (n,)
        Which are labelled as positive, and which were checked and are not.
    weights : ndarray of shape (n,)
        Their weights, not negative.
    weighted : bool
        Whether they were given.
    """

    rows: RowSource
    positive: Array
    negative: Array
    weights: Array
    weighted: bool

    @property
    def unlabelled(self) -> Array:
        """Which are neither."""
        return ~(self.positive | self.negative)


def given_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, kernel: Any, bytes_a_row: int
) -> Given:
    """Return checked rows; the estimator is told its features, `classes_` and `pos_label_`.

    Parameters
    ----------
    estimator : estimator
        What is fitted.
    X, y, sample_weight
        As given to `fit`.
    kernel : str, kernel object or callable
        Of the learner.
    bytes_a_row : int
        What the fit holds here for every row, wherever that is.

    Returns
    -------
    Given
        The rows.
    """
    if comes_in_chunks(X):
        given = _in_chunks(estimator, X, y, sample_weight, kernel, bytes_a_row)
    else:
        rows, y = checked_rows(estimator, X, kernel, y, reset=True)
        labels = settle_labels(estimator, y)
        weights = checked_weights(sample_weight, y)
        weighted = sample_weight is not None
        given = Given(rows, labels.positive, labels.negative, weights, weighted)
    check_both(given.positive, given.unlabelled, given.weights)
    return given


def settle_labels(estimator: Any, y: Array) -> Labels:
    """Return what labels mean, and tell the estimator its `classes_` and `pos_label_`."""
    neg_label = getattr(estimator, "neg_label", None)
    labels = read_labels(y, estimator.pos_label, type(estimator).__name__, neg_label=neg_label)
    estimator.classes_, estimator.pos_label_ = labels.classes, labels.pos_label
    return labels


def _in_chunks(
    estimator: Any, X: Any, y: Any, sample_weight: Any, kernel: Any, bytes_a_row: int
) -> Given:
    if not learner_kernel(kernel).has_formula:
        raise ValueError(
            f"kernel={kernel!r} needs all rows in memory; rows in chunks are fitted with a kernel "
            "that has a formula"
        )
    chunks = as_chunks(X, y=y, sample_weight=sample_weight)
    if isinstance(chunks, DaskChunks):
        chunks.check_workers()
    most_rows = _rows_at_a_time(chunks, estimator.max_memory, bytes_a_row)
    found = surveyed(estimator, chunks)
    if found.classes.size == 0:
        raise ValueError("a fit of positive and unlabelled rows needs y, one label a row")
    settle_labels(estimator, found.classes)
    neg_label = getattr(estimator, "neg_label", None)
    answers = chunks.map(_values, estimator.pos_label_, neg_label)
    positive, negative = (np.concatenate([each[k] for each in answers]) for k in (0, 1))
    weighted = answers[0][2] is not None
    weights = np.broadcast_to(1.0, positive.size)  # which takes no memory
    if weighted:
        weights = np.concatenate([each for _, _, each in answers])
    if isinstance(chunks, DaskChunks):
        chunks = chunks.rows_only()  # labels and weights are here now
    rows = ChunkRows(chunks, found, weights, most_rows)
    return Given(rows, positive, negative, weights, weighted)


def _values(part: Part, label: Any, neg_label: Any) -> tuple[Array, Array, Array | None]:
    """Return which rows of a part have one label, or the other, and weights if there are any."""
    weights = part.weights if "sample_weight" in part.values else None
    y = part.values["y"]
    negative = np.zeros(len(y), bool) if neg_label is None else np.asarray(y == neg_label)
    return np.asarray(y == label), negative, weights


def _rows_at_a_time(chunks: Chunks, max_memory: float | None, bytes_a_row: int) -> int:
    """Return how many rows may be in memory at a time; refuse a budget that allows too few."""
    n = sum(chunks.sizes)
    allowed = budget(max_memory)
    held = PER_ROW + (1 + COPIES) * 8 * chunks.n_features
    rows = int((allowed - bytes_a_row * n) / held)
    if rows < min(n, FEWEST):
        given = "a quarter of the free memory" if max_memory is None else "max_memory"
        needed = 1e-6 * (bytes_a_row * n + held * FEWEST)
        raise ValueError(
            f"{given} is {allowed / 1e6:.0f} MB, and this fit needs at least {needed:.0f} MB "
            f"beside the data: {bytes_a_row} bytes for each of {n} rows, and {FEWEST} rows in "
            "memory. Raise max_memory, or give a random part of the unlabelled rows"
        )
    return rows
