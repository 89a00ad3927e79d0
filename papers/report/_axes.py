"""From values to positions on the paper, with ticks at round values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from papers._numbers import with_minus

Ticks = tuple[tuple[float, str], ...]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high` in values and from `start` to `stop` on the paper."""

    low: float
    high: float
    start: float
    stop: float
    ticks: Ticks
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the position of a value; values outside are put at the nearer end."""
        value = min(max(value, self.low), self.high)
        low, high = _transform(self.low, self.log), _transform(self.high, self.log)
        share = (_transform(value, self.log) - low) / (high - low)
        return round(self.start + share * (self.stop - self.start), 2)


def _transform(value: float, log: bool) -> float:
    return math.log10(value) if log else value


def limits(values: Sequence[float], *, log: bool = False) -> tuple[float, float]:
    """Return a range around the values, with a margin at both ends."""
    if not values:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = _transform(min(values), log), _transform(max(values), log)
    pad = 0.05 * (high - low) or (0.5 if log else max(abs(high), 1.0) * 0.1)
    low, high = low - pad, high + pad
    return (10**low, 10**high) if log else (low, high)


def round_ticks(low: float, high: float, target: int = 5) -> Ticks:
    """Return ticks at multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / target
    power = 10 ** math.floor(math.log10(rough))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= 0.7 * rough)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # Adding zero turns a negative zero into zero.
    values = (round(number * step, places + 1) + 0.0 for number in range(first, last + 1))
    return tuple((value, with_minus(f"{value:.{places}f}")) for value in values)


def log_ticks(low: float, high: float, target: int = 6) -> Ticks:
    """Return ticks at powers of ten, or at 1, 2 and 5 times them when these are too few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    stride = math.ceil(max(1, last - first - 1) / target)
    powers = [10.0**power for power in range(first, last + 1) if power % stride == 0]
    for factors in ((1,), (1, 2, 5)):
        values = [factor * power for power in powers for factor in factors]
        inside = [value for value in values if low <= value <= high]
        if len(inside) >= 3:
            plain = inside[0] >= 1e-3 and inside[-1] < 1e6
            return tuple((value, f"{value:g}" if plain else _power(value)) for value in inside)
    return tuple(tick for tick in round_ticks(low, high) if tick[0] > 0)


def _power(value: float) -> str:
    factor, power = f"{value:.0e}".split("e")
    return ("" if factor == "1" else f"{factor}·") + "10" + str(int(power)).translate(_SUPERSCRIPTS)


def own_ticks(values: Iterable[float], axis: Axis, width_of_character: float) -> Ticks:
    """Return a tick at each value, nothing if there are many or their labels would touch."""
    distinct = sorted(set(values))
    ticks = tuple((value, with_minus(f"{value:.6g}")) for value in distinct)
    places = [(axis(value), len(label) * width_of_character / 2) for value, label in ticks]
    touching = any(
        right - left < left_half + right_half + width_of_character
        for (left, left_half), (right, right_half) in pairwise(places)
    )
    unwieldy = len(ticks) > 10 or any("e" in label for _, label in ticks)
    return () if touching or unwieldy else ticks
