"""The fits and answers of many groups."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._frame import collected_notes, note, safe_indexing
from scarce._sklearn import copied
from scarce.parallel import tile_runner

EFFORT = 1_000_000  # nanoseconds that a fit takes, about


class Data:
    """What a fit is given, by rows."""

    def __init__(self, X: Any, given: dict[str, Any]) -> None:
        self.X, self.given = X, given

    def fitted(self, model: Any, rows: Array) -> Any:
        """Return a copy of a model that was never fitted, fitted to some rows."""
        some = {name: safe_indexing(value, rows) for name, value in self.given.items()}
        return copied(model).fit(safe_indexing(self.X, rows), **some)


def fitted_in_threads(tasks: list[tuple[str, Callable[[], Any]]], *, alone: bool) -> list[Any]:
    """Return what fits return, in threads; each category of warning is given once."""
    found: list[Any] = [None] * len(tasks)
    heard: list[Any] = [()] * len(tasks)
    context = copy_context()

    def work(first: int, last: int) -> None:
        for place in range(first, last):
            heard[place] = context.copy().run(one, place)

    def one(place: int) -> list[Any]:
        name, fit = tasks[place]
        with collected_notes() as notes:
            try:
                found[place] = fit()
            except ValueError as error:
                if alone:
                    raise
                raise ValueError(f"{name}: {error}") from error
        return list(notes)

    with tile_runner(EFFORT * len(tasks)) as run:
        run(len(tasks), work, 1)
    firsts: dict[type[Warning], str] = {}
    counts: dict[type[Warning], int] = {}
    for (name, _), notes in zip(tasks, heard, strict=True):
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
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError("groups must not be NaN: leave rows without a group out")
    return values
