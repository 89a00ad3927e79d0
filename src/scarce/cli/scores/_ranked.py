"""Rows in the order of their scores, also when there are more than fit into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.io import tables_library

RUN = 500_000  # rows that are sorted in memory
STEP = 16_384  # rows written at a time
KEY, PLACE = "\x00key", "\x00place"  # columns beside those of the answers


class Ranked:
    """Sorts answers: in memory, or by runs on the disk that are merged.

    ``out``: the file that is to be written; runs lie beside it, as its drafts, and are removed.
    ``limit``: how many rows are wanted, the first ones. ``run``, ``step``: rows that are sorted in
    memory, and written at a time.
    """

    def __init__(self, out: Path, limit: int | None, *, run: int = RUN, step: int = STEP) -> None:
        self._out, self._limit, self._run, self._step = out, limit, run, step
        self._parts: list[Any] = []
        self._runs: list[Path] = []
        self._rows = 0

    def __enter__(self) -> Ranked:
        return self

    def __exit__(self, *error: object) -> None:
        for path in self._runs:
            path.unlink(missing_ok=True)

    def add(self, frame: Any, keys: Array, places: Array) -> None:
        """Take answers, with what they are sorted by and how many rows came before each."""
        arrow = tables_library("pyarrow")
        table = arrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        table = table.append_column(KEY, arrow.array(keys)).append_column(
            PLACE, arrow.array(places)
        )
        self._parts.append(table)
        self._rows += len(frame)
        limit = self._limit
        if limit is not None and limit < self._run and self._rows > 2 * limit + self._step:
            self._parts = [self._sorted().slice(0, limit).combine_chunks()]
            self._rows = limit
        if self._rows >= self._run:
            self._write_run()

    def _sorted(self) -> Any:
        arrow = tables_library("pyarrow")
        table = arrow.concat_tables(self._parts, promote_options="permissive")
        keys, places = (table.column(name).to_numpy() for name in (KEY, PLACE))
        return table.take(arrow.array(np.lexsort((places, keys))))

    def _write_run(self) -> None:
        ipc = tables_library("pyarrow.ipc")
        # Named like a draft, so that the next command removes what a killed one has left.
        path = self._out.with_name(f".{self._out.name}.run{len(self._runs)}.{os.getpid()}.draft")
        self._runs.append(path)
        table = self._sorted()
        with ipc.new_file(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=self._step)
        self._parts, self._rows = [], 0

    def tables(self) -> Iterator[Any]:
        """Yield the answers in order, as Arrow tables with the columns `KEY` and `PLACE`."""
        left = self._limit
        for table in self._merged():
            part = table if left is None else table.slice(0, left)
            left = None if left is None else left - part.num_rows
            if part.num_rows:
                yield part
            if left == 0:
                return

    def _merged(self) -> Iterator[Any]:
        if not self._runs:
            table = self._sorted()
            for start in range(0, table.num_rows, self._step):
                yield table.slice(start, self._step)
            return
        if self._parts:
            self._write_run()
        arrow, ipc = tables_library("pyarrow"), tables_library("pyarrow.ipc")
        files = [ipc.open_file(arrow.OSFile(str(path))) for path in self._runs]
        waiting = [_batches(file) for file in files]
        heads: list[Any] = [next(batches) for batches in waiting]
        while heads:
            # Up to the first head that ends, all rows are known that can come next.
            last = min((head.column(KEY)[-1].as_py(), head.column(PLACE)[-1].as_py())
                       for head in heads)  # fmt: skip
            ready, kept, left = [], [], []
            for head, batches in zip(heads, waiting, strict=True):
                n_ready = _up_to(head, *last)
                ready.append(head.slice(0, n_ready))
                rest = head.slice(n_ready)
                rest = rest if rest.num_rows else next(batches, None)
                if rest is not None:
                    kept.append(rest)
                    left.append(batches)
            heads, waiting = kept, left
            self._parts = ready
            yield self._sorted()


def _up_to(table: Any, key: float, place: int) -> int:
    """Return how many rows of a sorted table come no later than a key and a place."""
    keys, places = (table.column(name).to_numpy() for name in (KEY, PLACE))
    first, last = (int(np.searchsorted(keys, key, side=side)) for side in ("left", "right"))
    return first + int(np.searchsorted(places[first:last], place, side="right"))


def _batches(file: Any) -> Iterator[Any]:
    arrow = tables_library("pyarrow")
    for number in range(file.num_record_batches):
        yield arrow.Table.from_batches([file.get_batch(number)])
