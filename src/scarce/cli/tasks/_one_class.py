"""Rows of one class, and tensors of one class."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from scarce.cli._outputs import UsageError
from scarce.cli.scores._model import group_names
from scarce.cli.tasks._task import Task, read_tables
from scarce.io import TableError, read_arrays


def one_class(arguments: argparse.Namespace) -> Task:
    if _is_tensor(arguments.table):
        if arguments.per is not None:
            raise UsageError("--per is for tables with columns, not for tensors")
        # Ranks better than weights of low rank, which are there to be read: docs/guide/tensors.md.
        task = _samples(arguments)
        task.facts["shape"] = task.X.shape[1:]
        task.X = task.X.reshape(len(task.X), -1)
        task.notes.append("--kind tensor learns a weight for each entry, which can be read")
    else:
        roles = {} if arguments.per is None else {arguments.per: "group"}
        task = read_tables(arguments, [arguments.table], roles)
        task.why = f"all rows of {arguments.table.name} belong to one class"
        if arguments.per is not None:
            task.groups = group_names(task.tables[0], arguments.per)
            task.why += f", for each value of {arguments.per!r}"
    from scarce import OneClassSVM

    task.estimator = OneClassSVM(gamma="neighbors", nu=0.1)
    return task


def tensor(arguments: argparse.Namespace) -> Task:
    if arguments.table.suffix.lower() not in (".npy", ".npz"):
        raise UsageError(f"tensors come from .npy or .npz files, not from {arguments.table.name}")
    task = _samples(arguments)
    from scarce import OneClassSTM

    task.estimator = OneClassSTM()
    return task


def _samples(arguments: argparse.Namespace) -> Task:
    """Return a task of the samples of a NumPy file, without an estimator."""
    if arguments.features or arguments.drop:
        raise UsageError("--features and --drop are for tables with columns, not for tensors")
    X, columns = read_arrays(arguments.table)
    X = np.asarray(X, dtype=np.float64)
    broken = ~np.isfinite(X.reshape(len(X), -1)).all(axis=1)
    if broken.any():
        raise TableError(f"{arguments.table}, sample {broken.argmax() + 1}: not a finite number")
    shape = " x ".join(map(str, X.shape[1:]))
    task = Task("", f"{arguments.table.name} holds {len(X)} samples of {shape}, all of one class")
    task.X = X
    for option, role in ((arguments.id, "ids"), (arguments.weight, "weights")):
        if option is not None and option not in columns:
            have = ", ".join(columns) or "no array of one value per sample"
            raise TableError(f"{arguments.table} has no array {option!r} of {role}; it has {have}")
    task.ids, task.id_name = np.arange(1, len(X) + 1), arguments.id or "row"
    if arguments.id:
        task.ids = np.asarray(columns[arguments.id])
    if arguments.weight:
        task.metadata["sample_weight"] = np.asarray(columns[arguments.weight], dtype=np.float64)
    return task


def _is_tensor(path: Path) -> bool:
    if path.suffix.lower() not in (".npy", ".npz") or not path.is_file():
        return False
    return bool(read_arrays(path)[0].ndim > 2)
