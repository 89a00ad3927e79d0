"""Few rows of a target, more of related tasks, values that may be off."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from scarce._arrays import Array
from scarce.cli._outputs import NoAnswerError, UsageError
from scarce.cli.tasks._task import Task, not_negative, read_tables
from scarce.io import Rows, TableError

TARGET = "target"


def transfer(arguments: argparse.Namespace) -> Task:
    if arguments.source and arguments.domain:
        raise UsageError("--source and --domain cannot be used together; give one of them")
    roles = {arguments.domain: "domain"} if arguments.domain else {}
    radius = _radius(arguments.radius)
    if isinstance(radius, str) and radius != "knn":
        roles[radius] = "radius"
    files = [arguments.table, *arguments.source]
    task = read_tables(arguments, files, roles, _targets(arguments.domain))
    task.why = f"{arguments.table.name} is the target"
    if arguments.domain:
        domain, names = _domains(task.tables[0], arguments.domain)
        task.why = f"column {arguments.domain!r} says which rows are of the target"
    else:
        sizes = [len(rows) for rows in task.tables]
        domain = np.repeat(np.arange(len(files)) - 1, sizes)
        names = {number: path.name for number, path in enumerate(arguments.source)}
    if names:
        task.why += f" and {', '.join(map(str, names.values()))} of related tasks"
    task.facts["sources"] = names
    task.metadata["sample_domain"] = domain
    if (domain < 0).sum() < 2:
        raise NoAnswerError(f"{arguments.table}: one row of the target; two are needed at least")
    from scarce import TransferOneClassSVM

    task.estimator = TransferOneClassSVM(offset="original")
    if isinstance(radius, str) and radius != "knn":
        task.metadata["sample_radius"] = not_negative(task, radius, "radius")
        task.why += ", which may be off by a radius each"
    elif radius is not None:
        task.estimator.set_params(radius=radius)
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


def _targets(name: str | None) -> Callable[[Rows], Array] | None:
    """Return what says which rows of a long table are of the target: all of them are wanted."""
    if name is None:
        return None

    def of_the_target(rows: Rows) -> Array:
        texts = [str(text).strip().lower() for text in rows.texts(name)]
        return np.array([text == TARGET or text.startswith("-") for text in texts])

    return of_the_target


def _domains(rows: Rows, name: str) -> tuple[Array, dict[int, str]]:
    """Return the task of each row, the target's -1, and the sources' names."""
    if rows.kind(name) == "number":
        values = rows.numbers(name)
        if np.isnan(values).any() or (values != np.round(values)).any():
            row = int((np.isnan(values) | (values != np.round(values))).argmax())
            raise TableError(f"{rows.place(row, name)}: {values[row]}; a domain is a whole number")
        targets = np.unique(values[values < 0])
        codes = np.where(values < 0, -1, values).astype(np.int64)
        words = {int(code): f"{name} {code}" for code in np.unique(codes) if code >= 0}
    else:
        texts = rows.texts(name)
        is_target = np.array([str(text).strip().lower() == TARGET for text in texts])
        others = sorted({str(text) for text in texts[~is_target]})
        targets = np.unique(is_target[is_target])
        places = {text: number for number, text in enumerate(others)}
        codes = np.array([places.get(str(text), -1) for text in texts])
        words = {number: text for text, number in places.items()}
    if targets.size != 1:
        number = f"{targets.size} targets" if targets.size else "no target"
        found = f" ({', '.join(f'{value:g}' for value in targets)})" if targets.size else ""
        raise TableError(
            f"{rows.path}, column {name!r}: {number}{found}; one negative number, or the word "
            f"{TARGET}, says which rows are of the target"
        )
    return codes, words
