"""Row tiles over a few threads, with BLAS held to one thread each.

The compiled loops and BLAS release the GIL, so plain threads share the work. Tile borders do not
depend on the number of threads, and every row is summed by one thread: same input, same output.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache

from joblib import cpu_count

from scarce.parallel._blas import single_threaded_blas

TILE_ROWS = 256
SMALLEST_EFFORT = 1_000_000


def thread_count() -> int:
    """Return how many threads to use: the cores allowed, or fewer if OMP_NUM_THREADS says so."""
    cores = int(cpu_count())
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
