"""What is done with each column of a table, by one scikit-learn transformer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from scarce._arrays import Array
from scarce.io._extra import tables_library
from scarce.io._rows import Rows, TableError, missing_columns

FEW_ROWS = 10  # with fewer nothing is called an identifier
NEARLY_ALL = 0.9  # share of rows with a text of their own that makes it an identifier
MOST_OF_MANY = 0.5  # the same share where there are more than so many texts:
MOST_CATEGORIES = 50  # columns for one category column; the rarest values share the last
IDENTIFIER = re.compile(r"(.*[_\W])?(id|nr|no|key|index|uuid|number)", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """One column of a table, and what is done with it.

    Parameters
    ----------
    name : str
        Its name.
    use : str
        "number", "category", "left out", or what else it is for: "id", "weight" and so on.
    values : str
        What it holds, in words.
    missing : int
        Number of missing values.
    done : str
        What was done with it, in words.
    """

    name: str
    use: str
    values: str = ""
    missing: int = 0
    done: str = ""


@dataclass(frozen=True)
class ColumnPlan:
    """What is done with each column.

    Parameters
    ----------
    columns : tuple of Column
        All columns, in the order of the table.
    """

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
        """The columns that a model sees, each "number" or "text"."""
        kinds = {"number": "number", "category": "text"}
        return {column.name: kinds[column.use] for column in self.columns if column.use in kinds}

    def frame(self, rows: Rows) -> Any:
        """Return a pandas frame of the columns that a model sees.

        Parameters
        ----------
        rows : Rows
            The rows.

        Returns
        -------
        DataFrame
            Numbers as float64, categories as text, NaN where missing.
        """
        return _frame(rows, self.types)

    def transformer(self) -> Any:
        """Return the scikit-learn transformer that makes numbers of these columns.

        Returns
        -------
        ColumnTransformer
            Not fitted.
        """
        # Not at the top: the commands' help would wait for it.
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        numbers = Pipeline([("missing", fill), ("scale", StandardScaler())])
        categories = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=MOST_CATEGORIES,
            sparse_output=False,
        )
        parts = [
            ("numbers", numbers, self.used("number")),
            ("categories", categories, self.used("category")),
        ]
        return ColumnTransformer([part for part in parts if part[2]])

    def lines(self) -> list[str]:
        """Return the plan as lines of a table to be printed."""
        header = Column("column", "use", "values", 0, "what was done with it")
        cells = [[c.name, c.use, c.values, str(c.missing or ""), c.done] for c in self.columns]
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
) -> ColumnPlan:
    """Decide what is done with each column of one table, or of several that belong together.

    Parameters
    ----------
    tables : sequence of Rows
        The tables; the columns of the first count, and each other one must have them.
    roles : mapping of str, optional
        Columns that are for something else than learning: name and what for.
    features : sequence of str, optional
        Learn from these alone, also if they look like identifiers.
    drop : sequence of str, default=()
        Columns to leave out.

    Returns
    -------
    ColumnPlan
        The plan.
    """
    first, roles = tables[0], dict(roles or {})
    wanted = [name for name in first.names if name not in roles]
    for option, names in (("--features", features or ()), ("--drop", drop)):
        absent = [name for name in names if name not in first.names]
        if absent:
            raise TableError(f"{option}: {missing_columns(first.path, absent, first.names)}")
    if features is not None:
        wanted = list(features)
    planned = [
        Column(name, roles[name]) if name in roles
        else _planned(name, tables, chosen=features is not None)
        if name in wanted and name not in drop
        else Column(name, "left out", done="as you said")
        for name in first.names
    ]  # fmt: skip
    return ColumnPlan(tuple(planned))


def _planned(name: str, tables: Sequence[Rows], *, chosen: bool) -> Column:
    for rows in tables:
        if name not in rows.names:
            raise missing_columns(rows.path, [name], rows.names)
    kinds = {rows.kind(name): rows for rows in tables}
    kinds.pop("empty", None)
    if not kinds:
        missing = sum(map(len, tables))
        return Column(name, "left out", "none", missing, "every value is missing")
    if "date" in kinds:
        rows = kinds["date"]
        value = next(str(value) for value in rows.texts(name) if isinstance(value, str))
        raise TableError(
            f"{rows.place(0, name)}: dates such as {value} are no numbers; --drop the column, or "
            "turn it into what matters (days since, hour, weekday)"
        )
    if len(kinds) > 1:
        files = "; ".join(f"{kind} in {rows.path}" for kind, rows in kinds.items())
        raise TableError(f"column {name!r} is of different kinds: {files}")
    (kind, rows), *_ = kinds.items()
    if kind not in ("number", "text"):
        raise TableError(f"{rows.path}, column {name!r}: {kind}, which is neither number nor text")
    parts = [_values(each, name, kind) for each in tables]
    if kind == "number":
        return _number(name, np.concatenate(parts), chosen)
    return _category(name, parts, chosen)


def _values(rows: Rows, name: str, kind: str) -> Array:
    return rows.numbers(name) if kind == "number" else rows.texts(name)


def _number(name: str, values: Array, chosen: bool) -> Column:
    given = values[~np.isnan(values)]
    missing = values.size - given.size
    held = f"{given.min():g} to {given.max():g}"
    if given.min() == given.max() and not missing:
        return Column(name, "left out", f"{given[0]:g}", 0, "the same in every row")
    distinct = np.unique(given)
    if not chosen and not missing and given.size >= FEW_ROWS and distinct.size == given.size:
        whole = bool((given == np.round(given)).all())
        counts = distinct.size > 1 and bool((np.diff(distinct) == 1).all())
        if whole and (counts or IDENTIFIER.fullmatch(name)):
            done = "looks like an identifier: whole numbers, another in every row"
            return Column(name, "left out", held, 0, done)
    done = "scaled to mean 0 and spread 1"
    if missing:
        done += "; gaps filled with the median and marked"
    return Column(name, "number", held, missing, done)


def _category(name: str, parts: list[Array], chosen: bool) -> Column:
    values = np.concatenate(parts)
    given = [value for value in values if isinstance(value, str)]
    distinct, missing = sorted(set(given)), values.size - len(given)
    held = f"{len(distinct)} values" if len(distinct) > 1 else repr(distinct[0])
    if len(distinct) == 1 and not missing:
        return Column(name, "left out", held, 0, "the same in every row")
    if not chosen and any(map(_names_rows, parts)):
        done = "looks like an identifier: another text in nearly every row"
        return Column(name, "left out", held, missing, done)
    many = len(distinct) > MOST_CATEGORIES
    done = f"a column of 0 and 1 for each of {MOST_CATEGORIES if many else len(distinct)} values"
    if many:
        done += ", the rarest together"
    if missing:
        done += "; gaps are a value of their own"
    return Column(name, "category", held, missing, done)


def _names_rows(values: Array) -> bool:
    """Return whether nearly every row has a text of its own, or most of very many have."""
    given = [value for value in values if isinstance(value, str)]
    distinct = len(set(given))
    if distinct > MOST_CATEGORIES:
        return distinct > MOST_OF_MANY * len(given)
    return len(given) >= FEW_ROWS and distinct > NEARLY_ALL * len(given)


def _frame(rows: Rows, types: Mapping[str, str]) -> Any:
    return tables_library("pandas").DataFrame(
        {name: _values(rows, name, kind) for name, kind in types.items()}
    )


def _cut(text: str, width: int) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= width else text[: width - 3] + "..."
