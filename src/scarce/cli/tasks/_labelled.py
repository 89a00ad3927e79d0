"""Rows with a label each, classes or numbers, and how well held-out ones are answered."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.cli._outputs import NoAnswerError, UsageError
from scarce.cli.tasks._task import Task, read_tables
from scarce.io import TableError


def open_set(arguments: argparse.Namespace) -> Task:
    task = classify(arguments)
    lonely = [name for name, count in task.facts["classes"].items() if count < 2]
    if lonely:
        raise NoAnswerError(
            f"{arguments.table}, column {arguments.label!r}: class {lonely[0]!r} has one "
            "row; a class needs two, and some dozens to be distinguished from unknown rows"
        )
    from scarce import OpenSetClassifier

    task.estimator = OpenSetClassifier()
    return task


def classify(arguments: argparse.Namespace) -> Task:
    task, texts = _read(arguments)
    values, counts = np.unique(texts.astype(str), return_counts=True)
    if values.size < 2:
        raise NoAnswerError(
            f"{arguments.table}, column {arguments.label!r}: every row is {str(values[0])!r}; two "
            "classes are needed at least"
        )
    if counts.max() < 2 or values.size > len(texts) / 2:
        raise UsageError(
            f"--label {arguments.label}: {values.size} values in {len(texts)} rows are too "
            "many for classes; --kind regress is for numbers"
        )
    task.y = texts.astype(object)
    task.why = f"column {arguments.label!r} has {values.size} classes"
    task.facts["classes"] = dict(zip(values.tolist(), counts.tolist(), strict=True))
    from scarce import SVC

    task.estimator = SVC()
    return task


def regress(arguments: argparse.Namespace) -> Task:
    task, _ = _read(arguments)
    reading = task.tables[0].reading(arguments.label)
    if reading.kind != "number":
        raise TableError(
            f"{arguments.table}, column {arguments.label!r}: {reading.kind} instead of numbers; "
            "--kind classify is for classes"
        )
    task.y = task.tables[0].numbers(arguments.label)
    spread = float(task.y.std())
    if spread == 0:
        raise NoAnswerError(
            f"{arguments.table}, column {arguments.label!r}: every row is {task.y[0]:g}; nothing "
            "is to be predicted"
        )
    task.why = f"column {arguments.label!r} holds numbers from {task.y.min():g} to {task.y.max():g}"
    from scarce import SVR

    # Both are in the units of the label, so that the scale of the label changes nothing.
    task.estimator = SVR(C=spread, epsilon=0.1 * spread)
    return task


def _read(arguments: argparse.Namespace) -> tuple[Task, Array]:
    """Return a task of the rows that have a label, and the labels as text."""
    task = read_tables(arguments, [arguments.table], {arguments.label: "label"})
    rows = task.tables[0]
    texts = rows.texts(arguments.label)
    given = np.array([isinstance(text, str) for text in texts])
    if not given.any():
        raise NoAnswerError(f"{rows.path}, column {arguments.label!r}: every value is missing")
    if not given.all():
        task.tables[0] = rows.take(np.flatnonzero(given))
        task.ids = task.ids[given]
        task.metadata = {name: values[given] for name, values in task.metadata.items()}
        task.notes.append(f"{(~given).sum():,} rows without a label are left out")
    return task, texts[given]


FOLDS = 5


def can_hold_out(task: Any) -> bool:
    """Return whether rows can be held out: a fit without them still has two classes."""
    classes = task.facts.get("classes")
    return len(task.y) >= 2 * FOLDS and (not classes or sorted(classes.values())[-2] > 1)


def held_out(task: Any) -> dict[str, float]:
    """Return errors of held-out rows, and those of an answer that looks at no column.

    Returned: "ours" and "plain": proportions of right classes beside that of the largest class, or
    mean absolute errors beside that of the median.
    """
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    classes = task.kind != "regress"
    splitter = (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=0)
    if not can_hold_out(task):
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds, and the fit's own
        found = cross_val_predict(
            clone(task.pipeline), task.X, task.y, cv=splitter, params=task.fit_parameters
        )
    if classes:
        largest = max(task.facts["classes"].values()) / len(task.y)
        return {"ours": float(np.mean(found == task.y)), "plain": largest}
    middle = np.abs(task.y - np.median(task.y)).mean()
    return {"ours": float(np.abs(found - task.y).mean()), "plain": float(middle)}
