"""From tables to what is fitted: rows, what is said of them, and the estimator."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from scarce._arrays import Array
from scarce.cli._errors import NoAnswerError, UsageError
from scarce.cli._source_model import source_machine
from scarce.cli._table_options import dialect_of
from scarce.io import ColumnPlan, Rows, TableError, open_table, plan_columns, read_arrays

UNLABELLED = "unlabelled"
TARGET = "target"


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


def make_task(kind: str, arguments: argparse.Namespace) -> Task:
    """Read the tables and return what is to be fitted.

    Parameters
    ----------
    kind : str
        The kind.
    arguments : Namespace
        The options of `scarce fit`.

    Returns
    -------
    Task
        With an estimator that is not fitted.
    """
    makers: dict[str, Callable[[argparse.Namespace], Task]] = {
        "one-class": _one_class,
        "transfer": _transfer,
        "pu": _positive_unlabelled,
        "groups": _groups,
        "tensor": _tensor,
    }
    task = makers[kind](arguments)
    if "random_state" in task.machine.get_params(deep=False):
        task.machine.set_params(random_state=arguments.seed)
    if len(task.X) < 2:
        raise NoAnswerError(f"{arguments.table} has one row; nothing can be learnt from it")
    return task


def _one_class(arguments: argparse.Namespace) -> Task:
    from scarce import OneClassSVM

    task = _tables(arguments, [arguments.table], {})
    task.why = f"all rows of {arguments.table.name} are of one class"
    task.machine = OneClassSVM(gamma="neighbors", nu=0.1)
    return task


def _transfer(arguments: argparse.Namespace) -> Task:
    from scarce import TransferOneClassSVM

    if arguments.source and arguments.domain:
        raise UsageError("--source and --domain say the same in two ways; give one")
    roles = {arguments.domain: "domain"} if arguments.domain else {}
    radius = _radius(arguments.radius)
    if isinstance(radius, str) and radius != "knn":
        roles[radius] = "radius"
    files = [arguments.table, *arguments.source]
    task = _tables(arguments, files, roles)
    task.machine = TransferOneClassSVM(offset="original")
    task.why = f"{arguments.table.name} is the target"
    if arguments.domain:
        domain, names = _domains(task.facts["rows"][0], arguments.domain)
        task.why = f"column {arguments.domain!r} says which rows are of the target"
    else:
        sizes = [len(rows) for rows in task.facts["rows"]]
        domain = np.repeat(np.arange(len(files)) - 1, sizes)
        names = {number: path.name for number, path in enumerate(arguments.source)}
    if names:
        task.why += f" and {', '.join(map(str, names.values()))} of related tasks"
    task.facts["sources"] = names
    task.metadata["sample_domain"] = domain
    if (domain < 0).sum() < 2:
        raise NoAnswerError(f"{arguments.table}: one row of the target; two are needed at least")
    if isinstance(radius, str) and radius != "knn":
        task.metadata["sample_radius"] = _not_negative(task, radius, "radius")
        task.why += ", which may be off by a radius each"
    elif radius is not None:
        task.machine.set_params(radius=radius)
        task.why += ", which may be off by a radius"
    return task


def _radius(given: str | None) -> float | str | None:
    if given is None:
        return None
    try:
        radius = float(given)
    except ValueError:
        return given
    if not 0 <= radius < np.inf:
        raise UsageError(f"--radius must not be negative, got {given}")
    return radius


def _domains(rows: Rows, name: str) -> tuple[Array, dict[int, str]]:
    """Return the task of each row, the target's -1, and the sources' names."""
    if rows.kind(name) == "number":
        values = rows.numbers(name)
        if np.isnan(values).any() or (values != np.round(values)).any():
            row = int((np.isnan(values) | (values != np.round(values))).argmax())
            raise TableError(f"{rows.place(row, name)}: {values[row]} is no domain")
        targets = np.unique(values[values < 0])
        codes = np.where(values < 0, -1, values).astype(np.int64)
        words = {int(code): f"{name} {code}" for code in np.unique(codes) if code >= 0}
    else:
        texts = rows.texts(name)
        is_target = np.array([str(text).strip().lower() == TARGET for text in texts])
        others = sorted({str(text) for text in texts[~is_target]})
        targets = np.unique(is_target[is_target])
        places = {text: number for number, text in enumerate(others)}
        codes = np.array(
            [-1 if own else places[str(text)] for own, text in zip(is_target, texts, strict=True)]
        )
        words = {number: text for text, number in places.items()}
    if targets.size != 1:
        number = f"{targets.size} targets" if targets.size else "no target"
        found = f" ({', '.join(f'{value:g}' for value in targets)})" if targets.size else ""
        raise TableError(
            f"{rows.path}, column {name!r}: {number}{found}; one negative number, or the word "
            f"{TARGET}, says which rows are of the target"
        )
    return codes, words


def _positive_unlabelled(arguments: argparse.Namespace) -> Task:
    from scarce import PositiveUnlabeledSVC

    if arguments.unlabelled and arguments.label:
        raise UsageError("--unlabelled and --label say the same in two ways; give one")
    if arguments.unlabelled:
        if arguments.positive is not None:
            raise UsageError("--positive names a value of --label, which is not given")
        task = _tables(arguments, [arguments.table, arguments.unlabelled], {})
        n = len(task.facts["rows"][0])
        positive, word = np.arange(len(task.X)) < n, "positive"
        task.why = (
            f"{arguments.table.name} holds rows of the class and {arguments.unlabelled.name} rows "
            "that may be or not"
        )
    else:
        task = _tables(arguments, [arguments.table], {arguments.label: "label"})
        positive, word = _labelled(task, arguments)
        task.why = (
            f"column {arguments.label!r} is {word!r} in some rows and the others may be or not"
        )
    if positive.all() or not positive.any():
        what = "all rows are" if positive.all() else "no row is"
        raise NoAnswerError(f"{arguments.table}: {what} {word!r}; unlabelled rows are needed too")
    task.y = np.where(positive, word, UNLABELLED).astype(object)
    task.machine = PositiveUnlabeledSVC(pos_label=word)
    task.facts["positive"] = positive
    return task


def _labelled(task: Task, arguments: argparse.Namespace) -> tuple[Array, str]:
    rows, name = task.facts["rows"][0], arguments.label
    texts = rows.texts(name)
    values = sorted({text for text in texts if isinstance(text, str)})
    if arguments.positive is None:
        if len(values) != 1:
            raise UsageError(f"--label {name} needs --positive, one of {', '.join(values[:8])}")
        word = values[0]
    else:
        word = arguments.positive
        if word not in values:
            raise TableError(
                f"{rows.path}, column {name!r}: no row is {word!r}; values are "
                f"{', '.join(map(repr, values[:8]))}"
            )
    others = [value for value in values if value != word]
    if len(others) > 1:
        task.notes.append(
            f"column {name!r} has {len(others)} values beside {word!r}; rows of all of them are "
            "taken for unlabelled"
        )
    if word.lower() == UNLABELLED:
        raise UsageError(f"--positive must not be {word!r}, the word for all other rows")
    return np.array([text == word for text in texts]), word


def _groups(arguments: argparse.Namespace) -> Task:
    from scarce import GroupProbabilitySVM

    if (arguments.share is None) == (arguments.shares is None):
        raise UsageError("groups needs --share COLUMN or --shares TABLE, one of them")
    roles = {arguments.group: "group"} | ({arguments.share: "share"} if arguments.share else {})
    task = _tables(arguments, [arguments.table], roles)
    rows = task.facts["rows"][0]
    names = rows.texts(arguments.group)
    common = np.array([not isinstance(name, str) for name in names])
    if common.any() and arguments.source_model is None:
        raise TableError(f"{rows.place(int(common.argmax()), arguments.group)}: no group")
    if arguments.share:
        shares = _shares_of_rows(rows, arguments.share, names, common)
    else:
        shares = _shares_of_groups(arguments, names, common, rows)
    ids, codes = np.unique(names[~common].astype(str), return_inverse=True)
    if ids.size < 2:
        raise NoAnswerError(f"{rows.path}: one group; shares of several groups are needed")
    groups = np.full(len(names), -1)
    groups[~common] = codes
    task.y, task.metadata["groups"] = shares, groups
    task.facts["groups"] = ids
    task.why = f"{ids.size} groups in column {arguments.group!r} have a share of positives each"
    task.machine = GroupProbabilitySVM()
    if arguments.source_model is not None:
        task.columns, task.machine, task.plan = source_machine(arguments.source_model, task.plan)
        task.X = task.plan.frame(rows)
        task.why += f", and {arguments.source_model.name} is a model of a related domain"
    return task


def _shares_of_rows(rows: Rows, name: str, names: Array, common: Array) -> Array:
    shares = rows.numbers(name)
    _check_shares(rows, name, shares, common)
    first: dict[str, int] = {}
    for row in np.flatnonzero(~common):
        before = first.setdefault(names[row], int(row))
        if shares[before] != shares[row]:
            raise TableError(
                f"{rows.place(int(row), name)}: {shares[row]:g}, but group {names[row]!r} has "
                f"{shares[before]:g} in row {rows.first + before}; a group has one share"
            )
    return shares


def _check_shares(rows: Rows, name: str, shares: Array, free: Array) -> None:
    wrong = ~((shares >= 0) & (shares <= 1)) & ~free
    if wrong.any():
        row = int(wrong.argmax())
        value = "missing" if np.isnan(shares[row]) else f"{shares[row]:g}"
        raise TableError(f"{rows.place(row, name)}: {value}; a share lies between 0 and 1")


def _shares_of_groups(
    arguments: argparse.Namespace, names: Array, common: Array, rows: Rows
) -> Array:
    table = open_table(arguments.shares, dialect_of(arguments)).read()
    if arguments.group not in table.names or len(table.names) < 2:
        raise TableError(
            f"{table.path} must have the column {arguments.group!r} and one of shares; it has "
            f"{', '.join(table.names)}"
        )
    others = [name for name in table.names if name != arguments.group]
    column = "share" if "share" in others else others[0]
    shares, groups = table.numbers(column), table.texts(arguments.group)
    _check_shares(table, column, shares, np.zeros(len(shares), dtype=bool))
    known: dict[str, float] = {}
    for row, (name, share) in enumerate(zip(groups, shares, strict=True)):
        if name in known:
            raise TableError(f"{table.place(row, arguments.group)}: group {name!r} a second time")
        known[name] = float(share)
    found = np.full(len(names), np.nan)
    for row in np.flatnonzero(~common):
        if names[row] not in known:
            where = rows.place(int(row), arguments.group)
            raise TableError(f"{where}: group {names[row]!r} has no share in {table.path}")
        found[row] = known[names[row]]
    return found


def _tensor(arguments: argparse.Namespace) -> Task:
    from scarce import OneClassSTM

    if arguments.table.suffix.lower() not in (".npy", ".npz"):
        raise UsageError(f"tensors come from .npy or .npz files, not from {arguments.table.name}")
    if arguments.features or arguments.drop:
        raise UsageError("--features and --drop are for tables with columns, not for tensors")
    X, columns = read_arrays(arguments.table)
    X = np.asarray(X, dtype=np.float64)
    broken = ~np.isfinite(X.reshape(len(X), -1)).all(axis=1)
    if broken.any():
        raise TableError(f"{arguments.table}, sample {broken.argmax() + 1}: not a finite number")
    shape = " x ".join(map(str, X.shape[1:]))
    task = Task(
        "tensor", f"{arguments.table.name} holds {len(X)} samples of {shape}", X, OneClassSTM()
    )
    for option, role in ((arguments.id, "ids"), (arguments.weight, "weights")):
        if option is not None and option not in columns:
            have = ", ".join(columns) or "no array of one value a sample"
            raise TableError(f"{arguments.table} has no array {option!r} of {role}; it has {have}")
    task.ids, task.id_name = np.arange(1, len(X) + 1), arguments.id or "row"
    if arguments.id:
        task.ids = np.asarray(columns[arguments.id])
    if arguments.weight:
        task.metadata["sample_weight"] = np.asarray(columns[arguments.weight], dtype=np.float64)
    return task


def _tables(arguments: argparse.Namespace, files: list[Path], roles: dict[str, str]) -> Task:
    """Read tables with the same columns, plan these, and return a task without a machine."""
    tables = [open_table(path, dialect_of(arguments)) for path in files]
    rows = [table.read() for table in tables]
    for option, role in ((arguments.id, "id"), (arguments.weight, "weight")):
        if option is not None:
            roles[option] = role
    for name in roles:
        for part in rows if roles[name] in ("id", "weight") else rows[:1]:
            part._column(name)
    plan = plan_columns(rows, roles, arguments.features, arguments.drop or ())
    if not plan.types:
        raise NoAnswerError(f"{files[0]}: no column is left to learn from; see --features")
    task = Task("", "", pd.concat([plan.frame(part) for part in rows], ignore_index=True), None)
    task.plan, task.columns = plan, plan.transformer()
    task.notes = [note for table in tables for note in table.notes]
    for part in rows[1:]:
        extra = [name for name in part.names if name not in rows[0].names]
        if extra:
            task.notes.append(f"{part.path} has further columns, not used: {', '.join(extra)}")
    task.facts["rows"] = rows
    task.id_name = arguments.id or "row"
    task.ids = np.concatenate(
        [
            part.texts(arguments.id) if arguments.id else part.first + np.arange(len(part))
            for part in rows
        ]
    )
    if arguments.weight:
        task.metadata["sample_weight"] = _not_negative(task, arguments.weight, "weight")
    return task


def _not_negative(task: Task, name: str, what: str) -> Array:
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
