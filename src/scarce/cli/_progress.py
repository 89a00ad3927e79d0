"""What is shown while a command works: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
