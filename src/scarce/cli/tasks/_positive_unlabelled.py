"""Rows of a class, and rows that may be of it or not."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from scarce._arrays import Array
from scarce.cli._outputs import NoAnswerError, UsageError
from scarce.cli.tasks._task import Task, read_tables
from scarce.io import Rows, TableError

UNLABELLED = "unlabelled"
NO_ROW = "none"  # what --negative says if no row was checked
SHOWN = 8  # values of a column in a message


def positive_unlabelled(arguments: argparse.Namespace) -> Task:
    if arguments.unlabelled and arguments.label:
        raise UsageError("--unlabelled and --label cannot be used together; give one of them")
    negative, other = None, None
    if arguments.unlabelled:
        for name in ("positive", "negative"):
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name} names a value of --label, which is not given")
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
        texts = task.tables[0].texts(arguments.label)
        word, other = _words(task, arguments, texts)
        positive = np.array([text == word for text in texts])
        task.why = (
            f"column {arguments.label!r} is {word!r} in some rows"
            + ("" if other is None else f", {other!r} in some that do not belong to the class,")
            + " and the others may be or not"
        )
        if other is not None:
            negative = np.array([text == other for text in texts])
    if positive.all() or not positive.any():
        what = "all rows are" if positive.all() else "no row is"
        raise NoAnswerError(f"{arguments.table}: {what} {word!r}; unlabelled rows are needed too")
    task.y = np.where(positive, word, UNLABELLED).astype(object)
    if negative is not None:
        task.y[negative] = other
        if (positive | negative).all():
            raise NoAnswerError(
                f"{arguments.table}: every row is {word!r} or {other!r}, none is unlabelled; "
                "--kind classify is for rows that all have a label"
            )
    from scarce import PositiveUnlabeledClassifier

    task.estimator = PositiveUnlabeledClassifier(pos_label=word, neg_label=other)
    task.facts["positive"] = positive
    return task


def _labelled_rows(arguments: argparse.Namespace) -> Callable[[Rows], Array]:
    """Return what says which rows of a long table are labelled: all of them are wanted."""

    def labelled(rows: Rows) -> Array:
        texts = rows.texts(arguments.label)
        if arguments.positive is not None:
            named = (arguments.positive, arguments.negative)
            return np.array([isinstance(text, str) and text in named for text in texts])
        return np.array([isinstance(text, str) and not _unlabelled(text) for text in texts])

    return labelled


def _unlabelled(word: str) -> bool:
    from scarce.positive_unlabeled import UNLABELED_WORDS  # loads scikit-learn

    return word.strip().lower() in UNLABELED_WORDS


def _words(task: Task, arguments: argparse.Namespace, texts: Array) -> tuple[str, str | None]:
    """Return the values of rows of the class, and of rows that were checked and are not."""
    rows, name = task.tables[0], arguments.label
    values = sorted({text for text in texts if isinstance(text, str)})
    some = ", ".join(map(repr, values[:SHOWN]))
    word, other = arguments.positive, arguments.negative
    if word is None:
        named = [value for value in values if not _unlabelled(value)]
        if len(named or values) != 1:
            more = ", ..." if len(values) > SHOWN else ""
            raise UsageError(
                f"--label {name} needs --positive, one of {', '.join(values[:SHOWN])}{more}, where "
                "all other rows are unlabelled; --kind classify where every value is a class, "
                "--kind regress where it is a number to predict"
            )
        (word,) = named or values
    for option, value in (("--positive", word), ("--negative", other)):
        if value is not None and value not in values and (option, value) != ("--negative", NO_ROW):
            raise TableError(
                f"{rows.path}, column {name!r}: no row is {value!r}, as {option} says; values are "
                f"{some}"
            )
        if value is not None and value.lower() == UNLABELLED:
            raise UsageError(f"{option} must not be {value!r}, the word for all other rows")
    if word == other:
        raise UsageError(f"--positive and --negative are both {word!r}; they must differ")
    others = [value for value in values if value != word]
    missing = not all(isinstance(text, str) for text in texts)
    if other is None and len(others) + missing == 2:
        # One of the two means unlabelled, and the other may: that makes a large difference.
        rest = " and ".join([*map(repr, others), *["no value"] * missing])
        likely = min(others, key=_unlabelled)  # the first that does not mean unlabelled
        raise UsageError(
            f"--label {name}: beside {word!r} rows have {rest}; --negative {likely} if these "
            f"were checked and do not belong to the class, --negative {NO_ROW} if none was"
        )
    other = None if other == NO_ROW and NO_ROW not in values else other
    unlabelled = [value for value in others if value != other]
    if len(unlabelled) > 1:
        task.notes.append(
            f"column {name!r} has {len(unlabelled)} other values; rows of all of them are taken "
            "for unlabelled"
        )
    return word, other
