"""Screens, pipes and files that a command writes to, and what happens when they go away."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

# What a terminal would act on, written as Python does: names and texts come from others' files.
CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)
}


@contextmanager
def listened_to() -> Iterator[None]:
    """Let what is printed go nowhere once nobody listens, so that the work is done all the same.

    Yields
    ------
    None
        Nothing.
    """
    with redirect_stdout(_Plain(sys.stdout, "standard output")):
        with redirect_stderr(_Listened(sys.stderr, "standard error")):
            yield


def plain(text: str) -> str:
    """Return text without signs that a terminal would act on.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str
        With line ends and tabs as they are.
    """
    return text.translate(CONTROLS)


class _Listened:
    """A stream whose reader may leave: `scarce fit ... | head -1` still writes its model."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name = stream, name
        # A terminal or pipe that cannot show every sign is no reason to lose the tables.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._tried("write", text)
        return len(text)

    def flush(self) -> None:
        self._tried("flush")

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def _tried(self, method: str, *arguments: str) -> None:
        if self._stream is None:  # closed before the command began
            return
        try:
            getattr(self._stream, method)(*arguments)
        except BrokenPipeError:
            self._silence()
        except OSError as error:
            self._silence()
            raise OSError(error.errno, error.strerror, self._name) from None

    def _silence(self) -> None:
        """Send what is left in the buffer, and what comes, nowhere: also at exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


class _Plain(_Listened):
    """The same without signs that a terminal would act on; a progress bar has them."""

    def write(self, text: str) -> int:
        super().write(plain(text))
        return len(text)
