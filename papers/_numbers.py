"""Numbers and times as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

FormatNumber = Callable[[float], str]


def with_minus(text: str) -> str:
    """Give a formatted number the minus sign that is as wide as a plus sign."""
    return text.replace("-", "\u2212")


def short(value: float) -> str:
    """Return a number by three figures or more, its whole part never rounded away."""
    size = abs(value)
    if size >= 100:
        return with_minus(f"{value:.0f}")
    return with_minus(f"{value:.3g}" if size >= 1e-4 or size == 0 else f"{value:.1e}")


def common_format(values: Iterable[float]) -> FormatNumber:
    """Return how to write these numbers: equal decimals if three quarters keep two figures so."""
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    if not sizes:
        return short
    largest = sizes[-1]
    places = 1 if largest >= 1000 else 2 if largest >= 10 else 3 if largest >= 1 else 4
    if sizes[len(sizes) // 4] < 10 ** (1 - places):
        return short
    return lambda value: with_minus(f"{value:.{places}f}")


def given_decimals(values: Iterable[float]) -> FormatNumber:
    """Return how to write these numbers: all with the decimals that the longest has."""
    texts = [f"{value:.6f}".rstrip("0") for value in values]
    places = max((len(text.partition(".")[2]) for text in texts), default=0)
    return lambda value: with_minus(f"{value:.{places}f}")


def signed(value: float, write: FormatNumber) -> str:
    """Write a difference, with its sign."""
    text = write(value)
    return text if text.startswith("\u2212") else "+" + text


def probability(value: float) -> str:
    """Write a p-value."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def duration(seconds: float) -> str:
    """Write a time in the unit that suits it, in one piece."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        text = f"{seconds:.1f} s"
    elif minutes < 60:
        text = f"{minutes} min {rest} s"
    else:
        text = f"{minutes // 60} h {minutes % 60} min"
    return text.replace(" ", "\u00a0")


def plural(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
