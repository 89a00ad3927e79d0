"""Which columns moved the scores of some rows: those at the head of the list."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.cli.scores._answers import direction
from scarce.io import tables_library

AT_ONCE = 100  # rows explained together


class Head:
    """The first rows of a list, as the model sees them, to be explained in the end."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._parts: list[tuple[Any, Array, Array]] = []
        self._size, self._bound = 0, np.inf

    def add(self, X: Any, keys: Array, places: Array) -> None:
        """Look at further rows, with what they are sorted by and how many came before each."""
        if self._bound < np.inf:
            kept = np.flatnonzero(keys < self._bound)
            X, keys, places = _taken(X, kept), keys[kept], places[kept]
        self._parts.append((X, keys, places))
        self._size += len(keys)
        if self._size > 2 * self._n_rows:
            self._trim()

    def _trim(self) -> None:
        frames, keys, places = zip(*self._parts, strict=True)
        key, place = np.concatenate(keys), np.concatenate(places)
        order = np.lexsort((place, key))[: self._n_rows]
        if hasattr(frames[0], "iloc"):
            whole = tables_library("pandas").concat(frames, ignore_index=True)
        else:
            whole = np.concatenate(frames)
        self._parts = [(_taken(whole, order), key[order], place[order])]
        self._size = order.size
        if self._size == self._n_rows:
            self._bound = float(key[order[-1]])

    def reasons(
        self, model: Any, number: int, tell: Any, shape: tuple[int, ...] | None = None
    ) -> dict[int, list[str]]:
        """Return what moved the score of each row, the rows in the order of the list.

        ``number``: how many columns for each row. ``tell``: is called with how many rows are
        explained. ``shape``: of samples whose entries the columns are. Returned: by the rows'
        places in the table.
        """
        from scarce.inspection import explain

        self._trim()
        X, _, places = self._parts[0]
        named = hasattr(model, "feature_names_in_") or not hasattr(X, "columns")
        found: dict[int, list[str]] = {}
        for start in range(0, len(places), AT_ONCE):
            part = np.arange(start, min(len(places), start + AT_ONCE))
            rows = _taken(X, part)
            names, values = explain(model, rows if named else rows.to_numpy()).largest(number)
            if not named:
                names = np.array([[rows.columns[int(n[1:])] for n in each] for each in names])
            names = entry_names(names, shape)
            for place, line, parts in zip(places[part], names, values, strict=True):
                row = rows.iloc[len(found) - start] if hasattr(rows, "iloc") else None
                found[int(place)] = reason_texts(row, line, direction(model) * parts)
            tell(len(found))
        return found


def entry_names(names: Array, shape: tuple[int, ...] | None) -> Array:
    """Return names of columns, of samples with a shape those of their entries: [1, 5] for x17."""
    if shape is None:
        return names
    numbers = [int(name[1:]) for name in names.ravel()]
    places = np.array(np.unravel_index(numbers, shape)).T.tolist()
    return np.array([str(place) for place in places], dtype=object).reshape(names.shape)


def reason_texts(row: Any, names: Array, parts: Array) -> list[str]:
    """Return what moved a score, each as "column value (part)"."""
    found = []
    for name, part in zip(names, parts, strict=True):
        if abs(part) < 1e-12:
            continue
        held = ""
        if row is not None and name in row.index:
            value = row[name]
            missing = not isinstance(value, str) and np.isnan(value)
            held = (
                " missing" if missing else f" {value}" if isinstance(value, str) else f" {value:g}"
            )
        found.append(f"{name}{held} ({part:+.2g})")
    return found


def _taken(X: Any, rows: Array) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
