"""The first read: what has to be known of all rows before anything can be fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.chunks._chunks import Chunks, Part, take
from scarce.kernels.functions._gamma import gamma_of_variance


@dataclass(frozen=True)
class Survey:
    """What one pass finds."""

    taking: Array  # (n_chunks,): rows of positive weight in every chunk
    weight: float  # sum of all weights
    # classes, totals: the labels, or whatever value of the rows was asked for, sorted, and the
    # weight of each
    classes: Array
    totals: Array
    # for every chunk, its labels and how many rows of positive weight have each
    labelled: list[tuple[Array, Array]]
    largest: float  # largest absolute value of a feature
    # weighted sums of all entries and of their squares, around an origin
    moments: tuple[float, float]
    origin: float  # near the mean
    width: int  # number of features

    @property
    def scale(self) -> float:
        """Return ``1 / (n_features * variance of all entries)``, rows counted by their weights."""
        total = self.weight * self.width
        first, second = self.moments[0] / total, self.moments[1] / total
        return gamma_of_variance(self.origin + first, second - first**2, self.width)

    @property
    def members(self) -> Array:
        """Return how many rows of positive weight each chunk has of each label."""
        counts = np.zeros((len(self.labelled), self.classes.size), np.int64)
        for row, (classes, own) in zip(counts, self.labelled, strict=True):
            row[np.searchsorted(self.classes, classes)] = own
        return counts

    def reweighted(self, X: Array, more: Array) -> Survey:
        """Return the survey of the same rows, some of which weigh more or less by so much."""
        tile = np.subtract(X, self.origin, dtype=np.float64)
        first = self.moments[0] + float(more @ tile.sum(axis=1))
        second = self.moments[1] + float(more @ np.einsum("ij,ij->i", tile, tile))
        return replace(self, weight=self.weight + float(more.sum()), moments=(first, second))


@dataclass(frozen=True)
class _Found:
    """What `_survey` returns of a part."""

    taking: int
    weight: float
    classes: Array
    totals: Array
    counts: Array
    largest: float
    first: float
    second: float


def _missing(labels: Array) -> Array:
    """Return which labels are none: not a number, or None, which words may be."""
    missing = labels != labels
    if labels.dtype == object:
        missing = missing | np.array([label is None for label in labels], dtype=bool)
    return np.asarray(missing)


def _survey(part: Part, origin: float, by: str) -> _Found:
    weights = part.weights
    if not np.isfinite(weights).all():
        raise ValueError(f"Input sample_weight contains NaN or infinity: {part.name}")
    largest, first, second = 0.0, 0.0, 0.0
    for block in part.blocks(part.X.shape[1]):
        low, high = float(block.X.min()), float(block.X.max())
        if not -np.inf < low <= high < np.inf:
            kind = "NaN" if np.isnan(low) else "infinity"
            raise ValueError(f"Input X contains {kind}: {part.name}")
        largest = max(largest, high, -low)
        own = block.weights
        tile = np.subtract(block.X, origin, dtype=np.float64)
        tile[own == 0] = 0.0
        first += float(own @ tile.sum(axis=1))
        second += float(own @ np.einsum("ij,ij->i", tile, tile))
    labels = part.values.get(by)
    classes: Array = np.zeros(0)
    totals: Array = np.zeros(0)
    counts: Array = np.zeros(0, np.int64)
    if labels is not None:
        if _missing(labels).any():
            raise ValueError(f"Input {by} contains NaN or None: {part.name}")
        classes, codes = np.unique(labels, return_inverse=True)
        totals = np.bincount(codes, weights, minlength=classes.size)
        counts = np.bincount(codes, weights > 0, minlength=classes.size).astype(np.int64)
    taking = int(np.count_nonzero(weights))
    return _Found(taking, float(weights.sum()), classes, totals, counts, largest, first, second)


def survey(chunks: Chunks, by: str = "y") -> Survey:
    """Read all rows once.

    ``by``: the value of the rows whose labels are counted. Returned: weights, classes, range and
    variance.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.chunks import ArrayChunks, survey
    >>> found = survey(ArrayChunks(np.array([[0.0], [2.0], [4.0]]), y=[1, 0, 1]))
    >>> found.classes, found.totals, round(found.scale, 6)
    (array([0, 1]), array([1., 2.]), 0.375)
    """
    few = take(chunks, np.arange(min(64, sum(chunks.sizes))))
    with np.errstate(invalid="ignore"):
        origin = float(np.mean(few.X, dtype=np.float64))
    origin = origin if np.isfinite(origin) else 0.0
    found: list[_Found] = chunks.map(_survey, origin, by)
    classes: Array = np.zeros(0)
    totals: Array = np.zeros(0)
    labelled = [each for each in found if each.classes.size]
    if labelled:
        every = np.concatenate([each.classes for each in labelled])
        classes, codes = np.unique(every, return_inverse=True)
        totals = np.bincount(codes, np.concatenate([each.totals for each in labelled]))
    return Survey(
        taking=np.array([each.taking for each in found]),
        weight=float(sum(each.weight for each in found)),
        classes=classes,
        totals=totals,
        labelled=[(each.classes, each.counts) for each in found],
        largest=max(each.largest for each in found),
        moments=(sum(each.first for each in found), sum(each.second for each in found)),
        origin=origin,
        width=chunks.n_features,
    )


Among = tuple[str, Any]  # a value of the rows, and which rows are meant: those that have this one


def _positions(part: Part, wanted: dict[int, Array], among: Among | None) -> Array:
    meant = part.weights > 0
    if among is not None:
        meant &= part.values[among[0]] == among[1]
    return part.first + np.flatnonzero(meant)[wanted[part.index]]


def row_numbers(chunks: Chunks, taking: Array, places: Array, among: Among | None = None) -> Array:
    """Return the numbers of the rows that have given places among those of positive weight.

    ``taking``: rows of positive weight that are meant, in every chunk. ``among``: name of a value
    of the rows, and the one that the rows which are meant have; all rows by default.
    """
    if (taking == np.asarray(chunks.sizes)).all():
        return places
    if places.size == 0:
        return np.zeros(0, np.int64)
    ends = np.concatenate([[0], np.cumsum(taking)])
    owners = np.searchsorted(ends, places, side="right") - 1
    wanted = {int(i): places[owners == i] - ends[i] for i in np.unique(owners)}
    return np.concatenate(chunks.map(_positions, wanted, among, only=sorted(wanted)))
