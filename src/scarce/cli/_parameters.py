"""Parameters of the estimator, as a person gives them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from scarce.cli._errors import UsageError
from scarce.io import TableError


def read_parameters(path: Path | None, settings: list[str]) -> dict[str, Any]:
    """Return the parameters of a TOML file, and of settings, which count for more.

    ``path``: a file of lines ``name = value``. ``settings``: texts ``name=value``, the values as in
    TOML; what is none is text.
    """
    found: dict[str, Any] = {}
    if path is not None:
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise TableError(f"{path} is not TOML: {error}") from None
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--set takes name=value, got {setting!r}")
        found[name.strip()] = _value(value.strip())
    return found


def set_parameters(estimator: Any, parameters: dict[str, Any]) -> Any:
    """Set parameters of an estimator, or say which it has."""
    known = estimator.get_params(deep=False)
    for name in parameters:
        if name not in known:
            raise UsageError(
                f"{type(estimator).__name__} has no parameter {name!r}; it has {', '.join(known)}"
            )
    return estimator.set_params(**parameters)


def _value(text: str) -> Any:
    if text.lower() == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
