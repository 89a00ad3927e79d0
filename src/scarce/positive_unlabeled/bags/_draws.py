"""Random parts of weighted rows, such that a row of weight 2 is the row given twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels import Kernel
from scarce.positive_unlabeled.rows._row_source import RowSource, Scored


@dataclass(frozen=True)
class Pool:
    """Different rows, in an order that their values alone decide."""

    rows: Array  # (n,): their numbers, each once
    weights: Array  # (n,): sum of the weights of all rows that equal it

    @property
    def n(self) -> int:
        return self.rows.size

    @property
    def total(self) -> float:
        return float(self.weights.sum())


class Renumbered(Scored):
    """Some rows of a source under new numbers.

    ``where``: the row of the source behind each new number. ``numbers``: the new number of each row
    of the source, or of one that equals it; -1 for none.
    """

    def __init__(self, source: RowSource, where: Array, numbers: Array) -> None:
        self.source = source
        self.where = where
        self.numbers = numbers
        self.shape = (where.size, *source.shape[1:])

    def against(self, columns: Array) -> RowSource:
        return Renumbered(self.source.against(self.where[columns]), self.where, self.numbers)

    def gather(self, indices: Array) -> Any:
        return self.source.gather(self.where[indices])

    def blocks(self, indices: Array) -> Iterator[tuple[slice, Any]]:
        return self.source.blocks(self.where[indices])

    def each(self, indices: Array, function: Callable[[Any], Any]) -> Array:
        return self.source.each(self.where[indices], function)

    def scale_gamma(self, weights: Array) -> float:
        return self.source.scale_gamma(self._weights_of_all(weights))

    def settled(self, kernel: Kernel, weights: Array) -> Kernel:
        return self.source.settled(kernel, self._weights_of_all(weights))

    def _weights_of_all(self, weights: Array) -> Array:
        all_weights = np.zeros(self.source.shape[0])
        all_weights[self.where] = weights
        return all_weights


def pools(
    source: RowSource, keys: Array, kinds: Sequence[Array], weights: Array
) -> tuple[Renumbered, list[Pool]]:
    """Return the different rows of some kinds, one kind after another, and the pool of each.

    ``kinds`` say of every row whether it belongs to the kind. ``keys`` are equal for equal rows,
    and put them in order, so that neither the order of the rows given nor a row given twice in
    place of one of weight 2 changes any number.
    """
    found: list[Pool] = []
    where: list[Array] = []
    numbers, n = np.full(keys.size, -1), 0
    for chosen in kinds:
        indices = np.flatnonzero(chosen & (weights > 0))
        _, first, which = np.unique(keys[indices], return_index=True, return_inverse=True)
        numbers[indices] = which + n
        where.append(indices[first])
        found.append(Pool(np.arange(n, n + first.size), np.bincount(which, weights[indices])))
        n += first.size
    return Renumbered(source, np.concatenate(where), numbers), found


def draw(random: np.random.Generator, masses: Array, n: float) -> tuple[Array, Array]:
    """Return about ``n`` rows drawn without replacement, and how often each was drawn.

    The masses, put one after another, are cut into cells of mass 1 or so, and from each of ``n``
    random cells comes the row at a random place: for masses of 1 a plain draw.
    """
    ends = np.cumsum(masses)
    n_cells = max(1, round(float(ends[-1])))
    wanted = min(n_cells, max(1, round(n)))
    cells = random.choice(n_cells, wanted, replace=False, shuffle=False)
    places = (cells + random.random(wanted)) * (ends[-1] / n_cells)
    rows = np.minimum(np.searchsorted(ends, places, "right"), ends.size - 1)
    found, counts = np.unique(rows, return_counts=True)
    return found, counts.astype(np.float64)


def folds(random: np.random.Generator, weights: Array, k: int) -> Array:
    """Return a fold per row: the rows in random order, cut into ``k`` parts of equal weight."""
    order = random.permutation(weights.size)
    if np.ptp(weights) == 0:
        places = (np.arange(weights.size) * k) // weights.size
    else:
        middles = np.cumsum(weights[order]) - weights[order] / 2.0
        places = np.minimum((middles * (k / weights.sum())).astype(np.intp), k - 1)
        if np.unique(places).size < k:  # one row outweighs others: as many rows in each
            places = (np.arange(weights.size) * k) // weights.size
    number = np.empty(weights.size, np.intp)
    number[order] = places
    return number
