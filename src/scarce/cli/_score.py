"""`scarce score`: a model's answers for the rows of a table, however long it is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from scarce.cli._errors import DriftError
from scarce.cli._progress import progress
from scarce.cli._table_options import add_table_options, at_least, check_free, dialect_of


def add(commands: Any) -> None:
    """Add the command to a parser.

    Parameters
    ----------
    commands : object
        What `add_subparsers` of argparse returned.
    """
    score = commands.add_parser(
        "score",
        help="give the rows of a table their scores",
        description="Write the score and the decision of a model for every row of a table, with "
        "a p-value or a probability where the model has one. Tables may be larger than memory.",
    )
    score.add_argument("model", type=Path, metavar="MODEL", help="a file that scarce fit wrote")
    score.add_argument("table", type=Path, metavar="TABLE", help="the rows")
    score.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="CSV, Parquet, Feather or Arrow"
    )
    score.add_argument("--id", metavar="COLUMN", help="names of rows (default: that of the fit)")
    ends = score.add_mutually_exclusive_group()
    ends.add_argument("--top", type=at_least(1), metavar="N", help="only the N highest scores")
    ends.add_argument("--bottom", type=at_least(1), metavar="N", help="only the N lowest scores")
    score.add_argument(
        "--explain", type=at_least(1), metavar="K", help="add the K columns that moved a row most"
    )
    score.add_argument(
        "--fail-on-drift",
        action="store_true",
        help="exit code 6 if the rows are not like those of the fit",
    )
    add_table_options(score)
    score.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, score, write.

    Parameters
    ----------
    arguments : Namespace
        The options.
    """
    check_free(arguments.out, force=arguments.force)
    from scarce._whole_files import whole_file
    from scarce.cli._answers import Answers, Ends, read_model
    from scarce.cli._words import unscaled
    from scarce.cli._writers import writer

    model = read_model(arguments.model)
    source = model.source(arguments.table, dialect_of(arguments))
    name = arguments.id or (model.id_name if model.id_name in source.names else None)
    answers = Answers(model, name, arguments.explain)
    n_rows = arguments.top or arguments.bottom
    ends = Ends(n_rows, highest=bool(arguments.top)) if n_rows else None
    wide = unscaled(model.model)
    if wide is not None:
        print(f"scarce: warning: {wide}", file=sys.stderr)
    for note in (*source.notes, *model.notes(source, name)):
        print(f"note: {note}")
    with (
        whole_file(arguments.out) as draft,
        progress("scoring", source.size) as tell,
        writer(arguments.out, draft) as write,
    ):
        for rows, reached in source.batches(name):
            found = answers.of(rows)
            tell(reached)
            if ends is None:
                write(found)
            else:
                ends.add(found)
        if ends is not None:
            write(ends.rows())
    for line in answers.summary():
        print(line)
    print(f"scores: {arguments.out}")
    drift = answers.drift()
    if drift is not None:
        if arguments.fail_on_drift:
            raise DriftError(drift)
        print(f"scarce: warning: {drift}", file=sys.stderr)
