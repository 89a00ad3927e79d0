"""Tables of answers, written batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.cli._outputs import UsageError
from scarce.io import ARROW, PARQUET, tables_library

DIGITS = 4  # of scores in a text file
# What a spreadsheet runs as a formula when it opens a text file; numbers it only reads.
FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[-+]?[0-9.,]+$"


@contextmanager
def writer(path: Path, draft: Path, *, raw: bool = False) -> Iterator[Callable[[Any], None]]:
    """Give a function that appends Arrow tables to a file.

    ``path``: the file, whose ending says how it is written. ``raw``: write text files as other
    files: numbers with all digits, and cells that a spreadsheet would run as a formula without the
    apostrophe that stops it.

    Yields
    ------
    callable
        Takes a table; the first one says which columns there are.
    """
    ending, kind = path.suffix.lower(), None
    if ending in PARQUET:
        kind = tables_library("pyarrow.parquet").ParquetWriter
    elif ending in ARROW:
        kind = tables_library("pyarrow.ipc").new_file
    elif ending in (".csv", ".txt"):
        kind = tables_library("pyarrow.csv").CSVWriter
    if kind is None:
        raise UsageError(f"--out must end in .csv, .parquet, .feather or .arrow, got {path}")
    opened: list[Any] = []
    readable = ending in (".csv", ".txt") and not raw

    def write(table: Any) -> None:
        table = _for_people(table) if readable else table
        if not opened:
            opened.append(kind(str(draft), table.schema))
        opened[0].write_table(table)

    try:
        yield write
    finally:
        if opened:
            opened[0].close()


def _rounded(values: Array) -> Array:
    """Return numbers of a few significant digits."""
    with np.errstate(divide="ignore"):
        size = np.floor(np.log10(np.abs(values)))
    digits = np.where(np.isfinite(size), DIGITS - 1 - size, 0).clip(-300, 300)
    # A quotient or product of whole numbers: what is printed then is as short as it can be.
    small, large = 10.0 ** digits.clip(min=0), 10.0 ** (-digits).clip(min=0)
    return np.asarray(np.round(values * small / large) / small * large)


def _for_people(table: Any) -> Any:
    """Return a table of few digits, without cells that a spreadsheet would run."""
    arrow, compute = tables_library("pyarrow"), tables_library("pyarrow.compute")
    columns = []
    for column in table.columns:
        if arrow.types.is_floating(column.type):
            columns.append(arrow.array(_rounded(column.to_numpy())))
        elif arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
            column = column.cast(arrow.string())
            runs = compute.and_not(
                compute.match_substring_regex(column, FORMULA),
                compute.match_substring_regex(column, NUMBER),
            )
            quoted = compute.binary_join_element_wise("'", column, "")
            columns.append(compute.if_else(runs, quoted, column))
        else:
            columns.append(column)
    names = [f"'{name}" if name[:1] in "=+-@" else name for name in table.column_names]
    return arrow.table(columns, names=names)
