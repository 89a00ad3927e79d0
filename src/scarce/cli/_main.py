"""Parse the command line, run one subcommand, turn errors into one line and an exit code."""

import argparse
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from scarce.cli import _demo, _export, _fit, _info, _score
from scarce.cli._outputs import CommandError, in_words, listened_to

SUCCESS, FAILURE, INTERRUPTED = 0, 1, 130  # 2, wrong usage, is argparse's own
COMMANDS = {"demo": _demo, "fit": _fit, "score": _score, "info": _info, "export": _export}
INPUT, MODEL_FILE = 3, 4  # what is wrong: a file that cannot be read, a model file


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `scarce` command.

    ``argv``: arguments after the command's name. None means those of this process. Returned: exit
    code: 0 when all went well, 1 after an error, 2 for options that do not go together, 3 for a
    file that cannot be read, 4 for a model file that is none, 5 where the data say nothing, 6 for a
    drift, 130 when interrupted. Options that are not known raise ``SystemExit`` with code 2.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    arguments = parser(words[:1]).parse_args(words)
    with listened_to():
        try:
            arguments.run(arguments)
            sys.stdout.flush()
        except KeyboardInterrupt:
            print("scarce: interrupted", file=sys.stderr)
            return INTERRUPTED
        except Exception as error:
            if arguments.traceback:
                traceback.print_exc()
            else:
                print(f"scarce: error: {in_words(error)}", file=sys.stderr)
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


def parser(begin: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of the command, with the subcommand that the line begins with, or all."""
    command = argparse.ArgumentParser(
        prog="scarce", description="Support vector machines for scarce labels."
    )
    command.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    command.add_argument(
        "--traceback", action="store_true", help="show where in the code an error came from"
    )
    commands = command.add_subparsers(title="commands", metavar="COMMAND", required=True)

    for name in begin if set(begin) & set(COMMANDS) else COMMANDS:
        COMMANDS[name].add(commands)
    return command


class _Version(argparse.Action):
    """Look the version up when it is asked for: that takes longer than the help."""

    def __call__(self, *arguments: Any) -> None:
        from importlib.metadata import version

        print(f"scarce {version('scarce')}")
        raise SystemExit(0)
