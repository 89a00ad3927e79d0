"""Timing: interleaved runs, fewer of the slow ones, and growth exponents."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

SLOW_SECONDS = 10.0  # one run is enough above this
MEDIUM_SECONDS = 3.0  # two above this
SHORT_TOTAL = 0.5  # short runs repeat until they add up to this
MAX_SHORT_REPEATS = 30


@dataclass
class Timing:
    """Times of all runs in seconds, and what the last one returned."""

    seconds: list[float]
    result: Any

    @property
    def median(self) -> float:
        """The median time."""
        return median(self.seconds)


def interleaved(
    runs: Mapping[str, Callable[[], Any]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Run all in turn (a, b, a, b, ...), so that a disturbance of the machine hits all alike."""
    timings = {name: Timing([], None) for name in runs}
    gc.collect()
    gc.disable()  # a collection in the middle of a short run would count as its time
    try:
        while due := [name for name in runs if _is_due(timings[name].seconds, repeats)]:
            for name in due:
                timings[name].result = None  # the old model must not weigh on the new run
                start = clock()
                timings[name].result = runs[name]()
                timings[name].seconds.append(clock() - start)
    finally:
        gc.enable()
    return timings


def _is_due(seconds: Sequence[float], repeats: int) -> bool:
    if not seconds:
        return True
    typical = min(seconds)
    if typical > SLOW_SECONDS:
        wanted = 1
    elif typical > MEDIUM_SECONDS:
        wanted = min(repeats, 2)
    else:
        short = math.ceil(SHORT_TOTAL / max(typical, 1e-9))
        wanted = max(repeats, min(short, MAX_SHORT_REPEATS))
    return len(seconds) < wanted


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return p of the least-squares fit ``seconds = c * sizes**p``."""
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)
