"""BLAS held to one thread while this library runs threads of its own.

Two pools that wait for work by spinning take the cores from each other; small products then run
several times slower than on one thread.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import LibController, ThreadpoolController

SHARED_OUT = 10_000  # entries from which OpenBLAS gives parts of a dot product to threads
_LISTED = Path("/proc/self/maps")  # Linux lists what is loaded, links resolved


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    """Return BLAS as loaded.

    threadpoolctl resolves the path of every library there is, which takes longer than a first fit
    of few rows. Those that are named like BLAS are enough, where they are listed.
    """
    try:
        named = _named_like_blas(_LISTED.read_text(errors="replace"))
    except (OSError, TypeError, AttributeError):  # another system, or another threadpoolctl
        named = []
    return named or ThreadpoolController().select(user_api="blas").lib_controllers


def _named_like_blas(listed: str) -> list[Any]:
    """Return the controllers that threadpoolctl would make for the libraries of a list."""
    kinds = [kind for kind in LibController.__subclasses__() if kind.user_api == "blas"]
    found = []
    for path in sorted({line[line.find("/") :] for line in listed.splitlines() if ".so" in line}):
        name = path.rpartition("/")[2].lower()
        for kind in kinds:
            if name.startswith(tuple(kind.filename_prefixes)):
                library = kind(filepath=path, prefix=name)
                if any(hasattr(library.dynlib, symbol) for symbol in kind.check_symbols):
                    found.append(library)
    return found


def _set_threads(numbers: list[int]) -> None:
    for library, number in zip(_libraries(), numbers, strict=True):
        library.set_num_threads(number)
        # threadpoolctl takes the thread that set a limit for its owner and ignores the others, but
        # here the last one to leave restores it, whichever that is.
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


class _SingleThreadedBlas:
    """Hold BLAS to one thread while at least one caller is inside, from any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = [library.num_threads for library in _libraries()]
                if max(self._before, default=1) > 1:
                    _set_threads([1] * len(self._before))
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and max(self._before, default=1) > 1:
                _set_threads(self._before)


single_threaded_blas = _SingleThreadedBlas()


def sum_of_squares(values: NDArray[Any]) -> float:
    """Return the sum of all squares, the same for any number of threads.

    OpenBLAS shares out a long dot product, and the threads that took part go on spinning for a
    tenth of a second, in which they take a core from whatever comes next.
    """
    if values.size < SHARED_OUT:
        return float(np.vdot(values, values))
    with single_threaded_blas:
        return float(np.vdot(values, values))
