"""Parse the command line, run one subcommand, turn errors into one line and an exit code."""

import argparse
import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version

from scarce.cli import _demo, _export, _fit, _info, _score
from scarce.cli._errors import CommandError, UsageError, told

SUCCESS, FAILURE, INTERRUPTED = 0, 1, 130  # 2, wrong usage, is argparse's own
INPUT, MODEL_FILE = 3, 4  # what is wrong: a file that cannot be read, a model file


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `scarce` command.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments after the command's name. None means those of this process.

    Returns
    -------
    int
        Exit code: 0 when all went well, 1 after an error, 2 for options that do not go together,
        3 for a file that cannot be read, 4 for a model file that is none, 5 where the data say
        nothing, 6 for a drift, 130 when interrupted. Options that are not known raise
        ``SystemExit`` with code 2.
    """
    arguments = parser().parse_args(argv)
    # A terminal or pipe that cannot show every sign is no reason to lose the tables.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("scarce: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, `head` say, has seen enough. Nothing is left to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SUCCESS
    except Exception as error:
        if arguments.traceback:
            traceback.print_exc()
        else:
            reason = told(str(error)) or type(error).__name__
            print(f"scarce: error: {reason}", file=sys.stderr)
        return _code(error)
    return SUCCESS


def _code(error: Exception) -> int:
    from scarce._model_files import ModelFileError
    from scarce.io import TableError

    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, ModelFileError):
        return MODEL_FILE
    return INPUT if isinstance(error, OSError | TableError) else FAILURE


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command and all its subcommands."""
    command = argparse.ArgumentParser(
        prog="scarce", description="Support vector machines for scarce labels."
    )
    command.add_argument("--version", action="version", version=f"scarce {version('scarce')}")
    command.add_argument(
        "--traceback", action="store_true", help="show where in the code an error came from"
    )
    commands = command.add_subparsers(title="commands", metavar="COMMAND", required=True)

    _demo.add(commands)
    _fit.add(commands)
    _score.add(commands)

    reproduce = commands.add_parser(
        "reproduce",
        help="moved: python -m papers, from a clone",
        description="The papers' tables are run by the package papers of a clone.",
    )
    reproduce.add_argument("anything", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    reproduce.set_defaults(run=_run_reproduce)

    _info.add(commands)
    _export.add(commands)
    return command


def _run_reproduce(arguments: argparse.Namespace) -> None:
    again = " ".join(["python -m papers", *arguments.anything])
    raise UsageError(
        "the papers' tables are not part of the installed package; in a clone of the repository, "
        f"whose folder papers has them, run: {again}"
    )
