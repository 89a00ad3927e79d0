"""Many fitted models of one kind as a few long arrays: a file of ten thousand small ones is slow.

A model is walked through in a fixed order: estimators by their state, dicts, lists and tuples by
their entries; what is left are its leaves. Models whose walks are alike share a template, one of
them, and each leaf of all of them is a column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array

SCALARS = (bool, int, float)


def packed(models: list[Any]) -> dict[str, Any]:
    """Return models as templates and columns of leaves.

    Returned: with the ``"templates"``, ``"which"`` of them each model is like, and their
    ``"columns"``.
    """
    templates: list[Any] = []
    found: dict[str, tuple[int, list[list[Any]]]] = {}
    which = np.empty(len(models), np.int64)
    for place, model in enumerate(models):
        leaves: list[Any] = []
        walk = _walked(model, leaves)
        if walk not in found:
            found[walk] = (len(templates), [])
            templates.append(model)
        which[place] = found[walk][0]
        found[walk][1].append(leaves)
    columns = [
        [_column(list(each)) for each in zip(*lines, strict=True)] for _, lines in found.values()
    ]
    return {"templates": templates, "which": which, "columns": columns}


def unpacked(parts: dict[str, Any]) -> list[Any]:
    """Return the models that `packed` was given.

    ``parts``: what it returned, perhaps read from a file.
    """
    templates, which, columns = (parts[name] for name in ("templates", "which", "columns"))
    if not len(templates) == len(columns) or not all(0 <= each < len(templates) for each in which):
        raise ValueError("the models of the groups do not fit their templates")
    models: list[Any] = [None] * len(which)
    for number, (template, column) in enumerate(zip(templates, columns, strict=True)):
        places = np.flatnonzero(which == number)
        values = [_values(each, places.size) for each in column]
        for place, leaves in zip(places, zip(*values, strict=True), strict=True):
            rest = iter(leaves)
            models[place] = _rebuilt(template, rest)
    return models


def _walked(thing: Any, leaves: list[Any]) -> str:
    """Collect the leaves of a thing; return what describes the way."""
    if hasattr(thing, "get_params") and not isinstance(thing, type):
        state = thing.__getstate__()
        inner = ",".join(f"{name}={_walked(state[name], leaves)}" for name in sorted(state))
        return f"{type(thing).__module__}.{type(thing).__qualname__}({inner})"
    if isinstance(thing, dict) and all(isinstance(key, str) for key in thing):
        inner = ",".join(f"{key!r}:{_walked(thing[key], leaves)}" for key in sorted(thing))
        return f"{{{inner}}}"
    if type(thing) in (list, tuple):
        inner = ",".join(_walked(each, leaves) for each in thing)
        return f"{type(thing).__name__}[{inner}]"
    leaves.append(thing)
    if isinstance(thing, np.ndarray):
        return f"{thing.dtype}^{thing.ndim}"
    return type(thing).__name__


def _rebuilt(template: Any, leaves: Any) -> Any:
    """Return a copy of a template with other leaves."""
    if hasattr(template, "get_params") and not isinstance(template, type):
        state = template.__getstate__()
        copy = object.__new__(type(template))
        copy.__setstate__({name: _rebuilt(state[name], leaves) for name in sorted(state)})
        return copy
    if isinstance(template, dict) and all(isinstance(key, str) for key in template):
        return {key: _rebuilt(template[key], leaves) for key in sorted(template)}
    if type(template) in (list, tuple):
        return type(template)(_rebuilt(each, leaves) for each in template)
    return next(leaves)


def _column(values: list[Any]) -> dict[str, Any]:
    """Return one leaf of many models; those of one walk are of one type."""
    first = values[0]
    if isinstance(first, np.ndarray) and first.dtype != object:
        flat = np.concatenate([value.ravel() for value in values])
        shapes = np.array([value.shape for value in values], np.int64)
        return {"flat": flat, "shapes": shapes.reshape(len(values), first.ndim)}
    if type(first) in SCALARS:
        numbers = np.array(values)
        if numbers.dtype.kind in "bif":
            return {"numbers": numbers}
    if first is None or (isinstance(first, str) and all(value == first for value in values)):
        return {"same": first}
    return {"values": values}


def _values(column: dict[str, Any], number: int) -> list[Any]:
    """Return the leaves that a column was made of."""
    if "same" in column:
        return [column["same"]] * number
    if "numbers" in column:
        found: list[Any] = column["numbers"].tolist()
    elif "flat" in column:
        sizes = column["shapes"].prod(axis=1)
        if sizes.sum() != column["flat"].size or (sizes < 0).any():
            raise ValueError("the arrays of the models of the groups do not fit their shapes")
        parts: list[Array] = np.split(column["flat"], np.cumsum(sizes)[:-1])
        shapes = column["shapes"].tolist()
        found = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
    else:
        found = column["values"]
    if len(found) != number:
        raise ValueError(f"a part of the models of the groups has {len(found)}, expected {number}")
    return found
