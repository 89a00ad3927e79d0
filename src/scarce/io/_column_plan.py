"""What is done with each column of a table, by one scikit-learn transformer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Self

import numpy as np

from scarce._arrays import Array
from scarce.io._readings import EITHER, PLAIN, SEVERAL
from scarce.io._table_rows import Rows, TableError, missing_columns, tables_library

FEW_ROWS = 10  # with fewer nothing is called an identifier
NEARLY_ALL = 0.9  # share of rows with a text of their own that makes it an identifier
MOST_OF_MANY = 0.5  # the same share where there are more than so many texts:
MOST_CATEGORIES = 50  # columns for one category column; the rarest values share the last
MANY = 10  # columns side by side that are left out for one reason, in one line
DATES = "dates"
UNUSED_DATES = f"{DATES}; --dates learns from them"
COMMON = 0.05  # share of missing values from which on that a value is missing is a column itself
WEEKDAYS = np.array(["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"], dtype=object)  # from 1970
IDENTIFIER = re.compile(
    r"(.*[_\W])?(id|nr|no|key|index|uuid|number)|rows?|row[ _.]?names?|unnamed: \d+", re.IGNORECASE
)


@dataclass(frozen=True)
class Column:
    """One column of a table, and what is done with it."""

    name: str  # its name
    # "number", "category", "date" (days and weekday), "time" (the hour too), "left out", or what
    # else it is for: "id", "weight" and so on
    use: str
    values: str = ""  # what it holds, in words
    missing: int = 0  # number of missing values
    done: str = ""  # what was done with it, in words
    style: str = ""  # how numbers or dates are written in text
    flagged: bool = False  # whether a further column says where a number is missing

    @property
    def made(self) -> dict[str, str]:
        """What a model sees of it: columns, each "number" or "category"."""
        if self.use in ("number", "category"):
            return {self.name: self.use}
        if self.use not in ("date", "time"):
            return {}
        hour = {f"{self.name}: hour": "number"} if self.use == "time" else {}
        return {f"{self.name}: days": "number", **hour, f"{self.name}: weekday": "category"}

    def values_of(self, rows: Rows) -> dict[str, Array]:
        """Return what a model sees of it in some rows.

        For each column of `made`: numbers as float64, categories as text, NaN where missing.
        """
        if self.use == "category":
            return {self.name: rows.texts(self.name)}
        if self.use == "number":
            return {self.name: rows.numbers(self.name, self.style or PLAIN)}
        moments = rows.dates(self.name, self.style)
        missing = np.isnat(moments)
        days = moments.astype("datetime64[D]")
        seconds = (moments - days).astype(np.int64)
        since = days.astype(np.int64) + seconds / 86_400
        weekday = WEEKDAYS[days.astype(np.int64) % 7]
        weekday[missing] = np.nan
        found = (np.where(missing, np.nan, since), np.where(missing, np.nan, seconds // 3600))
        values = (found[0], found[1], weekday) if self.use == "time" else (found[0], weekday)
        return dict(zip(self.made, values, strict=True))


@dataclass(frozen=True)
class ColumnPlan:
    """What is done with each column."""

    columns: tuple[Column, ...]

    @classmethod
    def from_dicts(cls, columns: Sequence[Mapping[str, Any]]) -> Self:
        """Return the plan that `as_dicts` described."""
        return cls(tuple(Column(**column) for column in columns))

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Self:
        """Return the plan of columns that are all numbers."""
        return cls(tuple(Column(name, "number") for name in names))

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return plain values, for a file."""
        return [asdict(column) for column in self.columns]

    def used(self, use: str) -> list[str]:
        """Return the columns of a use."""
        return [column.name for column in self.columns if column.use == use]

    @property
    def types(self) -> dict[str, str]:
        """The columns of a table that are learnt from, each read as "number" or as "text"."""
        return {
            column.name: "number" if column.use == "number" and not column.style else "text"
            for column in self.columns
            if column.made
        }

    def frame(self, rows: Rows) -> Any:
        """Return a pandas frame of the columns that a model sees.

        Numbers as float64, categories as text, NaN where missing.
        """
        values: dict[str, Array] = {}
        for column in self.columns:
            if column.made:
                values |= column.values_of(rows)
        return tables_library("pandas").DataFrame(values)

    def transformer(self) -> Any:
        """Return the scikit-learn transformer that makes numbers of these columns."""
        # Not at the top: the commands' help would wait for it.
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        def numbers(flagged: bool) -> Any:
            fill = SimpleImputer(strategy="median", add_indicator=flagged, keep_empty_features=True)
            return Pipeline([("missing", fill), ("scale", StandardScaler())])

        categories = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=MOST_CATEGORIES,
            sparse_output=False,
        )
        parts = [
            ("numbers", numbers(False), self._made("number", flagged=False)),
            ("flagged", numbers(True), self._made("number", flagged=True)),
            ("categories", categories, [*self._made("category"), *self._made("category", True)]),
        ]
        return ColumnTransformer([part for part in parts if part[2]])

    def _made(self, kind: str, flagged: bool = False) -> list[str]:
        return [
            name
            for column in self.columns
            for name, made in column.made.items()
            if made == kind and column.flagged == flagged
        ]

    def lines(self) -> list[str]:
        """Return the plan as lines of a table to be printed."""
        header = Column("column", "use", "values", 0, "what was done with it")
        cells = []
        for (use, done), alike in groupby(self.columns, lambda column: (column.use, column.done)):
            some = list(alike)
            if use == "left out" and len(some) > MANY:
                between = f"{some[0].name} to {some[-1].name}"
                cells.append([between, use, f"{len(some):,} columns", "", done])
            else:
                cells += [[c.name, use, c.values, str(c.missing or ""), done] for c in some]
        rows = [[header.name, header.use, header.values, "missing", header.done], *cells]
        widths = [min(28, max(len(row[place]) for row in rows)) for place in range(4)]
        lines = []
        for row in rows:
            start = [
                _cut(text, width).ljust(width) for text, width in zip(row, widths, strict=False)
            ]
            lines.append("  ".join([*start, row[4]]).rstrip())
        return lines


