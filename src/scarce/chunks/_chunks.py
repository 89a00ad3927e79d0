"""Rows that come in chunks: what a fit asks of them, whoever holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from typing import Any, Protocol

import numpy as np

from scarce._arrays import Array

BLOCK_VALUES = 1 << 18  # numbers that a pass holds at a time, 2 MB
SMALLEST_BLOCK = 256
FAN = 8  # answers of chunks that are joined at a time


class ChunkError(OSError):
    """A chunk could not be read, or is no longer what it was."""


@dataclass(frozen=True)
class Part:
    """Some rows that follow each other, with one value per row of everything else.

    Attributes
    ----------
    index : int
        Number of the chunk that they are of.
    first : int
        Number of their first row among all.
    X : ndarray of shape (n, d)
        The rows.
    values : dict of str to ndarray of shape (n,)
        Labels, weights, domains, groups.
    """

    index: int
    first: int
    X: Array
    values: dict[str, Array] = field(default_factory=dict)

    @property
    def weights(self) -> Array:
        """Return the weights; rows of weight zero or less take no part."""
        given = self.values.get("sample_weight")
        if given is None:
            return np.ones(self.X.shape[0])
        return np.maximum(np.asarray(given, dtype=np.float64), 0.0)

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return f"chunk {self.index} (rows {self.first} to {self.first + self.X.shape[0] - 1})"

    def rows(self, some: slice | Array) -> Part:
        """Return some of the rows, a slice of them or those of the given positions."""
        first = self.first + (some.start or 0) if isinstance(some, slice) else self.first
        values = {name: value[some] for name, value in self.values.items()}
        return Part(self.index, first, self.X[some], values)

    def blocks(self, width: int) -> Iterator[Part]:
        """Cut the rows into pieces for which so many numbers a row are no burden."""
        step = max(SMALLEST_BLOCK, BLOCK_VALUES // max(1, width, self.X.shape[1]))
        for start in range(0, self.X.shape[0], step):
            yield self.rows(slice(start, min(start + step, self.X.shape[0])))


class Chunks(Protocol):
    """Rows in chunks, in memory, on a disk or on other computers.

    Attributes
    ----------
    sizes : tuple of int
        Number of rows of every chunk.
    n_features : int
        Number of columns.
    dtype : dtype
        Of the rows, float32 or float64.
    feature_names : ndarray of str, or None
        Names of the columns.
    """

    sizes: tuple[int, ...]
    n_features: int
    dtype: Any
    feature_names: Array | None

    def map(
        self, function: Callable[..., Any], *broadcast: Any, only: Iterable[int] | None = None
    ) -> list[Any]:
        """Return ``function(part, *broadcast)`` for every chunk, or for some, in their order.

        Parameters
        ----------
        function : callable
            A pure function of a `Part` and of what is broadcast.
        broadcast : objects
            Small things that every call is given.
        only : iterable of int, optional
            Numbers of the chunks, ascending; all by default.

        Returns
        -------
        list
            The results.
        """

    def reduce(
        self,
        function: Callable[..., Any],
        join: Callable[[Any, Any], Any],
        *broadcast: Any,
    ) -> Any:
        """Return the answers of all chunks joined to one, where the chunks are.

        Parameters
        ----------
        function : callable
            As for `map`.
        join : callable
            Makes one answer of two, those of earlier chunks first.
        broadcast : objects
            As for `map`.

        Returns
        -------
        object
            What `folded` makes of the answers: always joined in the same order, so that sums have
            the same bits whoever holds the rows.
        """


def folded(answers: Iterable[Any], number: int, join: Callable[[Any, Any], Any]) -> Any:
    """Return so many answers joined to one: neighbours first, then what came of them, and so on.

    Few are held at a time if they come one by one.
    """
    answers = iter(answers)
    while number > 1:
        answers = _joined_neighbours(answers, join)
        number = -(-number // FAN)
    (answer,) = answers
    return answer


def _joined_neighbours(answers: Iterator[Any], join: Callable[[Any, Any], Any]) -> Iterator[Any]:
    while some := list(islice(answers, FAN)):
        yield reduce(join, some)


def starts(chunks: Chunks) -> Array:
    """Return the number of every chunk's first row, and at the end the number of rows."""
    return np.concatenate([[0], np.cumsum(chunks.sizes, dtype=np.int64)])


def _gather(part: Part, indices: Array) -> Part:
    inside = slice(*np.searchsorted(indices, [part.first, part.first + part.X.shape[0]]))
    chosen = part.rows(indices[inside] - part.first)
    return Part(part.index, part.first, np.array(chosen.X), chosen.values)


def take(chunks: Chunks, indices: Array) -> Part:
    """Return the rows of the given numbers.

    ``indices``: numbers of rows, ascending. Returned: these rows, and their other values, in
    memory.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.chunks import ArrayChunks, take
    >>> take(ArrayChunks(np.arange(10.0)[:, None], rows=4), np.array([1, 7, 8])).X.ravel()
    array([1., 7., 8.])
    """
    touched = np.unique(np.searchsorted(starts(chunks), indices, side="right") - 1)
    parts = chunks.map(_gather, indices, only=touched.tolist())
    return joined(parts)


def joined(parts: list[Part]) -> Part:
    """Return the rows of some parts as one."""
    names = parts[0].values
    return Part(
        parts[0].index,
        parts[0].first,
        np.concatenate([part.X for part in parts]),
        {name: np.concatenate([part.values[name] for part in parts]) for name in names},
    )


def check_width(n_features: int) -> None:
    """Refuse rows without a column."""
    if n_features == 0:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")


def check_numbers(kinds: Mapping[str, Any]) -> None:
    """Refuse columns that are no numbers, given by name with the types that they have.

    Columns of objects pass: what they hold is seen when they are read.
    """
    others = [f"{name} ({kind})" for name, kind in kinds.items() if not _may_be_numbers(kind)]
    if others:
        raise ValueError(
            f"X must hold real numbers, got {', '.join(others)}. Leave such columns out, or name "
            "one as y, sample_weight, sample_domain or groups"
        )


def _may_be_numbers(kind: Any) -> bool:
    if str(kind) in ("category", "string", "str"):  # which pandas counts among objects
        return False
    return getattr(kind, "kind", "?") in "biufO"


def read_error(index: int, rows: tuple[int, int], source: str, error: BaseException) -> ChunkError:
    """Return the error that names a chunk which could not be read."""
    return ChunkError(
        f"chunk {index} (rows {rows[0]} to {rows[1] - 1}{source}) could not be read: "
        f"{type(error).__name__}: {error}"
    )
