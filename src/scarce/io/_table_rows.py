"""Rows of a table in memory: columns as numbers or as text, errors that name row and column."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.io._readings import (
    MOSTLY,
    OR_MISSING,
    PLAIN,
    SEVERAL,
    beside_number,
    date_style,
    date_styles,
    is_plain,
    number_styles,
    styled_dates,
    styled_numbers,
    why_no_number,
)


def tables_library(name: str) -> Any:
    """Return a module of pyarrow or pandas, or say which extra brings it."""
    try:
        return import_module(name)
    except ImportError as error:
        library = name.split(".")[0]
        message = f"tables need {library}: python -m pip install 'scarce[cli]'"
        raise ImportError(message) from error


LARGEST = 1e150  # of numbers: the sum of their squares is finite
LONG = 40  # characters of a value that an error shows
MOST_UNITS = 3  # beside the numbers of a column; with more of them they are codes, as 12A to 30F
FIRST_DAY, LAST_DAY = 19000101, 21001231  # of dates that are written as whole numbers
FEW, OFTEN = 10, 5  # numbers with a unit are categories if there are so few, each so often
MOST_WORDS, MANY_NUMBERS = 3, 20  # so few words beside more numbers than that are no categories


class TableError(ValueError):
    """A table, or a value in it, is not what it has to be."""


@dataclass(frozen=True)
class Reading:
    """What a column holds.

    ``kind``: "number", "text", "date", "empty" or another type's name. ``style``: how numbers or
    dates are written in text, where they are.
    """

    kind: str
    style: str = ""


@dataclass(frozen=True)
class Rows:
    """Some rows of a table."""

    path: Path  # the table's file
    arrow: Any  # the values
    # the number that a person gives to the first of these rows; in a CSV the header is row 1
    first: int
    # of rows that were sampled: how many rows of the table come before each
    places: Array | None = None
    total: int | None = None  # number of rows that these were sampled from
    decimal: str | None = None  # decimal sign of the file, where it is known

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    @cached_property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.arrow.column_names)

    @cached_property
    def _numbered(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def take(self, chosen: Array) -> Rows:
        """Return some of the rows, in the order of their numbers."""
        places = np.arange(len(self)) if self.places is None else self.places
        total = len(self) if self.total is None else self.total
        arrow = self.arrow.take(tables_library("pyarrow").array(chosen))
        return Rows(self.path, arrow, self.first, places[chosen], total, self.decimal)

    def place(self, row: int, name: str) -> str:
        """Return file, row and column in words, for a message."""
        return f"{self.path}, row {self.row_names(None)[row]}, column {name!r}"

    def row_names(self, name: str | None) -> Array:
        """Return a column that names rows, or without one the numbers that a person gives them."""
        if name is not None:
            return self.texts(name)
        return self.first + (np.arange(len(self)) if self.places is None else self.places)

    def check_has(self, name: str) -> None:
        """Raise an error if there is no such column."""
        if not self.has(name):
            raise missing_columns(self.path, [name], self.names)

    def has(self, name: str) -> bool:
        """Return whether there is such a column."""
        return name in self._numbered

    def is_constant(self, name: str) -> bool:
        """Return whether all values of a column are the same, or all are missing."""
        column = self._column(name)
        if column.null_count:
            return bool(column.null_count == len(column))
        compute, arrow = tables_library("pyarrow.compute"), tables_library("pyarrow")
        try:
            return bool(compute.all(compute.equal(column, column[0])).as_py())
        except arrow.ArrowNotImplementedError:  # lists and the like, which are refused later
            return False

    def first_text(self, name: str) -> str | None:
        """Return the first value of a column as text, None if it is missing."""
        value = self._column(name)[0].as_py()
        return None if value is None else f"{value:g}" if isinstance(value, float) else str(value)

    def first_given(self, name: str) -> str:
        """Return the first value of a column that is not missing, as text."""
        return str(self._column(name).drop_null()[0].as_py())

    def kind(self, name: str) -> str:
        """Return what a column holds, in one word."""
        return self.reading(name).kind

    def reading(self, name: str) -> Reading:
        """Return what a column holds, found from all its values.

        Text of which nine in ten values are numbers, but not in one way, is refused.
        """
        types = tables_library("pyarrow").types
        column = self._column(name)
        if column.null_count == len(column):
            return Reading("empty")
        found = column.type
        if types.is_integer(found) and self._holds_days(column):
            return Reading("date", "ymd")
        if types.is_integer(found) or types.is_floating(found) or types.is_decimal(found):
            return Reading("number")
        if types.is_timestamp(found) or types.is_date(found):
            return Reading("date")
        if types.is_binary(found) or types.is_large_binary(found):
            raise TableError(f"{self.path}, column {name!r}: not UTF-8 text; give --encoding")
        if types.is_string(found) or types.is_large_string(found) or types.is_boolean(found):
            return self._read_text(name)
        return Reading(str(found))

    def _holds_days(self, column: Any) -> bool:
        """Return whether whole numbers are all dates such as 20260305."""
        ends = tables_library("pyarrow.compute").min_max(column).as_py()
        if not FIRST_DAY <= ends["min"] <= ends["max"] <= LAST_DAY:
            return False
        days = column.unique().drop_null().to_pylist()
        return date_styles([str(day) for day in days]) == ["ymd"]

    def _read_text(self, name: str) -> Reading:
        texts = self.texts(name)
        distinct = list(dict.fromkeys(text for text in texts if isinstance(text, str)))
        styles = number_styles(distinct, self.decimal)
        if len(styles) > 1:
            first = self.place(next(i for i, t in enumerate(texts) if isinstance(t, str)), name)
            (one,), (other,) = (styled_numbers(distinct[:1], style)[0] for style in styles)
            raise TableError(
                f"{first}: {quoted(distinct[0])} may be {one:g} or {other:g}, and no value of the "
                "column shows which; give --decimal"
            )
        # Plain numbers whose type is text are meant as text, but in a file of decimal commas.
        plain = self.decimal != "," and all(map(is_plain, distinct))
        if styles and not (styles[0] == PLAIN and plain):
            return Reading("number", styles[0])
        dates = date_style(distinct)
        if dates is not None:
            return Reading("date", dates)
        self._refuse_strays(name, texts, distinct)
        return Reading("text")

    def _refuse_strays(self, name: str, texts: Array, distinct: list[str]) -> None:
        """Raise an error if text is numbers all the same, which could not be read together."""
        beside = {text: beside_number(text) for text in distinct}
        if all(is_plain(text) for text in distinct):
            return
        given = np.flatnonzero([isinstance(text, str) for text in texts])
        found = [beside[texts[place]] for place in given]
        strays = given[[each != "" for each in found]]
        words = sum(each != "" for each in beside.values())
        coded = words <= MOST_WORDS and len(distinct) - words > MANY_NUMBERS
        if 0 < strays.size <= (0.5 if coded else 1 - MOSTLY) * given.size:
            raise TableError(
                f"{self.place(int(strays[0]), name)}: {quoted(texts[strays[0]])} among numbers; "
                "correct it, name it by --missing if it stands for a missing value, or --drop the "
                "column"
            )
        units = {each for each in found if each}
        few = len(distinct) <= FEW and given.size >= OFTEN * len(distinct)
        others = sum(each is None for each in found)
        if others > (1 - MOSTLY) * given.size or len(units) > MOST_UNITS or (units and few):
            return
        if units:
            first = next(place for place in strays if beside[texts[place]])
            raise TableError(
                f"{self.place(int(first), name)}: {quoted(texts[first])} is a number with "
                f"{beside[texts[first]]!r} beside it; write the numbers alone, all in one unit, or "
                "--drop the column"
            )
        raise self._not_alike(name, number_styles)

    def _not_alike(self, name: str, styles: Callable[[list[str]], list[str]]) -> TableError:
        """Return the error that values of a column are not all written in one way."""
        texts = self.texts(name)
        distinct = list(dict.fromkeys(text for text in texts if isinstance(text, str)))
        ends = range(len(distinct))
        end = bisect_left(ends, True, key=lambda end: not styles(distinct[: end + 1]))
        other = distinct[0 if end else 1]
        return TableError(
            f"{self.place(int(np.flatnonzero(texts == distinct[end])[0]), name)}: "
            f"{quoted(distinct[end])} is not written as {quoted(other)} is; write all values of "
            "the column in one way, or --drop the column"
        )

    def numbers(self, name: str, style: str | None = None) -> Array:
        """Return a column as numbers, NaN where a value is missing.

        Values are finite, and so are their squares. ``style``: how numbers are written in text; by
        default it is found from these values.
        """
        column = self._column(name)
        arrow = tables_library("pyarrow")
        types = arrow.types
        if types.is_temporal(column.type):
            raise TableError(f"{self.place(0, name)}: {column[0].as_py()} is a date, no number")
        if types.is_string(column.type) and column.null_count < len(column):
            values = self._styled(name, style)
        else:
            values = self._cast(name, column)
        wrong = np.abs(values) > LARGEST
        if wrong.any():
            row = int(wrong.argmax())
            where = f"{self.place(row, name)}: {values[row]:g}"
            infinite = np.isinf(values[row])
            what = "not a finite number" if infinite else f"too large, beyond {LARGEST:g}"
            raise TableError(f"{where} is {what}; {OR_MISSING}")
        return values

    def _cast(self, name: str, column: Any) -> Array:
        arrow = tables_library("pyarrow")
        try:
            numbers = column.cast(arrow.float64())
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
            raise TableError(
                f"{self.path}, column {name!r}: {column.type} instead of numbers"
            ) from None
        # By the buffers, and not by pyarrow's own way to NumPy, which loads pandas.
        whole = numbers.combine_chunks()
        start = whole.offset
        values = np.frombuffer(whole.buffers()[1], np.float64)[start : start + len(whole)].copy()
        values[np.from_dlpack(whole.is_null().cast(arrow.int8())) == 1] = np.nan
        return values

    def _styled(self, name: str, style: str | None) -> Array:
        texts = self.texts(name)
        if style is None:
            reading = self.reading(name)
            style = reading.style if reading.kind == "number" else PLAIN
        values, wrong = styled_numbers(texts, style or PLAIN)
        if wrong is not None:
            why = why_no_number(texts[wrong], style or PLAIN)
            raise TableError(f"{self.place(wrong, name)}: {quoted(texts[wrong])} {why}")
        return values

    def dates(self, name: str, style: str) -> Array:
        """Return a column as moments, NaT where a value is missing.

        In seconds. ``style``: how dates are written in text.
        """
        column, arrow = self._column(name), tables_library("pyarrow")
        if arrow.types.is_timestamp(column.type) or arrow.types.is_date(column.type):
            return np.array(column.cast(arrow.timestamp("s"), safe=False).to_numpy())
        if style == SEVERAL:
            raise self._not_alike(name, date_styles)
        texts = self.texts(name)
        values, wrong = styled_dates(texts, style or "ymd-")
        if wrong is not None:
            raise TableError(f"{self.place(wrong, name)}: {quoted(texts[wrong])} is not a date")
        return values

    def texts(self, name: str) -> Array:
        """Return a column as text, NaN where a value is missing."""
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
                raise TableError(
                    f"{self.place(row, name)}: {what} in {value[:20]!r}; "
                    "correct it, or --drop the column"
                )
        # A list, and not NumPy's array of pyarrow, which loads pandas to make one of text.
        values = np.array(column.to_pylist(), dtype=object)
        values[[value is None for value in values]] = np.nan
        return values

    def _column(self, name: str) -> Any:
        self.check_has(name)
        column = self.arrow.column(self._numbered[name])
        arrow = tables_library("pyarrow")
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column


def missing_columns(path: Path, names: list[str], present: list[str]) -> TableError:
    """Return the error that columns are not there, with those that are."""
    word = "column" if len(names) == 1 else "columns"
    have = ", ".join(present[:12]) + (", ..." if len(present) > 12 else "")
    return TableError(f"{path} has no {word} {', '.join(map(repr, names))}; it has {have}")


def quoted(value: str) -> str:
    """Return a value in quotes, the beginning of a long one."""
    return repr(value) if len(value) <= LONG else f"{value[:LONG]!r}... ({len(value):,} characters)"


def short(message: str) -> str:
    """Return the beginning of another library's message, in one line."""
    return " ".join(message.split())[:160]


def _as_written(value: float | None) -> Any:
    if value is None:
        return np.nan
    return str(int(value)) if float(value).is_integer() else str(value)
