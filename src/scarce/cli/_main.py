"""Parse the command line, run one subcommand, turn errors into one line and an exit code."""

import argparse
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

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
        Exit code: 0 when all went well, 1 after an error, 3 for a file that cannot be read, 4 for
        a model file that is none, 130 when interrupted. Wrong usage raises ``SystemExit`` with
        code 2.
    """
    arguments = _parser().parse_args(argv)
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
            reason = " ".join(str(error).split()) or type(error).__name__
            print(f"scarce: error: {reason}", file=sys.stderr)
        return _code(error)
    return SUCCESS


def _code(error: Exception) -> int:
    from scarce._model_files import ModelFileError

    if isinstance(error, ModelFileError):
        return MODEL_FILE
    return INPUT if isinstance(error, OSError) else FAILURE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scarce", description="Support vector machines for scarce labels."
    )
    parser.add_argument("--version", action="version", version=f"scarce {version('scarce')}")
    parser.add_argument(
        "--traceback", action="store_true", help="show where in the code an error came from"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    demo = commands.add_parser(
        "demo",
        help="compare fits with scikit-learn's on data that comes with it",
        description="Fit OneClassSVM, SVC and NuSVC beside scikit-learn's of the same name and "
        "compare time, optimality and predictions. Takes less than a minute.",
    )
    demo.add_argument(
        "--rows",
        type=_at_least(100),
        default=5_000,
        metavar="N",
        help="rows of the generated data, at least 100 (default: %(default)s)",
    )
    demo.set_defaults(run=_run_demo)

    reproduce = commands.add_parser(
        "reproduce",
        help="moved: python -m papers, from a clone",
        description="The papers' tables are run by the package papers of a clone.",
    )
    reproduce.add_argument("anything", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    reproduce.set_defaults(run=_run_reproduce)

    info = commands.add_parser(
        "info",
        help="say what a model file holds",
        description="Print the estimator of a model file, its parameters, what it was learnt from, "
        "its certificate and calibration, and the versions that wrote it.",
    )
    info.add_argument("model", type=Path, metavar="MODEL", help="a file that scarce.save wrote")
    info.add_argument("--json", action="store_true", help="as JSON, for programs")
    info.set_defaults(run=_run_info)
    return parser


def _run_demo(arguments: argparse.Namespace) -> None:
    # Imported here so that `scarce --help` does not wait for the estimators.
    from scarce.cli._demo import run

    run(rows=arguments.rows)


def _run_reproduce(arguments: argparse.Namespace) -> None:
    again = " ".join(["python -m papers", *arguments.anything])
    raise RuntimeError(
        "the papers' tables are not part of the installed package; in a clone of the repository, "
        f"whose folder papers has them, run: {again}"
    )


def _run_info(arguments: argparse.Namespace) -> None:
    from scarce.cli._info import run

    run(arguments.model, as_json=arguments.json)


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
