"""What a model file holds: the estimator, its parameters, its certificate, its versions."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

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


def add(commands: Any) -> None:
    """Add the command to a parser."""
    info = commands.add_parser(
        "info",
        help="say what a model file holds",
        description="Print the estimator of a model file, its parameters, what it was learnt from, "
        "its certificate and calibration, and the versions that wrote it.",
    )
    info.add_argument(
        "model", type=Path, metavar="MODEL", help="a file that scarce fit or scarce.save wrote"
    )
    info.add_argument("--json", action="store_true", help="as JSON, for programs")
    info.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print what a model file holds."""
    from scarce._model_files import ModelFileError

    try:
        found = description(arguments.model)
    except (OSError, ImportError, ModelFileError):
        raise
    except Exception as error:  # what a file says of itself may be anything
        raise ModelFileError(f"{arguments.model} is damaged: {error!r}") from error
    if arguments.json:
        print(json.dumps(found, indent=1, allow_nan=False))
        return
    for heading, values in found.items():
        if isinstance(values, dict):
            print(f"{heading}:")
            for name, value in values.items():
                print(f"  {name}: {_told(value)}")
        else:
            print(f"{heading}: {_told(values)}")


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def description(path: Path) -> dict[str, Any]:
    """Return what a model file holds, as plain values."""
    from scarce._model_files import load, read_card

    card = read_card(path)
    fit = card.get("fit", {})
    # What `scarce fit` wrote it said of the model too: no library is needed to say it again.
    told = fit.get("model") or of_model(load(path))
    found = {
        "estimator": told["estimator"],
        "kind": fit.get("kind", ""),
        "chosen because": fit.get("why", ""),
        "calibrated by": told["calibrated by"],
        "steps before it": told["steps before it"],
        "learnt from": _sizes(told, fit),
        "columns": {each["name"]: _treated(each) for each in fit.get("columns", [])},
        "parameters": told["parameters"],
        "warning": told["warning"],
        "optimality": told["optimality"],
        "certificate": told["certificate"],
        "calibration": told["calibration"],
        "format": card["format"],
        "libraries": card["libraries"],
        "types of scarce in it": told["types of scarce in it"],
    }
    return {heading: value for heading, value in found.items() if value not in ([], {}, "")}


def estimator_of(model: Any) -> Any:
    """Return the estimator inside a calibrated model or a pipeline."""
    model = getattr(model, "estimator_", model)
    return model[-1] if hasattr(model, "steps") else model


def of_model(model: Any) -> dict[str, Any]:
    """Return what is to be said of a fitted model, as plain values."""
    from sklearn.pipeline import Pipeline

    from scarce._model_files import TRUSTED_TYPES
    from scarce.cli._words import certified, quality, unscaled

    around = [type(model).__name__] * hasattr(model, "estimator_")
    inner = getattr(model, "estimator_", model)
    steps = [step for _, step in inner.steps] if isinstance(inner, Pipeline) else [inner]
    last = steps[-1]
    return {
        "estimator": type(last).__name__,
        "calibrated by": around,
        "steps before it": [type(step).__name__ for step in steps[:-1]],
        "sizes": _model_sizes(model, last),
        "parameters": {name: _plain(value) for name, value in last.get_params(deep=False).items()},
        "warning": unscaled(model) or "",
        "optimality": quality(model) if hasattr(certified(last), "dual_gap_") else "",
        "certificate": _some(certified(last), QUALITY),
        "calibration": _some(last, CALIBRATION) | (_some(model, CALIBRATION) if around else {}),
        "types of scarce in it": [
            name for name in TRUSTED_TYPES if name in _types([model, *steps])
        ],
    }


def _treated(column: dict[str, Any]) -> str:
    parts = [column["use"], column["done"]]
    if column["missing"]:
        parts.insert(1, f"{column['missing']} missing")
    return "; ".join(part for part in parts if part)


def _sizes(told: dict[str, Any], fit: dict[str, Any]) -> dict[str, Any]:
    if not fit:
        return dict(told["sizes"])
    sizes: dict[str, Any] = {"files": fit["files"], **told["sizes"], "rows": int(fit["rows"])}
    whole = fit.get("rows of the tables", fit["rows"])
    if fit.get("rows left out"):
        sizes["rows left out"] = fit["rows left out"]
    if whole != fit["rows"]:
        sizes["rows"] = f"{fit['rows']:,} of {whole:,}, chosen at random"
    return sizes


def _model_sizes(model: Any, last: Any) -> dict[str, Any]:
    sizes: dict[str, Any] = {}
    rows = getattr(last, "shape_fit_", None)
    if rows is not None:
        sizes["rows"] = int(rows[0])
    columns = getattr(model, "feature_names_in_", None)
    if columns is not None:
        sizes["columns"] = [str(name) for name in columns]
    elif hasattr(model, "n_features_in_"):
        sizes["columns"] = int(model.n_features_in_)
    support = getattr(getattr(last, "svc_", None) or last, "support_", None)
    if support is not None:
        sizes["support vectors"] = len(support)
    return sizes


def _some(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _plain(getattr(model, name)) for name in names if hasattr(model, name)}


def _types(steps: list[Any]) -> set[str]:
    parts = [*steps, *(value for step in steps for value in step.get_params().values())]
    return {f"{type(part).__module__}.{type(part).__name__}" for part in parts}


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; what it cannot is described in words."""
    import numpy as np

    if isinstance(value, np.ndarray | tuple | list):
        return [_plain(each) for each in np.asarray(value).ravel()[:20].tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
