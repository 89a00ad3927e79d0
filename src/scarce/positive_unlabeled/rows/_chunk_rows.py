"""Rows in chunks as a source of rows: every chunk is scored where it is, few rows are gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._by_chunks import settled_kernel, surveyed
from scarce._data import budget
from scarce.chunks import (
    COPIES,
    PER_ROW,
    Chunks,
    DaskChunks,
    Part,
    Survey,
    as_chunks,
    starts,
    take,
)
from scarce.kernels import Kernel
from scarce.positive_unlabeled.rows._row_source import RowSource, Scored, learner_kernel

MOST_TRAINED = 100_000  # rows from which a model is sooner trained on those within its margin
FEWEST_HELD = 2000  # rows in memory that a fit must be allowed
FEW_GATHERED = 20_000  # rows that are sooner gathered than asked for where they are


class ChunkRows(Scored):
    """Rows of an array, memory map, Parquet files or Dask collection, chunk by chunk.

    Rows that were gathered are kept, so that those a fit trains on are read once.

    ``found``: what one read of them found. ``weights``: their weights. ``most_rows``: rows that may
    be in memory here at a time.
    """

    def __init__(self, chunks: Chunks, found: Survey, weights: Array, most_rows: int) -> None:
        self.chunks = chunks
        self.found = found
        self.weights = weights
        self.most_rows = most_rows
        self.most_trained = min(MOST_TRAINED, most_rows)
        self.shape: tuple[int, ...] = sum(chunks.sizes), chunks.n_features
        self.starts = starts(chunks)
        self.held = np.zeros(0, np.int64), np.zeros((0, chunks.n_features), chunks.dtype)

    def against(self, columns: Array) -> RowSource:
        return self  # a row of features is the same for every model

    def gather(self, indices: Array) -> Any:
        wanted, back = np.unique(indices, return_inverse=True)
        numbers, rows = self.held
        missing = np.setdiff1d(wanted, numbers, assume_unique=True)
        if missing.size:
            self._check_room(wanted.size)
            if numbers.size + missing.size > self.most_rows:
                numbers, rows = numbers[:0], rows[:0]
                missing = wanted
            more = take(self.chunks, missing).X
            every = np.concatenate([numbers, missing])
            order = np.argsort(every)
            numbers, rows = every[order], np.concatenate([rows, more])[order]
            self.held = numbers, rows
        return rows[np.searchsorted(numbers, wanted)[back]]

    def _check_room(self, n_rows: int) -> None:
        if n_rows > self.most_rows:
            raise ValueError(
                f"max_memory allows {self.most_rows} rows in memory beside one score for each of "
                f"all {self.shape[0]}, and the fit needs {n_rows} at a time: raise max_memory, or "
                "give a random part of the unlabelled rows"
            )

    def blocks(self, indices: Array) -> Iterator[tuple[slice, Any]]:
        owners = np.searchsorted(self.starts, indices, side="right")
        ends = np.flatnonzero(np.diff(owners)) + 1
        for place in np.split(np.arange(indices.size), ends):
            wanted, back = np.unique(indices[place], return_inverse=True)
            yield slice(int(place[0]), int(place[-1]) + 1), take(self.chunks, wanted).X[back]

    def each(self, indices: Array, function: Callable[[Any], Any]) -> Array:
        if indices.dtype == np.bool_:
            return self._where_they_are(indices, function)
        if indices.size <= FEW_GATHERED or np.isin(indices, self.held[0]).all():
            return np.asarray(function(self.gather(indices)))
        inside = np.zeros(self.shape[0], bool)
        inside[indices] = True
        place = np.cumsum(inside, dtype=np.int64 if inside.size >= 2**31 else np.int32) - 1
        return np.asarray(self._where_they_are(inside, function)[place[indices]])

    def _where_they_are(self, inside: Array, function: Callable[[Any], Any]) -> Array:
        """Return a function's answers for some rows, one bit a row says which, in their order."""
        owners = np.flatnonzero(np.logical_or.reduceat(inside, self.starts[:-1]))
        if owners.size == 0:
            return np.zeros(0)
        inside_bits = None if inside.all() else np.packbits(inside)
        return np.concatenate(self.chunks.map(_each, function, inside_bits, only=owners.tolist()))

    def scale_gamma(self, weights: Array) -> float:
        return self._surveyed(weights).scale

    def settled(self, kernel: Kernel, weights: Array) -> Kernel:
        return settled_kernel(kernel, self._surveyed(weights))

    def _surveyed(self, weights: Array) -> Survey:
        """Return the survey for other weights; rows whose weight changed must be few."""
        other = np.flatnonzero(weights != self.weights)
        if other.size == 0:
            return self.found
        return self.found.reweighted(self.gather(other), weights[other] - self.weights[other])


def _each(part: Part, function: Callable[[Any], Any], inside_bits: Array | None) -> Array:
    """Return what a function says of the rows of a part that are asked for, a bit for each."""
    if inside_bits is None:
        return np.asarray(function(part.X))
    stop = part.first + part.X.shape[0]
    bits = np.unpackbits(inside_bits[part.first // 8 : -(-stop // 8)])
    inside = bits[part.first % 8 :][: part.X.shape[0]].astype(bool)
    return np.asarray(function(part.X if inside.all() else part.X[inside]))


Found = tuple[ChunkRows, Array, Array, Array, bool]


def read_chunks(
    estimator: Any, X: Any, y: Any, sample_weight: Any, kernel: Any, bytes_a_row: int
) -> Found:
    """Return rows, which are positive, which negative, their weights, and whether these were given.

    Features and labels are settled in the estimator, a `GivenRows`.
    """
    if not learner_kernel(kernel).has_formula:
        raise ValueError(
            f"kernel={kernel!r} needs all rows in memory; rows in chunks are fitted with a kernel "
            "that has a formula"
        )
    chunks = as_chunks(X, y=y, sample_weight=sample_weight)
    if isinstance(chunks, DaskChunks):
        chunks.check_workers()
    most_rows = _rows_at_a_time(chunks, estimator.max_memory, bytes_a_row)
    found = surveyed(chunks)
    estimator._keep_features_of(chunks)
    if found.classes.size == 0:
        raise ValueError("a fit of positive and unlabelled rows needs y, one label per row")
    estimator._settle_labels(found.classes)
    answers = chunks.map(_values, estimator.pos_label_, estimator.neg_label)
    positive, negative = (np.concatenate([each[k] for each in answers]) for k in (0, 1))
    weighted = answers[0][2] is not None
    weights = np.broadcast_to(1.0, positive.size)  # which takes no memory
    if weighted:
        weights = np.concatenate([each for _, _, each in answers])
    if isinstance(chunks, DaskChunks):
        chunks = chunks.rows_only()  # labels and weights are here now
    rows = ChunkRows(chunks, found, weights, most_rows)
    return rows, positive, negative, weights, weighted


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
    if rows < min(n, FEWEST_HELD):
        given = "a quarter of the free memory" if max_memory is None else "max_memory"
        needed = 1e-6 * (bytes_a_row * n + held * FEWEST_HELD)
        raise ValueError(
            f"{given} is {allowed / 1e6:.0f} MB, and this fit needs at least {needed:.0f} MB "
            f"beside the data: {bytes_a_row} bytes for each of {n} rows, and {FEWEST_HELD} rows in "
            "memory. Raise max_memory, or give a random part of the unlabelled rows"
        )
    return rows
