"""The command `python -m papers`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from papers._experiment import GRIDS, QUICK
from papers._output import Progress, finish, prepare
from papers._run import run_papers
from papers.data import DatasetNotFoundError, load_dataset


def main(argv: Sequence[str] | None = None) -> int:
    """Run one paper or all, print their tables and write the report.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments after the command's name. None means those of this process.

    Returns
    -------
    int
        Exit code: 0 when all went well, 1 after an error, 130 when interrupted. Wrong usage raises
        ``SystemExit`` with code 2.
    """
    arguments = _parser().parse_args(argv)
    try:
        _run(arguments)
    except KeyboardInterrupt:
        print("papers: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    except Exception as error:
        if arguments.traceback:
            raise
        print(f"papers: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


def _run(arguments: argparse.Namespace) -> None:
    from papers import PAPERS

    if arguments.data is not None:
        if not arguments.data.is_dir():
            raise NotADirectoryError(f"--data names no folder: {arguments.data}")
        os.environ["SCARCE_DATA"] = str(arguments.data.resolve())  # workers inherit it
    if arguments.earlier is not None and not arguments.earlier.is_dir():
        raise NotADirectoryError(f"--earlier names no folder: {arguments.earlier}")
    prepare(arguments.out)
    found = run_papers(
        list(PAPERS.values()) if arguments.paper == "all" else [PAPERS[arguments.paper]],
        arguments.out,
        full=arguments.full,
        seed=arguments.seed,
        repetitions=arguments.repetitions,
        only=arguments.only,
        grid=arguments.grid,
        methods=arguments.methods,
        on_file=arguments.on_file,
        earlier=arguments.earlier,
        n_jobs=arguments.jobs,
        # Many settings share a set, and loading one takes seconds.
        missing=(lambda _: None) if arguments.on_file else cache(_why_missing),
        report=Progress(),
        command=_again(arguments),
    )
    finish(found, arguments.out)
    if not any(result.tables for result in found.papers):
        raise DatasetNotFoundError(
            "nothing was run, because none of the data sets is at hand; name their folder by "
            "--data or SCARCE_DATA"
        )


def _again(arguments: argparse.Namespace) -> str:
    """Return the command that repeats a run, wherever its data and results are."""
    words = ["python", "-m", "papers", arguments.paper, "--full" if arguments.full else "--quick"]
    words += ["--jobs", str(arguments.jobs), "--seed", str(arguments.seed)]
    if arguments.repetitions is not None:
        words += ["--repetitions", str(arguments.repetitions)]
    if arguments.only is not None:
        words += ["--only", arguments.only]
    if arguments.grid != QUICK:
        words += ["--grid", arguments.grid]
    if arguments.methods is not None:
        words += ["--methods", *arguments.methods]
    if arguments.on_file:
        words.append("--on-file")
    return shlex.join(words)


def _why_missing(name: str) -> str | None:
    """Return why a data set cannot be had, None if it can."""
    try:
        load_dataset(name)
    except DatasetNotFoundError as error:
        return str(error)
    return None


def _parser() -> argparse.ArgumentParser:
    from papers import PAPERS

    parser = argparse.ArgumentParser(
        prog="python -m papers",
        description="Run the tables of a paper again, print them beside the paper's figures and "
        "write a report. A run that was cut short goes on where it stopped when it is started "
        "again with the same --out.",
    )
    parser.add_argument("paper", choices=(*PAPERS, "all"), help="which paper; all means each")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument(
        "--quick",
        action="store_true",
        help="about a minute a paper; says what is left out (default)",
    )
    extent.add_argument(
        "--full", action="store_true", help="every cell whose data is at hand; takes an hour or so"
    )
    parser.add_argument(
        "--only",
        metavar="TABLE[/SETTING]",
        help="one table, or one setting of it: table-1/letter-A",
    )
    parser.add_argument(
        "--grid",
        choices=GRIDS,
        default=QUICK,
        help="a few values of each parameter, or the paper's ranges, which takes hours (default: "
        "%(default)s)",
    )
    parser.add_argument(
        "--methods", nargs="+", metavar="NAME", help="these columns only; others stay on file"
    )
    parser.add_argument(
        "--on-file",
        action="store_true",
        help="run nothing: tables and report of the cells that are in --out",
    )
    parser.add_argument(
        "--earlier",
        type=Path,
        metavar="DIR",
        help="folder with the CSV files of an earlier run with the same seed and grid, such as "
        "docs/results/cells; what they hold is not run again",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="folder with the data sets (default: that of the environment variable SCARCE_DATA)",
    )
    parser.add_argument(
        "--repetitions",
        type=_at_least(1),
        metavar="N",
        help="no more than so many repetitions of each setting (default: the paper's number)",
    )
    parser.add_argument(
        "--jobs",
        type=_at_least(1),
        default=os.cpu_count() or 1,
        metavar="N",
        help="experiments to run at once (default: one a core, here %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=_at_least(0),
        default=0,
        metavar="N",
        help="seed that all random choices follow from (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("papers-results"),
        metavar="DIR",
        help="folder for the report, the tables and the cell files (default: %(default)s)",
    )
    parser.add_argument(
        "--traceback", action="store_true", help="show where in the code an error came from"
    )
    return parser


def _at_least(bound: int) -> Callable[[str], int]:
    """Type of a whole-number argument with a lower bound."""

    def whole_number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"not a whole number: {text!r}") from None
        if value < bound:
            raise argparse.ArgumentTypeError(f"must be at least {bound}, got {value}")
        return value

    return whole_number
