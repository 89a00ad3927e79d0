"""BLAS held to one thread while this library runs threads of its own.

Two pools that wait for work by spinning take the cores from each other; small products then run
several times slower than on one thread.
"""

from __future__ import annotations

import threading
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # scans the loaded libraries once, a few milliseconds


def _give_up_ownership() -> None:
    """Let any thread change the limits next.

    threadpoolctl takes the thread that set a limit for its owner and ignores the others, but here
    the last one to leave restores it, whichever that is. Leaving a context gives ownership back.
    """
    with _controller().limit(limits=None):
        pass


class _SingleThreadedBlas:
    """Hold BLAS to one thread while at least one caller is inside, from any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limiter: object | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limiter = _controller().limit(limits=1, user_api="blas")
                _give_up_ownership()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()  # type: ignore[union-attr]
                _give_up_ownership()
                self._limiter = None


single_threaded_blas = _SingleThreadedBlas()
