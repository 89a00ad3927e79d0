"""What ends a command, and its exit code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from scarce.cli._outputs import plain


class CommandError(Exception):
    """An error that a person reads in one line."""

    code = 1


class UsageError(CommandError):
    """Options that do not go together, or are not known."""

    code = 2


class NoAnswerError(CommandError):
    """The data are in order, but say nothing of what was asked."""

    code = 5


class DriftError(CommandError):
    """Rows are not like those that a model was learnt from."""

    code = 6


def told(message: str) -> str:
    """Return a message in one line."""
    return plain(" ".join(message.split()))


def in_words(error: Exception) -> str:
    """Return an error in one line, those of files with the file first and without a number."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"{error.filename}: no such file or folder"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {told(error.strerror)}"
    return told(str(error)) or type(error).__name__


@contextmanager
def warnings_told() -> Iterator[None]:
    """Print what estimators warn of, each warning once, in one line."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for message in dict.fromkeys(told(str(each.message)) for each in heard):
                print(f"scarce: warning: {message}", file=sys.stderr)
