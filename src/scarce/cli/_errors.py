"""What ends a command, and its exit code."""

from __future__ import annotations


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
    return " ".join(message.split())
