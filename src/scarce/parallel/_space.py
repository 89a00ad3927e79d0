"""Space for small matrices, kept between solves: fresh memory pages cost more than small fits."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
