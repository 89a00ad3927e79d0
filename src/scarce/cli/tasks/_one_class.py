"""Rows of one class, and tensors of one class."""

from __future__ import annotations

import argparse

import numpy as np

from scarce.cli._errors import UsageError
from scarce.cli.tasks._task import Task, read_tables
from scarce.io import TableError, read_arrays


def one_class(arguments: argparse.Namespace) -> Task:
    task = read_tables(arguments, [arguments.table], {})
    task.why = f"all rows of {arguments.table.name} are of one class"
    from scarce import OneClassSVM

    task.machine = OneClassSVM(gamma="neighbors", nu=0.1)
    return task


def tensor(arguments: argparse.Namespace) -> Task:
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
    task = Task("tensor", f"{arguments.table.name} holds {len(X)} samples of {shape}")
    task.X = X
    for option, role in ((arguments.id, "ids"), (arguments.weight, "weights")):
        if option is not None and option not in columns:
            have = ", ".join(columns) or "no array of one value a sample"
            raise TableError(f"{arguments.table} has no array {option!r} of {role}; it has {have}")
    task.ids, task.id_name = np.arange(1, len(X) + 1), arguments.id or "row"
    if arguments.id:
        task.ids = np.asarray(columns[arguments.id])
    if arguments.weight:
        task.metadata["sample_weight"] = np.asarray(columns[arguments.weight], dtype=np.float64)
    from scarce import OneClassSTM

    task.machine = OneClassSTM()
    return task
