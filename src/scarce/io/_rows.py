"""Rows of a table in memory: columns as numbers or as text, errors that name row and column."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.io._extra import tables_library

MOSTLY = 0.9  # share of numbers from which on text among them is taken for a mistake


class TableError(ValueError):
    """A table, or a value in it, is not what it has to be."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a table.

    Parameters
    ----------
    path : Path
        The table's file.
    arrow : pyarrow.Table
        The values.
    first : int
        The number that a person gives to the first of these rows; in a CSV the header is row 1.
    """

    path: Path
    arrow: Any
    first: int

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.arrow.column_names)

    def place(self, row: int, name: str) -> str:
        """Return file, row and column in words, for a message."""
        return f"{self.path}, row {self.first + row}, column {name!r}"

    def row_names(self, name: str | None) -> Array:
        """Return a column that names rows, or without one the numbers that a person gives them."""
        return self.first + np.arange(len(self)) if name is None else self.texts(name)

    def check_has(self, name: str) -> None:
        """Raise an error if there is no such column."""
        if name not in self.arrow.column_names:
            raise missing_columns(self.path, [name], self.names)

    def kind(self, name: str) -> str:
        """Return what a column holds: "number", "text", "date", "empty" or another type's name.

        Text of which nine in ten values are numbers is refused, with the first value that is none.
        """
        types = tables_library("pyarrow").types
        column = self._column(name)
        if column.null_count == len(column):
            return "empty"
        found = column.type
        if types.is_integer(found) or types.is_floating(found) or types.is_decimal(found):
            return "number"
        if types.is_temporal(found):
            return "date"
        if types.is_binary(found) or types.is_large_binary(found):
            raise TableError(f"{self.path}, column {name!r}: not UTF-8 text; state --encoding")
        if types.is_string(found) or types.is_large_string(found) or types.is_boolean(found):
            self._refuse_strays(name)
            return "text"
        return str(found)

    def _refuse_strays(self, name: str) -> None:
        texts = self.texts(name)
        given = np.flatnonzero([isinstance(text, str) for text in texts])
        numbers = tables_library("pandas").to_numeric(
            tables_library("pandas").Series(texts[given]), errors="coerce"
        )
        strays = given[np.isnan(np.asarray(numbers, dtype=float))]
        if 0 < strays.size <= (1 - MOSTLY) * given.size:
            raise TableError(
                f"{self.place(int(strays[0]), name)}: {texts[strays[0]]!r} among numbers; correct "
                "it, name it by --missing if it stands for a missing value, or --drop the column"
            )

    def numbers(self, name: str, *, finite: bool = True) -> Array:
        """Return a column as numbers, NaN where a value is missing.

        Parameters
        ----------
        name : str
            The column.
        finite : bool, default=True
            Refuse infinite values.

        Returns
        -------
        ndarray of float64
            Its values.
        """
        column = self._column(name)
        arrow = tables_library("pyarrow")
        types = arrow.types
        if types.is_temporal(column.type):
            raise TableError(f"{self.place(0, name)}: {column[0].as_py()} is a date, no number")
        try:
            numbers = column.cast(arrow.float64())
        except arrow.ArrowInvalid:
            row, value = self._first_text(column)
            raise TableError(f"{self.place(row, name)}: {value!r} is not a number") from None
        except arrow.ArrowNotImplementedError:
            raise TableError(
                f"{self.path}, column {name!r}: {column.type} instead of numbers"
            ) from None
        values = np.array(numbers.to_numpy(), dtype=np.float64)
        if finite and np.isinf(values).any():
            row = int(np.isinf(values).argmax())
            raise TableError(f"{self.place(row, name)}: {values[row]} is not a finite number")
        return values

    def _first_text(self, column: Any) -> tuple[int, Any]:
        for row, value in enumerate(column.to_pylist()):
            try:
                float(value if value is not None else 0)
            except ValueError:
                return row, value
        return 0, column[0].as_py()

    def texts(self, name: str) -> Array:
        """Return a column as text, NaN where a value is missing.

        Parameters
        ----------
        name : str
            The column.

        Returns
        -------
        ndarray of object
            Its values.
        """
        column = self._column(name)
        arrow = tables_library("pyarrow")
        types = arrow.types
        if types.is_floating(column.type):  # 1.0 is written as 1, as in a column without gaps
            whole = [_as_written(value) for value in column.to_pylist()]
            return np.array(whole, dtype=object)
        if not types.is_string(column.type):
            try:
                column = column.cast(arrow.string())
            except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
                raise TableError(
                    f"{self.path}, column {name!r}: {column.type} instead of text"
                ) from None
        compute = tables_library("pyarrow.compute")
        for sign, what in (("\x00", "a NUL byte"), ("\n", "a line break, perhaps an open quote,")):
            found = compute.match_substring(column, sign)
            if compute.any(found).as_py():
                row = compute.index(found, True).as_py()
                value = column[row].as_py()
                raise TableError(f"{self.place(row, name)}: {what} in {value[:20]!r}")
        values = np.array(column.to_numpy(), dtype=object)
        values[column.is_null().to_numpy()] = np.nan
        return values

    def _column(self, name: str) -> Any:
        self.check_has(name)
        column = self.arrow.column(name)
        arrow = tables_library("pyarrow")
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column


def missing_columns(path: Path, names: list[str], present: list[str]) -> TableError:
    """Return the error that columns are not there, with those that are."""
    word = "column" if len(names) == 1 else "columns"
    have = ", ".join(present[:12]) + (", ..." if len(present) > 12 else "")
    return TableError(f"{path} has no {word} {', '.join(map(repr, names))}; it has {have}")


def _as_written(value: float | None) -> Any:
    if value is None:
        return np.nan
    return str(int(value)) if float(value).is_integer() else str(value)
