"""Random parts of weighted rows, such that a row of weight 2 is the row given twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array


@dataclass(frozen=True)
class Pool:
    """Different rows, in an order that their values alone decide.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Where in `X` each stands, once.
    weights : ndarray of shape (n,)
        Sum of the weights of all rows that equal it.
    """

    rows: Array
    weights: Array

    @property
    def n(self) -> int:
        return self.rows.size

    @property
    def total(self) -> float:
        return float(self.weights.sum())


def pool(keys: Array, indices: Array, weights: Array) -> Pool:
    """Return the different rows among ``indices``; ``keys`` are equal for equal rows."""
    _, first, which = np.unique(keys[indices], return_index=True, return_inverse=True)
    return Pool(indices[first], np.bincount(which, weights[indices]))


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
