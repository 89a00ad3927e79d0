"""Parse the command line, run one subcommand, turn errors into one line and an exit code."""

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version

SUCCESS, FAILURE, INTERRUPTED = 0, 1, 130  # 2, wrong usage, is argparse's own


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `scarce` command.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments after the command's name. None means those of this process.

    Returns
    -------
    int
        Exit code: 0 when all went well, 1 after an error, 130 when interrupted. Wrong usage
        raises ``SystemExit`` with code 2.
    """
    arguments = _parser().parse_args(argv)
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
        return FAILURE
    return SUCCESS


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
        help="fit our estimators beside scikit-learn's and compare",
        description="Fit OneClassSVM, SVC and NuSVC beside scikit-learn's of the same name, "
        "on data that comes with scikit-learn, and compare time, optimality and predictions.",
    )
    demo.add_argument(
        "--rows",
        type=_at_least(100),
        default=5_000,
        metavar="N",
        help="rows of the generated data, at least 100 (default: %(default)s)",
    )
    demo.set_defaults(run=_run_demo)
    return parser


def _run_demo(arguments: argparse.Namespace) -> None:
    # Imported here so that `scarce --help` does not wait for the estimators.
    from scarce.cli._demo import run

    run(rows=arguments.rows)


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
