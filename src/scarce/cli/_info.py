"""What a model file holds: the estimator, its parameters, its certificate, its versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from scarce._model_files import TRUSTED_TYPES, load, read_card

QUALITY = ("objective_", "dual_gap_", "kkt_violation_", "fit_status_", "n_iter_")
CALIBRATION = (
    "offset_",
    "false_alarm_range_",
    "class_prior_",
    "class_prior_interval_",
    "out_of_bag_auc_",
    "accepted_share_",
    "calibration_",
    "effective_labels_",
)


def run(path: Path, *, as_json: bool) -> None:
    """Print what a model file holds."""
    found = description(path)
    if as_json:
        print(json.dumps(found, indent=1, allow_nan=False))
        return
    for heading, values in found.items():
        if isinstance(values, dict):
            print(f"{heading}:")
            for name, value in values.items():
                print(f"  {name}: {value}")
        else:
            print(f"{heading}: {values}")


def description(path: Path) -> dict[str, Any]:
    """Return what a model file holds, as plain values.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict
        Headings and what stands under them.
    """
    card, model = read_card(path), load(path)
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    last = steps[-1]
    found = {
        "estimator": type(last).__name__,
        "steps before it": [type(step).__name__ for step in steps[:-1]],
        "learnt from": _sizes(model, last),
        "parameters": {name: _plain(value) for name, value in last.get_params(deep=False).items()},
        "certificate": _some(last, QUALITY),
        "calibration": _some(last, CALIBRATION),
        "format": card["format"],
        "libraries": card["libraries"],
        "types of scarce in it": [name for name in TRUSTED_TYPES if name in _types(steps)],
    }
    return {heading: value for heading, value in found.items() if value not in ([], {})}


def _sizes(model: Any, last: Any) -> dict[str, Any]:
    sizes: dict[str, Any] = {}
    rows = getattr(last, "shape_fit_", None)
    if rows is not None:
        sizes["rows"] = int(rows[0])
    columns = getattr(model, "feature_names_in_", None)
    if columns is not None:
        sizes["columns"] = [str(name) for name in columns]
    elif hasattr(model, "n_features_in_"):
        sizes["columns"] = int(model.n_features_in_)
    support = getattr(last, "support_", None)
    if support is not None:
        sizes["support vectors"] = int(np.size(support))
    return sizes


def _some(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _plain(getattr(model, name)) for name in names if hasattr(model, name)}


def _types(steps: list[Any]) -> set[str]:
    parts = [*steps, *(value for step in steps for value in step.get_params().values())]
    return {f"{type(part).__module__}.{type(part).__name__}" for part in parts}


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; what it cannot is described in words."""
    if isinstance(value, np.ndarray | tuple | list):
        return [_plain(each) for each in np.asarray(value).ravel()[:20].tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
