"""Rows of a table chosen at random while it is read once, however long it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.io._table_rows import Rows, tables_library


@dataclass(frozen=True)
class Sample:
    """How rows are chosen."""

    n_rows: int | None  # how many at most; None for all
    seed: int = 0  # of the random numbers
    # says of rows which are likely to be few and must not be lost among the others: up to half the
    # sample is theirs
    rare: Callable[[Rows], Array] | None = None


class Chosen:
    """The rows chosen so far: those with the smallest of random numbers, of each of two kinds.

    ``sample``: how they are chosen.
    """

    def __init__(self, sample: Sample) -> None:
        self._sample, self._random = sample, np.random.default_rng(sample.seed)
        self._kinds = (_Smallest(sample.n_rows), _Smallest(sample.n_rows))
        self._seen = 0
        self._last: Rows | None = None

    def add(self, rows: Rows) -> None:
        """Look at further rows of the table."""
        keys = self._random.random(len(rows))
        places = self._seen + np.arange(len(rows))
        rare = self._sample.rare
        own = np.zeros(len(rows), dtype=bool) if rare is None else rare(rows)
        for kind, members in zip(self._kinds, (own, ~own), strict=True):
            if members.any():
                kind.add(rows.arrow, keys, places, members)
        self._seen += len(rows)
        self._last = rows if self._last is None else self._last

    def rows(self) -> Rows:
        """Return the rows, in the order of the table."""
        assert self._last is not None  # a table has rows
        n_rows = self._sample.n_rows
        limits = (
            [None, None] if n_rows is None else even_limits([k.size for k in self._kinds], n_rows)
        )
        parts = [k.smallest(limit) for k, limit in zip(self._kinds, limits, strict=True) if k.size]
        arrow = tables_library("pyarrow")
        table = arrow.concat_tables([part[0] for part in parts], promote_options="permissive")
        places = np.concatenate([part[1] for part in parts])
        order = np.argsort(places)
        if (np.diff(places) < 0).any():
            table = table.take(arrow.array(order))
        some = places.size < self._seen
        return Rows(
            self._last.path,
            table,
            self._last.first,
            places[order] if some else None,
            self._seen if some else None,
        )


class _Smallest:
    """Rows with the smallest keys."""

    def __init__(self, n_rows: int | None) -> None:
        self._n_rows, self._bound = n_rows, np.inf
        self._parts: list[tuple[Any, Array, Array]] = []
        self.size = 0

    def add(self, table: Any, keys: Array, places: Array, members: Array) -> None:
        """Look at further rows, of which the members count."""
        kept = members & (keys < self._bound)
        if not kept.all():
            table = table.filter(tables_library("pyarrow").array(kept))
        self._parts.append((table, places[kept], keys[kept]))
        self.size += int(kept.sum())
        if self._n_rows is not None and self.size > 2 * self._n_rows:
            self.smallest(self._n_rows)
            self._bound = self._parts[0][2].max()

    def smallest(self, n_rows: int | None) -> tuple[Any, Array]:
        """Keep no more than so many rows, and return them with their places."""
        arrow = tables_library("pyarrow")
        table = arrow.concat_tables([part[0] for part in self._parts], promote_options="permissive")
        places, keys = (np.concatenate([part[i] for part in self._parts]) for i in (1, 2))
        if n_rows is not None and n_rows < keys.size:
            few = np.sort(np.argpartition(keys, n_rows)[:n_rows])
            table, places, keys = table.take(arrow.array(few)), places[few], keys[few]
        self._parts, self.size = [(table, places, keys)], keys.size
        return table, places


def even_limits(sizes: Sequence[int], total: int) -> list[int]:
    """Return how much of each size is kept, the smaller ones first, so that it is the total."""
    limits, left = [0] * len(sizes), total
    for done, place in enumerate(sorted(range(len(sizes)), key=lambda place: sizes[place])):
        limits[place] = min(sizes[place], left // (len(sizes) - done))
        left -= limits[place]
    return limits
