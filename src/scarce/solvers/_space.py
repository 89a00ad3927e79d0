"""Space for small matrices, kept between solves: fresh memory pages cost more than small fits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

KEPT = 1 << 18  # values kept per thread and use, 2 MB

_kept = threading.local()


@contextmanager
def small_space(use: str) -> Iterator[NDArray[Any]]:
    """Lend the thread's space for one use, in float64."""
    space = getattr(_kept, use, None)
    if space is None:
        space = np.empty(KEPT)
    setattr(_kept, use, None)  # a solve inside this one, from a callable kernel, gets its own
    try:
        yield space
    finally:
        setattr(_kept, use, space)
