"""A model of a file, and what it answers to rows of tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scarce._model_files import ModelFileError, load, read_card
from scarce.cli._drift import ScoreCounts
from scarce.cli._errors import told
from scarce.cli._words import machine_of
from scarce.io import ColumnPlan, Dialect, Rows, Table, TableError, open_table, read_arrays
from scarce.io._extra import tables_library
from scarce.model_selection import CalibratedOneClass

SAMPLES = 1024  # tensors at a time


@dataclass(frozen=True)
class FittedModel:
    """A model of a file, and what the file says of it.

    Attributes
    ----------
    model : estimator
        The model.
    plan : ColumnPlan
        The columns that it takes; of none for tensors.
    id_name : str or None
        The column that named rows at the fit.
    """

    model: Any
    plan: ColumnPlan
    id_name: str | None

    def source(self, path: Path, dialect: Dialect) -> TableSource | TensorSource:
        """Return where rows come from: a table, or a file of tensors."""
        if self.plan.types:
            return TableSource(open_table(path, dialect), self.plan)
        return TensorSource(path, self.model)

    def notes(self, source: Any, name: str | None) -> list[str]:
        """Return what is worth telling of a table before its rows are read."""
        known = {*self.plan.types, name, *(column.name for column in self.plan.columns)}
        extra = [each for each in source.names if each not in known]
        return [f"columns that the model does not know are ignored: {', '.join(extra)}"] * bool(
            extra
        )


def read_model(path: Path) -> FittedModel:
    """Return the model of a file.

    Parameters
    ----------
    path : Path
        A file that `scarce fit` wrote, or `scarce.save` from a model of named columns.

    Returns
    -------
    FittedModel
        The model.
    """
    card, model = read_card(path), load(path)
    if not hasattr(model, "predict"):
        raise ModelFileError(f"{path} holds {type(model).__name__}, which decides nothing")
    try:
        fit = card.get("fit", {})
        plan = ColumnPlan.from_dicts(fit.get("columns", []))
        name = fit.get("id")
    except (AttributeError, KeyError, TypeError) as error:
        raise ModelFileError(f"{path} is damaged: {error}") from None
    if not plan.columns and not hasattr(machine_of(model), "tensor_shape_"):
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            names = [f"x{number}" for number in range(getattr(model, "n_features_in_", 0))]
        plan = ColumnPlan.of_numbers([str(each) for each in names])
    return FittedModel(model, plan, None if name == "row" else name)


class TableSource:
    """Rows of a table, as the model takes them."""

    def __init__(self, table: Table, plan: ColumnPlan) -> None:
        self.names, self.notes, self.size = table.names, table.notes, table.size
        self._table, self._plan = table, plan

    def batches(self, name: str | None) -> Iterator[tuple[Batch, float]]:
        """Yield rows, and how far the table is read."""
        types = self._plan.types
        wanted = types | ({name: "any"} if name and name not in types else {})
        done = 0
        for rows in self._table.batches(wanted):
            done += rows.arrow.nbytes if self._table.first_row == 2 else len(rows)
            frame = self._plan.frame(rows)
            yield Batch(frame, name or "row", _names(rows, name), rows), min(done, self.size)


class TensorSource:
    """Samples of a NumPy file."""

    notes: tuple[str, ...] = ()

    def __init__(self, path: Path, model: Any) -> None:
        if path.suffix.lower() not in (".npy", ".npz"):
            raise TableError(f"{path}: the model takes tensors, from .npy or .npz files")
        self._X, self._columns = read_arrays(path)
        shape = tuple(machine_of(model).tensor_shape_)
        if tuple(self._X.shape[1:]) != shape:
            raise TableError(
                f"{path} holds samples of {self._X.shape[1:]}, the model takes {shape}"
            )
        self.names, self.size = list(self._columns), len(self._X)
        broken = ~np.isfinite(self._X.reshape(self.size, -1)).all(axis=1)
        if broken.any():
            raise TableError(f"{path}, sample {broken.argmax() + 1}: not a finite number")

    def batches(self, name: str | None) -> Iterator[tuple[Batch, float]]:
        """Yield samples, and how many were."""
        for start in range(0, self.size, SAMPLES):
            stop = min(start + SAMPLES, self.size)
            names = np.arange(start + 1, stop + 1)
            if name is not None:
                names = np.asarray(self._columns[name][start:stop])
            X = np.asarray(self._X[start:stop], dtype=np.float64)
            yield Batch(X, name or "row", names), stop


@dataclass(frozen=True)
class Batch:
    """Rows and their names."""

    X: Any
    id_name: str
    ids: Any
    rows: Rows | None = None

    def refused(self, reason: str) -> TableError:
        """Return why a model took no answer from these rows, with the first gap if there is one."""
        if self.rows is not None and not reason.startswith("X has"):
            for name in self.X.columns:
                gaps = np.flatnonzero(self.X[name].isna())
                if gaps.size:
                    place = self.rows.place(int(gaps[0]), name)
                    return TableError(f"{place}: missing, and the model fills no gaps")
        return TableError(told(reason))


class Answers:
    """What a model answers, and what is counted meanwhile.

    Parameters
    ----------
    fitted : FittedModel
        The model.
    name : str or None
        The column that names rows.
    reasons : int or None
        How many columns explain a row.
    """

    def __init__(self, fitted: FittedModel, name: str | None, reasons: int | None) -> None:
        self.model, self.reasons = fitted.model, reasons
        self.has_p = hasattr(self.model, "left_out_scores_")
        self.has_probability = not self.has_p and hasattr(self.model, "predict_proba")
        self.rows = 0
        self.decisions: dict[str, int] = {}
        self.gaps: dict[str, int] = {}
        self.new: dict[str, dict[str, int]] = {}
        self._sign = direction(self.model)
        self._known = _categories(self.model)
        self._counts = ScoreCounts(self.model.left_out_scores_) if self.has_p else None

    def of(self, batch: Batch) -> Any:
        """Return the frame of answers to some rows."""
        self._count(batch.X)
        named = hasattr(self.model, "feature_names_in_") or not hasattr(batch.X, "columns")
        X = batch.X if named else batch.X.to_numpy()
        try:
            columns = self._answers(batch, X)
        except ValueError as error:
            raise batch.refused(str(error)) from None
        return tables_library("pandas").DataFrame(columns)

    def _answers(self, batch: Batch, X: Any) -> dict[str, Any]:
        if isinstance(self.model, CalibratedOneClass) and self.model.method == "one_model":
            scored = self.model.score_samples(X)  # once for all answers
            scores = scored - self.model.offset_
            decisions = np.where(scores >= 0, 1, -1)  # as its predict
            more = {"p_value": self.model._left_out().p_values(scored)}
        else:
            scores = np.asarray(self.model.decision_function(X), dtype=np.float64)
            decisions, more = np.asarray(self.model.predict(X)), {}
            if self.has_p:
                scored = self.model.score_samples(X)
                more["p_value"] = self.model.p_values(X)
        scores = self._sign * scores
        columns = {batch.id_name: batch.ids, "score": scores, "decision": decisions, **more}
        if self.has_probability:
            columns["probability"] = np.asarray(self.model.predict_proba(X))[:, -1]
        if self.reasons:
            from scarce import explain

            names, parts = explain(self.model, X).largest(self.reasons)
            for place in range(names.shape[1]):
                columns[f"reason_{place + 1}"] = names[:, place].astype(str)
                columns[f"part_{place + 1}"] = self._sign * parts[:, place]
        self.rows += len(scores)
        for value, number in zip(
            *np.unique(decisions.astype(str), return_counts=True), strict=True
        ):
            self.decisions[str(value)] = self.decisions.get(str(value), 0) + int(number)
        if self._counts is not None:
            self._counts.add(np.asarray(scored))
        return columns

    def _count(self, X: Any) -> None:
        if not hasattr(X, "columns"):
            return
        for name in X.columns:
            values = X[name]
            missing = int(values.isna().sum())
            if missing:
                self.gaps[name] = self.gaps.get(name, 0) + missing
            if name in self._known:
                found = values[~values.isin(self._known[name]) & values.notna()]
                counts = self.new.setdefault(name, {})
                for value, number in found.value_counts().items():
                    if value in counts or len(counts) < 1000:
                        counts[str(value)] = counts.get(str(value), 0) + int(number)

    def summary(self) -> list[str]:
        """Return what was counted, a line each."""
        parts = [f"{number} {value}" for value, number in sorted(self.decisions.items())]
        lines = [f"{self.rows} rows: {', '.join(parts)}"]
        if self.gaps:
            gaps = ", ".join(f"{name} {number}" for name, number in self.gaps.items())
            lines.append(f"missing values, filled as at the fit: {gaps}")
        for name, counts in self.new.items():
            if counts:
                some = ", ".join(
                    f"{value!r} {number}" for value, number in list(counts.items())[:5]
                )
                more = f" and {len(counts) - 5} more" if len(counts) > 5 else ""
                lines.append(f"new values in column {name!r}, unknown to the model: {some}{more}")
        return lines

    def drift(self) -> str | None:
        """Return in what the rows differ from those of the fit, None if they need not."""
        return None if self._counts is None else self._counts.drift()


class Ends:
    """The rows with the highest or the lowest scores so far."""

    def __init__(self, n_rows: int, *, highest: bool) -> None:
        self.n_rows, self.highest = n_rows, highest
        self._kept: Any = None

    def add(self, frame: Any) -> None:
        """Look at further rows."""
        pandas = tables_library("pandas")
        both = frame if self._kept is None else pandas.concat([self._kept, frame])
        ordered = both.sort_values("score", ascending=not self.highest, kind="stable")
        self._kept = ordered.head(self.n_rows)

    def rows(self) -> Any:
        """Return the rows, the best first."""
        return self._kept


def direction(model: Any) -> float:
    """Return 1 if higher decision values mean the class that was learnt, else -1.

    Classifiers have positive values for the label that sorts last, whichever the positive one is.
    """
    machine = machine_of(model)
    positive = getattr(machine, "pos_label_", None)
    return -1.0 if positive is not None and positive == machine.classes_[0] else 1.0


def _names(rows: Rows, name: str | None) -> Any:
    if name is not None and tables_library("pyarrow").types.is_integer(
        rows.arrow.column(name).type
    ):
        return rows.arrow.column(name).to_pandas()
    return rows.row_names(name)


def _categories(model: Any) -> dict[str, list[str]]:
    """Return the values that a model knows of each category column."""
    model = getattr(model, "estimator_", model)
    columns = model[0] if hasattr(model, "steps") else None
    columns = getattr(columns, "estimator", columns)  # a frozen one
    found: dict[str, list[str]] = {}
    for _, step, names in getattr(columns, "transformers_", ()):
        for name, values in zip(names, getattr(step, "categories_", ()), strict=False):
            found[str(name)] = [value for value in values if isinstance(value, str)]
    return found
