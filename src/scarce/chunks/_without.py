"""Rows in chunks without a part of them, and what a model of the others says of that part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.chunks._chunks import Chunks, Part
from scarce.kernels.rows._row_bits import row_bits

FEWEST_PARTS = 10
ENOUGH = 100_000  # rows left out, from which a threshold is as exact as anybody needs


@dataclass(frozen=True)
class Parts:
    """A cut of all rows into parts by the values of the rows alone: equal rows are together.

    Attributes
    ----------
    number : int
        How many parts.
    left_out : int
        How many of them, the first ones, are to be left out, one after the other.
    kept : ndarray of uint64
        Bits of rows that are in no part, ascending.
    """

    number: int
    left_out: int
    kept: Array

    @classmethod
    def of(cls, n_rows: int, kept: Array | None = None) -> Parts:
        """Return ten parts, all to be left out; of many rows as many as are enough.

        ``kept`` are rows that are never left out, nor their equals.
        """
        number = max(FEWEST_PARTS, n_rows // ENOUGH)
        left_out = int(np.clip(-(-ENOUGH * number // n_rows), 1, FEWEST_PARTS))
        bits = np.zeros(0, np.uint64) if kept is None else np.unique(row_bits(kept))
        return cls(number, left_out, bits)

    def of_rows(self, X: Array) -> Array:
        """Return the part of every row, one more than the last for rows of none."""
        bits = row_bits(X)
        found = ((bits >> np.uint64(33)) % np.uint64(self.number)).astype(np.intp)
        # By sorting: NumPy 2.0 takes the range of unsigned numbers of 64 bits for negative.
        found[np.isin(bits, self.kept, kind="sort")] = self.number
        return np.asarray(found)


class WithoutPart:
    """Rows in chunks of which one part has no weight.

    Parameters
    ----------
    chunks : Chunks
        All rows.
    parts : Parts
        Of the rows.
    which : int
        The part left out.
    """

    lazy = True

    def __init__(self, chunks: Chunks, parts: Parts, which: int) -> None:
        self.chunks = chunks
        self.parts = parts
        self.which = which
        self.sizes = chunks.sizes  # rows left out count too
        self.n_features = chunks.n_features
        self.dtype = chunks.dtype
        self.feature_names = chunks.feature_names

    def map(
        self, function: Callable[..., Any], *broadcast: Any, only: Iterable[int] | None = None
    ) -> list[Any]:
        """Return ``function(part, *broadcast)`` for every chunk, or for some, in their order."""
        return self.chunks.map(_others, self.parts, self.which, function, *broadcast, only=only)

    def reduce(
        self,
        function: Callable[..., Any],
        join: Callable[[Any, Any], Any],
        *broadcast: Any,
    ) -> Any:
        """Return ``function(part, *broadcast)`` of all chunks, joined to one answer."""
        return self.chunks.reduce(_others, join, self.parts, self.which, function, *broadcast)

    def scores(self, score: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Return a score for every row left out that has a weight, and the weights."""
        found = self.chunks.map(_scored, self.parts, self.which, score)
        return np.concatenate([each[0] for each in found]), np.concatenate(
            [each[1] for each in found]
        )


def without(part: Part, parts: Parts, which: int) -> Part:
    """Return the same rows, those of a part without weight.

    Parameters
    ----------
    part : Part
        Some rows.
    parts : Parts
        Of all rows.
    which : int
        The one left out.

    Returns
    -------
    Part
        The rows.
    """
    weights = np.where(parts.of_rows(part.X) == which, 0.0, part.weights)
    return replace(part, values={**part.values, "sample_weight": weights})


def _others(
    part: Part, parts: Parts, which: int, function: Callable[..., Any], *broadcast: Any
) -> Any:
    return function(without(part, parts, which), *broadcast)


def _scored(
    part: Part, parts: Parts, which: int, score: Callable[[Array], Array]
) -> tuple[Array, Array]:
    some = np.flatnonzero((parts.of_rows(part.X) == which) & (part.weights > 0))
    scores = np.asarray(score(part.X[some])) if some.size else np.zeros(0)
    return scores, part.weights[some]


def _weights(part: Part, parts: Parts) -> Array:
    return np.bincount(parts.of_rows(part.X), part.weights, minlength=parts.number + 1)


def part_weights(chunks: Chunks, parts: Parts) -> Array:
    """Return the weight of every part.

    Parameters
    ----------
    chunks : Chunks
        The rows.
    parts : Parts
        Of them.

    Returns
    -------
    ndarray of shape (n_parts + 1,)
        Sums of the weights of their rows; the last of rows that are in none.
    """
    return np.asarray(chunks.reduce(_weights, np.add, parts))
