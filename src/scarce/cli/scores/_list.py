"""The ranked list of a table's rows: scored first, the head explained, written as a whole."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._model_files import whole_file
from scarce.cli._outputs import progress
from scarce.cli._score import MOST_EXPLAINED
from scarce.cli.scores._answers import Answers
from scarce.cli.scores._model import FittedModel, Source
from scarce.cli.scores._ranked import KEY, PLACE, Ranked
from scarce.cli.scores._reasons import Head
from scarce.cli.scores._writers import writer
from scarce.io import tables_library
from scarce.monitoring import DriftMonitor

ON_A_PAGE, REASONS = 50, 3  # rows of a report, and columns that explain each


def write_list(
    fitted: FittedModel,
    source: Source,
    arguments: argparse.Namespace,
    monitor: DriftMonitor | None = None,
) -> Answers:
    """Score all rows and write the list, and the page of it if one is wanted: both or none.

    ``monitor``: is given all rows, in the order of the table.
    """
    answers = Answers(fitted, source.id_name, monitor)
    limit = arguments.top or arguments.bottom
    lowest = bool(arguments.bottom) or (answers.lowest_first and not arguments.top)
    asked = bool(arguments.explain)
    n_explained = (limit or MOST_EXPLAINED) if asked else ON_A_PAGE if arguments.report else 0
    head = Head(n_explained) if n_explained else None
    page = _Page() if arguments.report is not None else None
    with ExitStack() as outputs:
        draft = outputs.enter_context(whole_file(arguments.out))
        ranked = outputs.enter_context(Ranked(arguments.out, limit))
        with writer(arguments.out, draft, raw=arguments.raw) as write:
            seen = 0
            with progress("scoring", source.size) as tell:
                for batch, reached in source.batches():
                    frame = answers.of(batch)
                    places = seen + np.arange(len(frame))
                    values = frame[answers.key].to_numpy()
                    keys = answers.keys(frame) * (1 if lowest else -1)
                    in_file = arguments.order == "file" and limit is None
                    ranked.add(frame, places.astype(np.float64) if in_file else keys, places)
                    if head is not None:
                        head.add(batch.X, keys, places)
                    if page is not None:
                        page.values.append(values.astype(np.float32))
                    seen += len(frame)
                    tell(reached)
            number = arguments.explain or REASONS
            reasons: dict[int, list[str]] = {}
            if head is not None:
                with progress("explaining", min(n_explained, seen)) as tell:
                    reasons = head.reasons(fitted.model, number, tell, fitted.shape)
            if asked and len(reasons) < min(limit or seen, seen):
                print(f"note: reasons are given for the first {len(reasons):,} rows by score")
            if page is not None:
                page.reasons = reasons
            for table in _finished(ranked, arguments.order == "score", reasons, number * asked):
                if page is not None:
                    page.look(table)
                write(_shown(table))
        if page is not None:
            from scarce.cli.report._scored import scored_page

            content = scored_page(fitted, answers, page, arguments, source.id_name or "row")
            other = outputs.enter_context(whole_file(arguments.report))
            with other.open("wb") as file:
                file.write(content.encode())
                file.flush()
                os.fsync(file.fileno())
    return answers


def _finished(
    ranked: Ranked, with_ranks: bool, reasons: dict[int, list[str]], number: int
) -> Iterator[Any]:
    """Yield the list with ranks in front and reasons behind."""
    arrow = tables_library("pyarrow")
    rank = 1
    for table in ranked.tables():
        places = table.column(PLACE).to_numpy()
        if with_ranks:
            ranks = np.arange(rank, rank + table.num_rows)
            table = table.add_column(0, "rank", arrow.array(ranks))
            rank += table.num_rows
        for place in range(number):
            texts = [_nth(reasons.get(int(each)), place) for each in places]
            column = arrow.array(texts, arrow.string())
            table = table.append_column(f"reason_{place + 1}", column)
        yield table


def _nth(texts: list[str] | None, place: int) -> str:
    return texts[place] if texts is not None and place < len(texts) else ""


def _shown(table: Any) -> Any:
    return table.drop_columns([KEY, PLACE])


class _Page:
    """What a page of the list shows."""

    def __init__(self) -> None:
        self.values: list[Array] = []
        self.rows: dict[int, dict[str, Any]] = {}
        self.reasons: dict[int, list[str]] = {}

    def look(self, table: Any) -> None:
        """Keep the rows that are explained, by their places in the table."""
        places = table.column(PLACE).to_numpy()
        if len(self.rows) >= len(self.reasons):
            return
        wanted = [i for i, place in enumerate(places) if int(place) in self.reasons]
        if not wanted:
            return
        arrow = tables_library("pyarrow")
        for row in table.take(arrow.array(wanted)).to_pylist():
            self.rows[row[PLACE]] = row
