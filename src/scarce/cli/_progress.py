"""What is shown while a command works: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

EVERY = 15.0  # seconds between lines of a log


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show that something goes on, for as long as it does.

    Parameters
    ----------
    what : str
        What goes on.

    Yields
    ------
    None
        Nothing.
    """
    with progress(what, None):
        yield


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Any]:
    """Show how far something has come.

    Parameters
    ----------
    what : str
        What is done.
    total : float or None
        What is counted up to, if it is known.

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
    last = time.monotonic()

    def tell(reached: float) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            print(f"{what}: {reached / (total or reached):.0%}", file=sys.stderr, flush=True)

    yield tell
