"""Options that every command about tables has."""

from __future__ import annotations

import argparse
import codecs
from pathlib import Path
from typing import Any

from scarce.cli._outputs import UsageError


def add_table_options(command: argparse.ArgumentParser) -> None:
    """Add how tables are written, and where the answer goes."""
    written = command.add_argument_group("how CSV files are written (detected by default)")
    written.add_argument("--delimiter", type=_one_sign, metavar="SIGN", help="between values")
    written.add_argument("--encoding", type=_encoding, metavar="NAME", help="utf-8, cp1252, ...")
    written.add_argument("--decimal", choices=[".", ","], metavar=".|,", help="decimal sign")
    written.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="stands for a missing value, beside NA, null and the like; may be repeated",
    )
    command.add_argument("--force", action="store_true", help="overwrite files that are there")


def dialect_of(arguments: argparse.Namespace) -> Any:
    """Return how CSV files are written, as far as it was said."""
    from scarce.io import Dialect

    return Dialect(
        arguments.delimiter, arguments.encoding, arguments.decimal, tuple(arguments.missing)
    )


def check_free(path: Path, *, force: bool) -> None:
    """Raise an error if a file may not be written: before the work, not after it."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file to write to")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; --force overwrites it")
    if path.parent.exists() and not path.parent.is_dir():
        raise UsageError(f"{path.parent} is a file, not a folder to write to")


def column_list(text: str) -> list[str]:
    """Return names that are separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def share(text: str) -> float:
    """Return a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must be between 0 and 1, got {text}")
    return value


def contamination(text: str) -> float | str:
    """Return the proportion of rows that may not belong to the class, or "auto"."""
    if text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be 0, auto or a proportion, got {text!r}") from None
    if not 0 <= value < 0.5:
        raise argparse.ArgumentTypeError(f"must be 0, auto or a proportion below 0.5, got {text}")
    return value


def at_least(bound: int) -> Any:
    """Return the type of a whole number with a lower bound."""

    def whole_number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"not a whole number: {text!r}") from None
        if value < bound:
            raise argparse.ArgumentTypeError(f"must be at least {bound}, got {value}")
        return value

    return whole_number


def row_limit(text: str) -> int | None:
    """Return a number of rows, None for all."""
    return None if text == "all" else int(at_least(2)(text))


def _one_sign(text: str) -> str:
    sign = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(text, text)
    if len(sign) != 1:
        raise argparse.ArgumentTypeError(f"must be one character, or tab, got {text!r}")
    return sign


def _encoding(text: str) -> str:
    try:
        return codecs.lookup(text).name
    except LookupError:
        raise argparse.ArgumentTypeError(f"no encoding is called {text!r}") from None
