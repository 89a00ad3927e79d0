"""The fits and answers of many groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce._arrays import Array
from scarce._frame import collected_notes, note, safe_indexing
from scarce._sklearn import copied
from scarce.kernels import distinct_rows
from scarce.one_class import TransferOneClassSVM


class Data:
    """What a fit is given, by rows."""

    def __init__(self, X: Any, given: dict[str, Any]) -> None:
        self.X, self.given = X, given

    def fitted(self, model: Any, rows: Array) -> Any:
        """Return a copy of a model that was never fitted, fitted to some rows."""
        some = {name: safe_indexing(value, rows) for name, value in self.given.items()}
        return copied(model).fit(safe_indexing(self.X, rows), **some)

    def transferred(self, rate: float | None, others: Array, rows: Array) -> Any:
        """Return a detector of few rows of a group, with rows of other groups as the source."""
        places = np.append(others, rows)
        weights = self.given.get("sample_weight")
        weights = None if weights is None else safe_indexing(weights, places)
        domain = np.append(np.ones(others.size, int), np.full(rows.size, -1))
        X = safe_indexing(self.X, places)
        scaler = StandardScaler().fit(X, sample_weight=weights)
        model = TransferOneClassSVM(false_alarms=0.1 if rate is None else rate)
        model.fit(scaler.transform(X), sample_domain=domain, sample_weight=weights)
        return make_pipeline(scaler, model)

    def n_distinct(self, rows: Array) -> int:
        """Return how many of some rows differ."""
        some = safe_indexing(self.X, rows)
        some = some if sparse.issparse(some) else np.asarray(some)
        return int(distinct_rows(some)[0].size) if rows.size else 0


def fitted_one_by_one(tasks: list[tuple[str, Callable[[], Any]]], *, alone: bool) -> list[Any]:
    """Return what fits return; each category of warning is given once.

    Not in threads: a fit of few rows is many short calls, and to get the interpreter back after
    each takes two threads longer than one thread takes for both.
    """
    found: list[Any] = []
    firsts: dict[type[Warning], str] = {}
    counts: dict[type[Warning], int] = {}
    for name, fit in tasks:
        with collected_notes() as notes:
            try:
                found.append(fit())
            except ValueError as error:
                if alone:
                    raise
                raise ValueError(f"{name}: {error}") from error
        for category in {category for _, category in notes}:
            counts[category] = counts.get(category, 0) + 1
        for message, category in notes:
            firsts.setdefault(category, message if alone else f"{name}: {message}")
    for category, message in firsts.items():
        number = "" if alone else f"{counts[category]} of {len(tasks)} fits warned, the first of "
        note(number + message, category)
    return found


def answer_of(model: Any, name: str, X: Any) -> Array:
    """Return what a model answers; a pipeline asks its last step for what it has no method for."""
    if not hasattr(model, name) and hasattr(model, "steps"):
        X = model[:-1].transform(X)
        model = model[-1]
    return np.asarray(getattr(model, name)(X))


def checked_groups(groups: Any) -> Array:
    """Return groups as an array of one value per row."""
    values = np.asarray(groups)
    if values.ndim != 1:
        raise ValueError(f"groups must have one value per row, got shape {values.shape}")
    if values.dtype == object:
        other = [each for each in values if not isinstance(each, str)]
        if other:
            raise ValueError(f"groups must all be texts, or all numbers, got {other[0]!r} too")
        values = values.astype(str)
    missing = np.isnan if values.dtype.kind in "fc" else np.isnat
    if values.dtype.kind in "fcmM" and missing(values).any():
        raise ValueError("groups must not be NaN: leave rows without a group out")
    return values


def kind_of(groups: Array) -> str:
    """Return the type of groups among which others can be found."""
    return "number" if groups.dtype.kind in "biufc" else groups.dtype.kind