def plan_columns(
    tables: Sequence[Rows],
    roles: Mapping[str, str] | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    *,
    dates: bool = False,
) -> ColumnPlan:
    """Decide what is done with each column of one table, or of several that belong together.

    ``tables``: the columns of the first count, and each other one must have them. ``roles``:
    columns that are for something else than learning, and for what. ``features``: learn from these
    alone, also if they look like identifiers. ``drop``: leave these out. ``dates``: learn days,
    hours and weekdays.
    """
    first, roles = tables[0], dict(roles or {})
    wanted, dropped = {name for name in first.names if name not in roles}, set(drop)
    for option, names in (("--features", features or ()), ("--drop", drop)):
        absent = [name for name in names if name not in first.names]
        if absent:
            raise TableError(f"{option}: {missing_columns(first.path, absent, first.names)}")
    if features is not None:
        wanted = set(features)
    said = {"drop": "dropped by --drop", "features": "not among --features"}
    planned = [
        Column(name, roles[name]) if name in roles
        else _planned(name, tables, chosen=features is not None, dates=dates)
        if name in wanted and name not in dropped
        else Column(name, "left out", done=said["drop" if name in dropped else "features"])
        for name in first.names
    ]  # fmt: skip
    return ColumnPlan(tuple(planned))


def _planned(name: str, tables: Sequence[Rows], *, chosen: bool, dates: bool) -> Column:
    for rows in tables:
        if not rows.has(name):
            raise missing_columns(rows.path, [name], rows.names)
    if all(rows.is_constant(name) for rows in tables):  # before anything is looked at in earnest
        values = {rows.first_text(name) for rows in tables}
        if len(values) == 1:
            value = values.pop()
            done = "every value is missing" if value is None else "the same in every row"
            missing = sum(map(len, tables)) if value is None else 0
            return Column(name, "left out", "none" if value is None else value, missing, done)
    readings = [(rows.reading(name), rows) for rows in tables]
    found = {reading: rows for reading, rows in readings if reading.kind != "empty"}
    if len(found) > 1:
        same = len({reading.kind for reading in found}) == 1
        what = "written in different ways" if same else "of different kinds"
        files = "; ".join(
            f"{each.kind}s such as {rows.first_given(name)!r} in {rows.path}"
            for each, rows in found.items()
        )
        raise TableError(f"column {name!r} is {what}: {files}. Write it in one way")
    (reading, rows), *_ = found.items()
    if reading.kind == "number":
        return _number(name, reading.style, [each.numbers(name) for each in tables], chosen)
    if reading.kind == "date":
        return _date(name, reading.style, tables, chosen=chosen, dates=dates)
    if reading.kind == "text":
        return _category(name, [each.texts(name) for each in tables], chosen)
    if reading.kind.startswith("time"):
        return Column(name, "left out", "times of day", 0, "times of day are not used")
    raise TableError(
        f"{rows.path}, column {name!r}: {reading.kind}, which is neither number nor text"
    )


