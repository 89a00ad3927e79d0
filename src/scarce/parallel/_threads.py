"""Row tiles over a few threads, each with BLAS held to one thread and memory of its own.

The compiled loops and BLAS release the GIL, so plain threads share the work. Tile borders do not
depend on the number of threads, and every row is summed by one thread: same input, same output.
Two pools that wait for work by spinning take the cores from each other; small products then run
several times slower than on one thread, so that BLAS is held while this library runs threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count
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
    if values.size >= 16 * SHARED_OUT:
        with single_threaded_blas:
            return float(np.vdot(values, values))
    flat, size = values.ravel(), SHARED_OUT - 1
    parts = (flat[first : first + size] for first in range(0, flat.size, size))
    return sum(float(np.vdot(part, part)) for part in parts)


KEPT = 1 << 18  # values kept per thread and use, 2 MB

_kept = threading.local()


class small_space:  # noqa: N801  (used like a function)
    """Lend the thread's space for one use, in float64."""

    def __init__(self, use: str) -> None:
        self.use = use

    def __enter__(self) -> NDArray[Any]:
        self.space: NDArray[Any] | None = getattr(_kept, self.use, None)
        if self.space is None:
            self.space = np.empty(KEPT)
        setattr(_kept, self.use, None)  # a solve inside this one, from a callable kernel: its own
        return self.space

    def __exit__(self, *_: object) -> None:
        setattr(_kept, self.use, self.space)


TILE_ROWS = 256
SMALLEST_EFFORT = 1_000_000


@lru_cache
def _cores(*_: object) -> int:
    """Return how many cores are allowed; the arguments are what may change that while we run.

    Limits of containers are read from files, which takes as long as 100,000 kernel values.
    """
    return int(cpu_count())


def thread_count() -> int:
    """Return how many threads to use: the cores allowed, or fewer if OMP_NUM_THREADS says so."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    cores = _cores(own, os.environ.get("LOKY_MAX_CPU_COUNT"))
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


Work = Callable[[int, int], None]


def tile_steps(width: int) -> int:
    """Return how many rows a tile of so many columns has: fewer columns, more rows."""
    return TILE_ROWS * max(1, min(8, 512 // max(1, width)))


@contextmanager
def tile_runner(effort: int) -> Iterator[Callable[..., None]]:
    """Give a function ``run(n_rows, work, step)`` that calls ``work(start, stop)`` for every tile.

    ``effort`` is what is to be done, roughly in nanoseconds; for little, threads cost too much.
    """
    workers = thread_count() if effort >= SMALLEST_EFFORT else 1

    def serial(n_rows: int, work: Work, step: int = TILE_ROWS) -> None:
        for start in range(0, n_rows, step):
            work(start, min(n_rows, start + step))

    if workers == 1:
        with single_threaded_blas:
            yield serial
        return

    pool = _pool(os.getpid(), workers - 1)

    def parallel(n_rows: int, work: Work, step: int = TILE_ROWS) -> None:
        starts = iter(range(0, n_rows, step))

        def drain() -> None:
            for start in starts:  # one shared iterator: whoever is free takes the next tile
                work(start, min(n_rows, start + step))

        others = [pool.submit(drain) for _ in range(workers - 1)]
        try:
            drain()
        finally:
            # After an interrupt the iterator is emptied, so that the other threads stop too.
            for _ in starts:
                pass
            for other in others:
                # Those that have not begun are not waited for: all threads may be busy with tiles
                # whose work is this.
                if not other.cancel():
                    other.result()

    with single_threaded_blas:
        yield parallel


@lru_cache(maxsize=1)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return threads that wait for work, of this process: a forked one has none of them."""
    return ThreadPoolExecutor(threads, thread_name_prefix="scarce")
