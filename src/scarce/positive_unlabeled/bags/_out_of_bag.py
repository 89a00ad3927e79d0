"""Scores of rows by the bags that were not trained on them, whatever is in the bags."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scarce._arrays import Array
from scarce._frame import FitTask
from scarce.positive_unlabeled.bags._design import Design, Part
from scarce.positive_unlabeled.bags._ranks import gain_of_area


class HeldOutSums:
    """Sums of scores and how many there are, one of each a row."""

    def __init__(self, n_rows: int) -> None:
        self.sums, self.times = np.zeros(n_rows), np.zeros(n_rows)

    def add(self, rows: Array, scores: Array) -> None:
        self.sums[rows] += scores
        self.times[rows] += 1.0

    def means(self) -> Array:
        return np.asarray(self.sums / np.maximum(self.times, 1.0))


@dataclass(frozen=True)
class OutOfBag(ABC):
    """Fitted bags, and what they say of rows they were not trained on."""

    design: Design  # how they were drawn
    # positive, negative: scores of the labelled rows and of the checked negatives, each the mean
    # over the bags without the row
    positive: Array
    negative: Array

    @abstractmethod
    def unlabelled(self, some: Array) -> Array:
        """Return the scores of unlabelled rows, by number in their pool."""

    def others(self, some: Array) -> Array:
        """Return the scores of unlabelled rows, then those of the checked negatives."""
        return np.concatenate([self.unlabelled(some), self.negative])


class Bags(Protocol):
    """What fits bags."""

    def fitted(self, design: Design, parts: Sequence[Part], task: FitTask) -> OutOfBag:
        """Fit the bags."""


def clearly_best(
    tried: Sequence[OutOfBag], sample: tuple[Array, Array], *, errors: float = 1.0
) -> tuple[OutOfBag, Array]:
    """Return what has the largest area under the curve, or the first if that is no clear gain.

    Clear is more than a standard error of the gain (or so many ``errors``): areas of few labelled
    rows are noisy, and the largest of several is often the luckiest. ``sample`` are
    unlabelled rows, by number, and their weights; the second value is what their scores are, and
    those of checked negatives.
    """
    first, *others = tried
    design = first.design
    weights = design.positives.weights, np.concatenate([sample[1], design.negatives.weights])
    before = first.others(sample[0])
    best, scores, largest = first, before, 0.0
    for other in others:
        found = other.others(sample[0])
        gain, error = gain_of_area((other.positive, found), (first.positive, before), weights)
        if gain > max(largest, errors * error):
            best, scores, largest = other, found, gain
    return best, scores
