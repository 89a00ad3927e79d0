"""`scarce score`: a model's answers for the rows of a table, however long it is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from scarce.cli._outputs import DriftError, UsageError, warnings_told
from scarce.cli._table_options import add_table_options, at_least, check_free, dialect_of
from scarce.cli.report._check import check_can_draw

MOST_EXPLAINED = 1000  # rows, where no end of the list is asked for


def add(commands: Any) -> None:
    """Add the command to a parser."""
    score = commands.add_parser(
        "score",
        help="give the rows of a table their scores",
        description="Write a ranked list of the rows of a table: score, p-value or probability, "
        "decision. Of detectors the lowest scores come first, of others the highest. Tables may be "
        "larger than memory.",
    )
    score.add_argument("model", type=Path, metavar="MODEL", help="a file that scarce fit wrote")
    score.add_argument("table", type=Path, metavar="TABLE", help="the rows")
    score.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="CSV, Parquet, Feather or Arrow"
    )
    score.add_argument("--report", type=Path, metavar="FILE.html", help="a page to look at")
    score.add_argument("--id", metavar="COLUMN", help="names of rows (default: that of the fit)")
    ends = score.add_mutually_exclusive_group()
    ends.add_argument("--top", type=at_least(1), metavar="N", help="only the N highest scores")
    ends.add_argument("--bottom", type=at_least(1), metavar="N", help="only the N lowest scores")
    score.add_argument(
        "--order",
        choices=("score", "file"),
        default="score",
        help="of the rows in the list (default: score, with a column of ranks)",
    )
    score.add_argument(
        "--explain",
        type=at_least(1),
        metavar="K",
        help=f"add the K columns that moved a row's score most, for up to {MOST_EXPLAINED:,} rows",
    )
    score.add_argument(
        "--raw",
        action="store_true",
        help="in text files: all digits, and no apostrophe before cells that a spreadsheet runs",
    )
    score.add_argument(
        "--monitor",
        type=Path,
        metavar="FILE.json",
        help="where evidence of a change is kept from one table to the next; made if missing",
    )
    score.add_argument(
        "--fail-on-drift",
        action="store_true",
        help="exit code 6 if the rows are not like those of the fit, or the monitor's alarm is on",
    )
    add_table_options(score)
    score.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, score, write."""
    check_free(arguments.out, force=arguments.force)
    if arguments.report is not None:
        check_free(arguments.report, force=arguments.force)
        check_can_draw()
    from scarce.cli.scores._model import read_model

    fitted = read_model(arguments.model)
    if fitted.per is not None and (arguments.explain or arguments.report):
        raise UsageError("--explain and --report are not for models of groups (--per)")
    if fitted.kind == "open-set" and arguments.report:
        raise UsageError("--report is not for open-set")
    source = fitted.source(arguments.table, dialect_of(arguments), arguments.id)
    from scarce.cli._words import unscaled
    from scarce.cli.scores._list import write_list

    monitor = None
    if arguments.monitor is not None:
        from scarce.cli.scores._monitor import opened, store

        monitor = opened(fitted.model, arguments.monitor)
    wide = unscaled(fitted.model)
    if wide is not None:
        print(f"scarce: warning: {wide}", file=sys.stderr)
    for note in (*source.notes, *fitted.notes(source)):
        print(f"note: {note}")
    sys.stdout.flush()
    with warnings_told():
        answers = write_list(fitted, source, arguments, monitor)
    for line in answers.summary():
        print(line)
    print(f"scores: {arguments.out}")
    if arguments.report is not None:
        print(f"report: {arguments.report}")
    found = [drift for drift in (answers.drift(),) if drift is not None]
    if monitor is not None:
        line = store(monitor, arguments.monitor)
        if monitor.alarm_ is None:
            print(line)
        else:
            found.append(line)
    if found and arguments.fail_on_drift:
        raise DriftError("; ".join(found))
    for drift in found:
        print(f"scarce: warning: {drift}", file=sys.stderr)
