"""Proportions of positives in groups of rows."""

from __future__ import annotations

import argparse

import numpy as np

from scarce._arrays import Array
from scarce.cli._outputs import NoAnswerError, UsageError
from scarce.cli._table_options import dialect_of
from scarce.cli.tasks._task import Task, read_tables
from scarce.io import Rows, TableError, open_table


def groups(arguments: argparse.Namespace) -> Task:
    if (arguments.share is None) == (arguments.shares is None):
        raise UsageError("--group needs --share COLUMN or --shares TABLE, one of them")
    roles = {arguments.group: "group"} | ({arguments.share: "share"} if arguments.share else {})
    task = read_tables(arguments, [arguments.table], roles)
    rows = task.tables[0]
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
        raise NoAnswerError(f"{rows.path}: one group; proportions of several groups are needed")
    groups = np.full(len(names), -1)
    groups[~common] = codes
    task.y, task.metadata["groups"] = shares, groups
    task.facts["groups"] = ids
    task.why = (
        f"{ids.size} groups in column {arguments.group!r} have a proportion of positives each"
    )
    if arguments.source_model is None:
        from scarce import GroupProbabilitySVM

        task.estimator = GroupProbabilitySVM()
    else:
        from scarce.cli.tasks._source_model import source_estimator

        task.columns, task.estimator, task.plan = source_estimator(
            arguments.source_model, task.plan
        )
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
                f"{shares[before]:g} in row {rows.first + before}; a group has one proportion"
            )
    return shares


def _check_shares(rows: Rows, name: str, shares: Array, free: Array) -> None:
    wrong = ~((shares >= 0) & (shares <= 1)) & ~free
    if wrong.any():
        row = int(wrong.argmax())
        value = "missing" if np.isnan(shares[row]) else f"{shares[row]:g}"
        meant = f", {shares[row]:g} % is {shares[row] / 100:g}" if 1 < shares[row] <= 100 else ""
        raise TableError(
            f"{rows.place(row, name)}: {value}; a proportion lies between 0 and 1{meant}"
        )


def _shares_of_groups(
    arguments: argparse.Namespace, names: Array, common: Array, rows: Rows
) -> Array:
    table = open_table(arguments.shares, dialect_of(arguments)).read()
    if arguments.group not in table.names or len(table.names) < 2:
        raise TableError(
            f"{table.path} must have the column {arguments.group!r} and one of proportions; it has "
            f"{', '.join(table.names)}"
        )
    others = [name for name in table.names if name != arguments.group]
    column = "share" if "share" in others else others[0]
    shares, groups = table.numbers(column), table.texts(arguments.group)
    _check_shares(table, column, shares, np.zeros(len(shares), dtype=bool))
    known: dict[str, float] = {}
    for place, (name, share) in enumerate(zip(groups, shares, strict=True)):
        if name in known:
            raise TableError(f"{table.place(place, arguments.group)}: group {name!r} a second time")
        known[name] = float(share)
    found = np.full(len(names), np.nan)
    for row in np.flatnonzero(~common):
        if names[row] not in known:
            where = rows.place(int(row), arguments.group)
            raise TableError(f"{where}: group {names[row]!r} has no proportion in {table.path}")
        found[row] = known[names[row]]
    return found
