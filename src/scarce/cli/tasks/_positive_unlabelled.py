"""Rows of a class, and rows that may be of it or not."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from scarce._arrays import Array
from scarce.cli._errors import NoAnswerError, UsageError
from scarce.cli.tasks._task import Task, read_tables
from scarce.io import Rows, TableError

UNLABELLED = "unlabelled"


def positive_unlabelled(arguments: argparse.Namespace) -> Task:
    if arguments.unlabelled and arguments.label:
        raise UsageError("--unlabelled and --label say the same in two ways; give one")
    if arguments.unlabelled:
        if arguments.positive is not None:
            raise UsageError("--positive names a value of --label, which is not given")
        task = read_tables(arguments, [arguments.table, arguments.unlabelled], {})
        n = len(task.tables[0])
        positive, word = np.arange(task.n_rows) < n, "positive"
        task.why = (
            f"{arguments.table.name} holds rows of the class and {arguments.unlabelled.name} rows "
            "that may be or not"
        )
    else:
        roles = {arguments.label: "label"}
        task = read_tables(arguments, [arguments.table], roles, _labelled_rows(arguments))
        positive, word = _labelled(task, arguments)
        task.why = (
            f"column {arguments.label!r} is {word!r} in some rows and the others may be or not"
        )
    if positive.all() or not positive.any():
        what = "all rows are" if positive.all() else "no row is"
        raise NoAnswerError(f"{arguments.table}: {what} {word!r}; unlabelled rows are needed too")
    task.y = np.where(positive, word, UNLABELLED).astype(object)
    from scarce import PositiveUnlabeledSVC

    task.machine = PositiveUnlabeledSVC(pos_label=word)
    task.facts["positive"] = positive
    return task


def _labelled_rows(arguments: argparse.Namespace) -> Callable[[Rows], Array]:
    """Return what says which rows of a long table are labelled: all of them are wanted."""

    def labelled(rows: Rows) -> Array:
        texts = rows.texts(arguments.label)
        if arguments.positive is not None:
            return np.asarray(texts == arguments.positive)
        return np.array([isinstance(text, str) for text in texts])

    return labelled


def _labelled(task: Task, arguments: argparse.Namespace) -> tuple[Array, str]:
    rows, name = task.tables[0], arguments.label
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
