"""Something to fit: rows of tables, what is said of them, and the estimator."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from scarce._arrays import Array
from scarce.cli._errors import NoAnswerError
from scarce.cli._table_options import dialect_of
from scarce.io import ColumnPlan, TableError, open_table, plan_columns
from scarce.io._extra import tables_library


@dataclass
class Task:
    """Something to fit.

    Attributes
    ----------
    kind : str
        What kind of supervision there is.
    why : str
        What of the input says so.
    X : DataFrame or ndarray
        The rows.
    machine : estimator
        The last step.
    columns : transformer or None
        The step before it.
    y : ndarray or None
        Labels or shares.
    metadata : dict of ndarray
        Values of each row for the machine's `fit`.
    plan : ColumnPlan
        What is done with each column.
    ids : ndarray
        Names of the rows.
    id_name : str
        What these names are: a column's, or "row".
    notes : list of str
        What a person should know.
    facts : dict
        What the report says of this kind.
    """

    kind: str
    why: str
    X: Any
    machine: Any
    columns: Any = None
    y: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    plan: ColumnPlan = field(default_factory=lambda: ColumnPlan(()))
    ids: Any = None
    id_name: str = "row"
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def calibrated(self) -> bool:
        """Whether the threshold comes from rows left out of the whole pipeline."""
        return self.kind in ("one-class", "transfer")

    @property
    def pipeline(self) -> Any:
        """The estimator with the step that makes numbers of the columns."""
        if self.columns is None:
            return self.machine
        return Pipeline([("columns", self.columns), ("machine", self.machine)])

    @property
    def fit_parameters(self) -> dict[str, Any]:
        """What `fit` of the pipeline takes beside `X` and `y`."""
        before = "" if self.columns is None else "machine__"
        return {f"{before}{name}": value for name, value in self.metadata.items()}


def read_tables(arguments: argparse.Namespace, files: list[Path], roles: dict[str, str]) -> Task:
    """Read tables with the same columns, plan these, and return a task without a machine."""
    tables = [open_table(path, dialect_of(arguments)) for path in files]
    rows = [table.read() for table in tables]
    for option, role in ((arguments.id, "id"), (arguments.weight, "weight")):
        if option is not None:
            roles[option] = role
    for name in roles:
        for part in rows if roles[name] in ("id", "weight") else rows[:1]:
            part.check_has(name)
    plan = plan_columns(rows, roles, arguments.features, arguments.drop or ())
    if not plan.types:
        raise NoAnswerError(f"{files[0]}: no column is left to learn from; see --features")
    task = Task(
        "",
        "",
        tables_library("pandas").concat([plan.frame(part) for part in rows], ignore_index=True),
        None,
    )
    task.plan, task.columns = plan, plan.transformer()
    task.notes = [note for table in tables for note in table.notes]
    for part in rows[1:]:
        extra = [name for name in part.names if name not in rows[0].names]
        if extra:
            task.notes.append(f"{part.path} has further columns, not used: {', '.join(extra)}")
    task.facts["rows"] = rows
    task.id_name = arguments.id or "row"
    task.ids = np.concatenate([part.row_names(arguments.id) for part in rows])
    if arguments.weight:
        task.metadata["sample_weight"] = not_negative(task, arguments.weight, "weight")
    return task


def not_negative(task: Task, name: str, what: str) -> Array:
    values = []
    for rows in task.facts["rows"]:
        numbers = rows.numbers(name)
        wrong = ~(numbers >= 0)
        if wrong.any():
            row = int(wrong.argmax())
            value = "missing" if np.isnan(numbers[row]) else f"{numbers[row]:g}"
            raise TableError(f"{rows.place(row, name)}: {value}; a {what} is 0 or more")
        values.append(numbers)
    return np.concatenate(values)
