"""What a command reports: streams that may go away, progress, errors and warnings in one line."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
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

    Returned: with line ends and tabs as they are.
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


EVERY = 5.0  # seconds between lines of a log


@contextmanager
def progress(
    what: str, total: float | None, told: Callable[[float], str] | None = None
) -> Iterator[Callable[[float], None]]:
    """Show how far something has come.

    ``total``: what is counted up to, if it is known. ``told``: what a log says of what was reached;
    by default the percentage.

    Yields
    ------
    callable
        To be called with what was reached.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            number = bar.add_task(what, total=total)
            yield lambda reached: bar.update(number, completed=reached)
        return
    start, reached, ended = time.monotonic(), [0.0], threading.Event()

    def tell() -> None:
        while not ended.wait(EVERY):
            done = told(reached[0]) if told else f"{reached[0] / total:.0%}" if total else ""
            words = ", ".join(filter(None, (done, f"{time.monotonic() - start:.0f} s")))
            print(f"{what}: {words}", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield lambda value: reached.__setitem__(0, value)
    finally:
        ended.set()
        teller.join()


@contextmanager
def counted_fits(kind: type, total: int | None) -> Iterator[None]:
    """Show how many fits of an estimator have begun.

    ``kind``: the estimator's class. Its `fit` is wrapped meanwhile: wherever the fits are made, in
    a calibration or a search, this sees them. ``total``: how many there will be, if that is known.

    Yields
    ------
    None
        Nothing.
    """
    original, begun = kind.fit, 0  # type: ignore[attr-defined]
    of = f" of {total}" if total else ""
    with progress("learning", total, lambda number: f"fit {number:.0f}{of}") as tell:

        def fit(self: Any, *args: Any, **parameters: Any) -> Any:
            nonlocal begun
            begun += 1
            tell(begun)
            return original(self, *args, **parameters)

        fit.__wrapped__ = original  # type: ignore[attr-defined]
        kind.fit = fit  # type: ignore[attr-defined]
        try:
            yield
        finally:
            kind.fit = original  # type: ignore[attr-defined]


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
