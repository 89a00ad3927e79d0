"""Tables of answers, written batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scarce.cli._errors import UsageError
from scarce.io._extra import tables_library
from scarce.io._tables import ARROW, PARQUET


@contextmanager
def writer(path: Path, draft: Path) -> Iterator[Callable[[Any], None]]:
    """Give a function that appends frames to a file.

    Parameters
    ----------
    path : Path
        The file, whose ending says how it is written.
    draft : Path
        Where to write.

    Yields
    ------
    callable
        Takes a pandas frame; the first one says which columns there are.
    """
    arrow = tables_library("pyarrow")
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

    def write(frame: Any) -> None:
        schema = opened[0].schema if opened and hasattr(opened[0], "schema") else None
        table = arrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
        table = table.replace_schema_metadata(None)
        if not opened:
            opened.append(kind(str(draft), table.schema))
        opened[0].write_table(table)

    try:
        yield write
    finally:
        if opened:
            opened[0].close()
