"""A model of a file, and the rows of tables as it takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._model_files import ModelFileError, load, read_card
from scarce.cli._info import estimator_of
from scarce.cli._outputs import told
from scarce.io import (
    ColumnPlan,
    Dialect,
    Rows,
    Table,
    TableError,
    missing_columns,
    open_table,
    read_arrays,
    tables_library,
)

SAMPLES = 1024  # tensors at a time


@dataclass(frozen=True)
class FittedModel:
    """A model of a file, and what the file says of it."""

    path: Path  # the file
    kind: str  # what it was learnt from, if `scarce fit` wrote it
    plan: ColumnPlan  # the columns that it takes; of none for tensors
    id_name: str | None  # the column that named rows at the fit
    # of samples that the model takes as rows of all their entries
    shape: tuple[int, ...] | None = None
    per: str | None = None  # the column that says which of several models a row is for
    missing: tuple[str, ...] = ()  # texts that stood for a missing value at the fit

    @cached_property
    def model(self) -> Any:
        """The model, built when it is asked for: tables that are refused need none."""
        model = load(self.path)
        if not hasattr(model, "predict"):
            raise ModelFileError(f"{self.path} holds {type(model).__name__}, which has no predict")
        return model

    def source(self, path: Path, dialect: Dialect, name: str | None) -> Source:
        """Return where rows come from: a table, or a file of tensors.

        ``dialect``: how a CSV file is written. ``name``: the column that names rows; by default
        that of the fit, if there is one. Returned: with `names`, `notes`, `size`, `id_name` and
        `batches`.
        """
        if self.plan.types:
            dialect = replace(dialect, missing=(*self.missing, *dialect.missing))
            return TableSource(open_table(path, dialect), self, name)
        return TensorSource(path, self, name)

    def id_of(self, names: list[str], name: str | None) -> str | None:
        """Return the column that names rows, None for their numbers."""
        return name or (self.id_name if self.id_name in names else None)

    def notes(self, source: Source) -> list[str]:
        """Return notes on a table before its rows are read."""
        known = {source.id_name, *(column.name for column in self.plan.columns)}
        extra = [each for each in source.names if each not in known]
        return [f"columns that the model does not know are ignored: {', '.join(extra)}"] * bool(
            extra
        )


def read_model(path: Path) -> FittedModel:
    """Return the model of a file.

    ``path``: a file that `scarce fit` wrote, or `scarce.save` from a model of named columns.
    """
    card = read_card(path)
    try:
        fit = card.get("fit", {})
        plan = ColumnPlan.from_dicts(fit.get("columns", []))
        name, kind = fit.get("id"), str(fit.get("kind", ""))
        shape = tuple(int(size) for size in fit["shape"]) if fit.get("shape") else None
        per = None if fit.get("per") is None else str(fit["per"])
        missing = tuple(str(text) for text in fit.get("missing", []))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is damaged: {error}") from None
    found = FittedModel(path, kind, plan, None if name == "row" else name, shape, per, missing)
    if (
        plan.columns
        or shape
        or kind == "tensor"
        or hasattr(estimator_of(found.model), "tensor_shape_")
    ):
        return found
    names = getattr(found.model, "feature_names_in_", None)
    if names is None:
        names = [f"x{number}" for number in range(getattr(found.model, "n_features_in_", 0))]
    return replace(found, plan=ColumnPlan.of_numbers([str(each) for each in names]))


def group_names(rows: Rows, name: str) -> Array:
    """Return the values of the column that says which model a row is for."""
    texts = rows.texts(name)
    missing = np.array([not isinstance(text, str) for text in texts], bool)
    if missing.any():
        raise TableError(f"{rows.place(int(missing.argmax()), name)}: missing; --per needs a value")
    return texts.astype(str)


class TableSource:
    """Rows of a table, as a model takes them. Tables that begin with an error are refused.

    ``name``: the column that names rows.
    """

    def __init__(self, table: Table, fitted: FittedModel, name: str | None) -> None:
        self.names, self.notes, self.size = table.names, table.notes, table.size
        self.id_name = fitted.id_of(table.names, name)
        self._table, self._plan = table, fitted.plan
        types = fitted.plan.types
        own = {} if self.id_name is None or self.id_name in types else {self.id_name: "any"}
        self._per = fitted.per
        if self._per is not None:
            table.check_has(self._per)
            own = own | {self._per: "any"}
        self._wanted = types | own
        next(self._table.batches(self._wanted))  # before the model is built

    def batches(self) -> Iterator[tuple[Batch, float]]:
        """Yield rows, and how far the table is read."""
        done = 0
        for rows in self._table.batches(self._wanted):
            done += rows.arrow.nbytes if self._table.first_row == 2 else len(rows)
            frame = self._plan.frame(rows)
            groups = None if self._per is None else group_names(rows, self._per)
            yield Batch(frame, _names(rows, self.id_name), rows, groups), min(done, self.size)


class TensorSource:
    """Samples of a NumPy file, as a model takes them.

    ``name``: the array that names samples.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, path: Path, fitted: FittedModel, name: str | None) -> None:
        if path.suffix.lower() not in (".npy", ".npz"):
            raise TableError(f"{path}: the model takes tensors, from .npy or .npz files")
        self._X, self._columns = read_arrays(path)
        self._as_rows = fitted.shape is not None
        shape = fitted.shape or tuple(estimator_of(fitted.model).tensor_shape_)
        if tuple(self._X.shape[1:]) != shape:
            raise TableError(
                f"{path} holds samples of {self._X.shape[1:]}, the model takes {shape}"
            )
        self.names, self.size = list(self._columns), len(self._X)
        self.id_name = fitted.id_of(self.names, name)
        if self.id_name is not None and self.id_name not in self._columns:
            raise missing_columns(path, [self.id_name], self.names)
        broken = ~np.isfinite(self._X.reshape(self.size, -1)).all(axis=1)
        if broken.any():
            raise TableError(f"{path}, sample {broken.argmax() + 1}: not a finite number")

    def batches(self) -> Iterator[tuple[Batch, float]]:
        """Yield samples, and how many were."""
        for start in range(0, self.size, SAMPLES):
            stop = min(start + SAMPLES, self.size)
            names = np.arange(start + 1, stop + 1)
            if self.id_name is not None:
                names = np.asarray(self._columns[self.id_name][start:stop])
            X = np.asarray(self._X[start:stop], dtype=np.float64)
            X = X.reshape(len(X), -1) if self._as_rows else X
            yield Batch(X, names), stop


Source = TableSource | TensorSource


@dataclass(frozen=True)
class Batch:
    """Rows and their names."""

    X: Any
    ids: Any
    rows: Rows | None = None
    groups: Any = None

    def refused(self, reason: str) -> TableError:
        """Return why a model took no answer from these rows, with the first gap if there is one."""
        if self.rows is not None and not reason.startswith("X has"):
            for name in self.X.columns:
                gaps = np.flatnonzero(self.X[name].isna())
                if gaps.size:
                    place = self.rows.place(int(gaps[0]), name)
                    return TableError(f"{place}: missing, and the model fills no gaps")
        return TableError(told(reason))


def _names(rows: Rows, name: str | None) -> Any:
    if name is not None and tables_library("pyarrow").types.is_integer(
        rows.arrow.column(name).type
    ):
        return rows.arrow.column(name).to_pandas()
    return rows.row_names(name)
