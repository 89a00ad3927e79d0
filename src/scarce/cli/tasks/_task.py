"""Something to fit: rows of tables, what is said of them, and the estimator."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.cli._outputs import NoAnswerError
from scarce.cli._table_options import dialect_of
from scarce.io import (
    UNUSED_DATES,
    ColumnPlan,
    Rows,
    Sample,
    TableError,
    even_limits,
    open_table,
    plan_columns,
    tables_library,
)

MOST_SAID = 4  # columns that an error speaks of


@dataclass
class Task:
    """Something to fit."""

    kind: str  # what kind of supervision there is
    why: str  # what of the input says so
    estimator: Any = None  # the last step
    y: Any = None  # labels or proportions
    # values of each row for the estimator's `fit`
    metadata: dict[str, Any] = field(default_factory=dict)
    # what is done with each column
    plan: ColumnPlan = field(default_factory=lambda: ColumnPlan(()))
    ids: Any = None  # names of the rows
    id_name: str = "row"  # what these names are: a column's, or "row"
    notes: list[str] = field(default_factory=list)  # what a person should know
    facts: dict[str, Any] = field(default_factory=dict)  # what the report says of this kind
    tables: list[Rows] = field(default_factory=list)  # what was read; none for tensors
    columns: Any = None  # the step before the estimator, if it is not the plan's own
    groups: Any = None  # which of several models each row is for

    @cached_property
    def X(self) -> Any:
        """The rows: a frame, or an array of tensors. Made when nothing is left to be refused."""
        frames = [self.plan.frame(rows) for rows in self.tables]
        return tables_library("pandas").concat(frames, ignore_index=True)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(map(len, self.tables)) if self.tables else len(self.X)

    @property
    def calibrated(self) -> bool:
        """Whether the threshold comes from rows left out of the whole pipeline."""
        return self.kind in ("one-class", "transfer")

    @property
    def pipeline(self) -> Any:
        """The estimator with the step that makes numbers of the columns."""
        if self.kind == "tensor":
            return self.estimator
        from sklearn.pipeline import Pipeline

        steps = [("machine", self.estimator)]
        if self.tables:
            columns = self.plan.transformer() if self.columns is None else self.columns
            steps.insert(0, ("columns", columns))
        return Pipeline(steps)

    @property
    def fit_parameters(self) -> dict[str, Any]:
        """What `fit` of the pipeline takes beside `X` and `y`."""
        if self.groups is not None:  # of the models of groups, not of a pipeline
            return {"groups": self.groups, **self.metadata}
        before = "" if self.kind == "tensor" else "machine__"
        return {f"{before}{name}": value for name, value in self.metadata.items()}


def read_tables(
    arguments: argparse.Namespace,
    files: list[Path],
    roles: dict[str, str],
    rare: Callable[[Rows], Array] | None = None,
) -> Task:
    """Read tables with the same columns, plan these, and return a task without an estimator.

    ``roles``: columns that are not learnt from, and what they are for. ``rare``: says which rows of
    a table must not be lost among others if it has to be sampled. Returned: with its tables, and
    what is done with their columns.
    """
    dialect = dialect_of(arguments)
    tables = [open_table(path, dialect) for path in files]
    for option, role in ((arguments.id, "id"), (arguments.weight, "weight")):
        if option is not None:
            roles[option] = role
    for name in roles:
        for table in tables if roles[name] in ("id", "weight") else tables[:1]:
            table.check_has(name)
    rows = _sampled(
        [t.read(Sample(arguments.rows, arguments.seed, rare)) for t in tables], arguments
    )
    plan = plan_columns(
        rows, roles, arguments.features, arguments.drop or (), dates=arguments.dates
    )
    if sum(map(len, rows)) == 1:
        raise NoAnswerError(
            f"{files[0]} has one row; a fit needs at least 2, and better 20 or more"
        )
    if not plan.types:
        raise NoAnswerError(_no_column(files[0], plan))
    task = Task("", "", plan=plan, tables=rows)
    task.notes = [note for table in tables for note in table.notes]
    task.notes += [note for part in rows if (note := _sample_note(part))]
    for part in rows[1:]:
        extra = [name for name in part.names if not rows[0].has(name)]
        if extra:
            task.notes.append(f"{part.path} has further columns, not used: {', '.join(extra)}")
    dates = [column.name for column in plan.columns if column.done == UNUSED_DATES]
    if dates:
        task.notes.append(f"dates are left out, --dates learns from them: {', '.join(dates)}")
    task.id_name = arguments.id or "row"
    task.ids = np.concatenate([part.row_names(arguments.id) for part in rows])
    if arguments.weight:
        weights = not_negative(task, arguments.weight, "weight")
        if not weights.any():
            raise NoAnswerError(f"{files[0]}, column {arguments.weight!r}: every weight is 0")
        task.metadata["sample_weight"] = weights
    return task


def _no_column(path: Path, plan: ColumnPlan) -> str:
    """Return why there is nothing to learn from, and what would help."""
    why = {column.name: column.done for column in plan.columns if column.use == "left out"}
    words = [f"{name!r}: {done}" for name, done in why.items()][:MOST_SAID]
    words += ["..."] if len(why) > MOST_SAID else []
    reasons = f" ({'; '.join(words)})" if words else ""
    named = any("identifier" in done for done in why.values())
    remedy = "; --features learns from identifiers too" if named else ""
    return f"{path}: no column is left to learn from{reasons}{remedy}"


def _sampled(tables: list[Rows], arguments: argparse.Namespace) -> list[Rows]:
    """Return no more rows of all tables together than are wanted, the smaller tables whole."""
    if arguments.rows is None or sum(map(len, tables)) <= arguments.rows:
        return tables
    random = np.random.default_rng(arguments.seed)
    limits = even_limits([len(rows) for rows in tables], arguments.rows)
    return [
        rows if limit == len(rows)
        else rows.take(np.sort(random.choice(len(rows), limit, replace=False)))
        for rows, limit in zip(tables, limits, strict=True)
    ]  # fmt: skip


def _sample_note(rows: Rows) -> str | None:
    if rows.total is None:
        return None
    times = (rows.total / len(rows)) ** 2
    return (
        f"{len(rows):,} of the {rows.total:,} rows of {rows.path.name} are learnt from, chosen at "
        f"random by --seed. --rows all takes them all, and about "
        f"{times:,.{int(times < 10)}f} times as long"
    )


def not_negative(task: Task, name: str, what: str) -> Array:
    values = []
    for rows in task.tables:
        numbers = rows.numbers(name)
        wrong = ~(numbers >= 0)
        if wrong.any():
            row = int(wrong.argmax())
            value = "missing" if np.isnan(numbers[row]) else f"{numbers[row]:g}"
            raise TableError(f"{rows.place(row, name)}: {value}; a {what} is 0 or more")
        values.append(numbers)
    return np.concatenate(values)