def _number(name: str, style: str, parts: Sequence[Array], chosen: bool) -> Column:
    values = np.concatenate(parts)
    given = values[~np.isnan(values)]
    missing = values.size - given.size
    held = f"{given.min():g} to {given.max():g}"
    distinct = np.unique(given)
    if not chosen and not missing and given.size >= FEW_ROWS and distinct.size == given.size:
        whole = bool((given == np.round(given)).all())
        counts = distinct.size > 1 and bool((np.diff(distinct) == 1).all())
        if whole and (counts or IDENTIFIER.fullmatch(name)):
            done = "looks like an identifier: whole numbers, all different"
            return Column(name, "left out", held, 0, done)
    flagged = missing >= COMMON * values.size
    if distinct.size == 1 and not flagged:
        return Column(
            name, "left out", f"{given[0]:g}", missing, "the same in every row that has it"
        )
    done = f"standardised{_gaps(missing, flagged)}"
    return Column(name, "number", held, missing, done, style, flagged and missing > 0)


def _gaps(missing: int, flagged: bool) -> str:
    if not missing:
        return ""
    return "; missing values filled with the median" + (" and flagged" if flagged else "")


def _date(name: str, style: str, tables: Sequence[Rows], *, chosen: bool, dates: bool) -> Column:
    if style == SEVERAL and not (dates or chosen):
        missing = sum(not isinstance(text, str) for rows in tables for text in rows.texts(name))
        done = f"{DATES}, not all written in one way"
        return Column(name, "left out", f"{sum(map(len, tables)) - missing} values", missing, done)
    moments = np.concatenate([rows.dates(name, style) for rows in tables])
    given = moments[~np.isnat(moments)]
    missing = moments.size - given.size
    hours = bool((given != given.astype("datetime64[D]")).any())
    ends = [
        str(each if hours else each.astype("datetime64[D]")) for each in (given.min(), given.max())
    ]
    held = " to ".join(ends)
    if not dates:
        if chosen:
            raise TableError(f"column {name!r} of --features holds dates; --dates learns from them")
        if style.endswith(EITHER):  # first and last are not known
            held, done = f"{given.size} dates", f"{DATES}; day or month first? write 2026-03-05"
        else:
            done = UNUSED_DATES
        return Column(name, "left out", held, missing, done)
    if style.endswith(EITHER):
        rows = tables[0]
        value = next(text for text in rows.texts(name) if isinstance(text, str))
        raise TableError(
            f"{rows.path}, column {name!r}: in dates such as {value} the day or the month may come "
            "first; write them as 2026-03-05, or --drop the column"
        )
    flagged = 0 < COMMON * moments.size <= missing
    done = f"days, {'hour, ' if hours else ''}weekday; standardised{_gaps(missing, flagged)}"
    return Column(name, "time" if hours else "date", held, missing, done, style, flagged)


def _category(name: str, parts: Sequence[Array], chosen: bool) -> Column:
    values = np.concatenate(parts)
    given = [value for value in values if isinstance(value, str)]
    distinct, missing = sorted(set(given)), values.size - len(given)
    held = f"{len(distinct)} values" if len(distinct) > 1 else repr(distinct[0])
    if not chosen and any(map(_names_rows, parts)):
        done = "looks like an identifier: nearly all values differ"
        return Column(name, "left out", held, missing, done)
    number = min(len(distinct), MOST_CATEGORIES)
    done = f"one-hot, {number} {'category' if number == 1 else 'categories'}"
    if len(distinct) > MOST_CATEGORIES:
        done += ", the rarest together"
    if missing:
        done += "; missing values are one more"
    return Column(name, "category", held, missing, done)


def _names_rows(values: Array) -> bool:
    """Return whether nearly every row has a text of its own, or most of very many have."""
    given = [value for value in values if isinstance(value, str)]
    distinct = len(set(given))
    if distinct > MOST_CATEGORIES:
        return distinct > MOST_OF_MANY * len(given)
    return len(given) >= FEW_ROWS and distinct > NEARLY_ALL * len(given)


def _cut(text: str, width: int) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= width else text[: width - 3] + "..."
