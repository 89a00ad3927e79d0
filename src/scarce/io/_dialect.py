"""How a CSV file is written: delimiter, encoding and decimal sign, stated or found."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scarce.io._table_rows import TableError, tables_library

SAMPLE = 262_144  # bytes looked at
DELIMITERS = (",", ";", "\t", "|")
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
NUMBER = re.compile(r"[-+]?[\d.,]*([.,])(\d+)")  # the last sign of a number, what follows


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written; None is detected."""

    delimiter: str | None = None  # one character between values
    encoding: str | None = None  # name of the encoding
    decimal: str | None = None  # the decimal sign
    missing: tuple[str, ...] = ()  # texts that stand for a missing value, beside the usual ones
    # the decimal sign if it was stated, or if values tell it: ``12,5`` does, ``1,169`` does not
    told: str | None = None


def found_dialect(path: Path, stated: Dialect) -> tuple[Dialect, list[str]]:
    """Return how a file is written, and notes on how that was found."""
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
    if not text.strip():
        raise TableError(f"{path} is empty")
    if "\x00" in text:
        row = text[: text.index("\x00")].count("\n") + 1
        raise TableError(f"{path}, row {row}: a NUL byte; text tables have none")
    rows = text.splitlines()
    if len(start) == SAMPLE:
        rows = rows[:-1]  # cut off
    delimiter = stated.delimiter or _delimiter(rows[:200])
    decimal = told = stated.decimal
    if decimal is None:
        decimal, told = _decimal(rows[1:200], delimiter)
    found = replace(stated, delimiter=delimiter, encoding=encoding, decimal=decimal, told=told)
    return found, notes


def _is_text(start: bytes, encoding: str) -> bool:
    try:
        start.decode(encoding)
    except UnicodeDecodeError as error:
        return len(start) == SAMPLE and error.start > SAMPLE - 4  # a sign cut in two
    return True


def _delimiter(rows: list[str]) -> str:
    """Return the delimiter that gives every row as many values as the header, the most of them."""

    def judged(sign: str) -> tuple[bool, int]:
        widths = [len(row) for row in _split(rows, sign) if row]
        header = widths[0] if widths else 1
        return header > 1 and widths.count(header) >= 0.9 * len(widths), header

    return max(DELIMITERS, key=judged)  # the first of equals: the comma


def _split(rows: list[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the values of each row, up to one that is too long for this way of looking at them."""
    try:
        yield from csv.reader(io.StringIO("\n".join(rows)), delimiter=delimiter)
    except csv.Error:
        return


def _decimal(rows: list[str], delimiter: str) -> tuple[str, str | None]:
    """Return the decimal sign, and the one that values tell: ``1,169`` may be in thousands."""
    votes = {",": 0, ".": 0}
    commas = 0
    for row in _split(rows, delimiter):
        for value in row:
            match = NUMBER.fullmatch(value.strip())
            if match is None:
                continue
            before = value.strip()[: match.start(1)]
            if match[1] in before:  # a sign that comes twice stands between thousands
                votes["." if match[1] == "," else ","] += 1
            elif len(match[2]) != 3 or "." in before or "," in before:
                votes[match[1]] += 1
            else:
                commas += match[1] == ","
    told = None if votes[","] == votes["."] else max(votes, key=lambda sign: votes[sign])
    if delimiter == ",":
        return ".", told
    return told or ("," if commas and not any(votes.values()) else "."), told
