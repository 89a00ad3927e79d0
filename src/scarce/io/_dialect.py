"""How a CSV file is written: delimiter, encoding and decimal sign, stated or found."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scarce.io._extra import tables_library
from scarce.io._rows import TableError

SAMPLE = 262_144  # bytes looked at
DELIMITERS = (",", ";", "\t", "|")
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
COMMA, POINT = re.compile(r"\s*[-+]?\d+,\d+\s*"), re.compile(r"\s*[-+]?\d*\.\d+\s*")


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written; None is found out.

    Parameters
    ----------
    delimiter : str or None, default=None
        One character between values.
    encoding : str or None, default=None
        Name of the encoding.
    decimal : str or None, default=None
        The decimal sign.
    missing : tuple of str, default=()
        Texts that stand for a missing value, beside the usual ones.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] = ()


def found_dialect(path: Path, stated: Dialect) -> tuple[Dialect, list[str]]:
    """Return how a file is written, and what is worth telling of how that was found.

    Parameters
    ----------
    path : Path
        The file.
    stated : Dialect
        What is known.

    Returns
    -------
    dialect : Dialect
        Without None.
    notes : list of str
        Guesses that may be wrong.
    """
    arrow: Any = tables_library("pyarrow")
    with arrow.input_stream(str(path), compression="detect") as stream:
        start = stream.read(SAMPLE)
    notes = []
    encoding = stated.encoding or next(
        (name for mark, name in MARKS if start.startswith(mark)), None
    )
    if encoding is None:
        encoding = "utf-8"
        if not _is_text(start, encoding):
            encoding = "cp1252"
            notes.append(
                f"{path} is not UTF-8 and is read as Windows-1252; state another by --encoding"
            )
    text = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    if "\x00" in text:
        row = text[: text.index("\x00")].count("\n") + 1
        raise TableError(f"{path}, row {row}: a NUL byte; this is no text table")
    rows = text.splitlines()
    if len(start) == SAMPLE:
        rows = rows[:-1]  # cut off
    delimiter = stated.delimiter or _delimiter(rows[:200])
    decimal = stated.decimal or _decimal(rows[1:200], delimiter)
    return replace(stated, delimiter=delimiter, encoding=encoding, decimal=decimal), notes


def _is_text(start: bytes, encoding: str) -> bool:
    try:
        start.decode(encoding)
    except UnicodeDecodeError as error:
        return len(start) == SAMPLE and error.start > SAMPLE - 4  # a sign cut in two
    return True


def _delimiter(rows: list[str]) -> str:
    """Return the delimiter that gives every row as many values as the header, the most of them."""

    def judged(sign: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(io.StringIO("\n".join(rows)), delimiter=sign)]
        widths = [width for width in widths if width]
        header = widths[0] if widths else 1
        return header > 1 and widths.count(header) >= 0.9 * len(widths), header

    return max(DELIMITERS, key=judged)  # the first of equals: the comma


def _decimal(rows: list[str], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    values = [
        value
        for row in csv.reader(io.StringIO("\n".join(rows)), delimiter=delimiter)
        for value in row
    ]
    commas = sum(COMMA.fullmatch(value) is not None for value in values)
    points = sum(POINT.fullmatch(value) is not None for value in values)
    return "," if commas > points else "."
