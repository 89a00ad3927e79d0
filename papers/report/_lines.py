"""The lines of a figure: their points that can be drawn, their colours and markers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from papers._numbers import common_format, short
from papers._results import Figure, Series
from papers.report._html import Html, element

COLOURS = 8
"""How many the style sheet has."""

MARKERS = (
    "M0 -4.2A4.2 4.2 0 1 1 0 4.2A4.2 4.2 0 1 1 0 -4.2Z",
    "M-3.8 -3.8H3.8V3.8H-3.8Z",
    "M0 -5L4.6 3.4H-4.6Z",
    "M0 -5.4L5.4 0L0 5.4L-5.4 0Z",
    "M0 5L4.6 -3.4H-4.6Z",
    "M-1.6 -5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
    "M0 -5.2L4.9 -1.6L3.1 4.2H-3.1L-4.9 -1.6Z",
    "M-5.6 0L-1.4 -1.4L0 -5.6L1.4 -1.4L5.6 0L1.4 1.4L0 5.6L-1.4 1.4Z",
)


@dataclass(frozen=True)
class Point:
    """A point that can be drawn; `text` is what it says when pointed at."""

    x: float
    y: float
    spread: float
    text: str


@dataclass(frozen=True)
class Line:
    """A series with its points and its looks."""

    series: Series
    points: tuple[Point, ...]
    style: int

    @property
    def classes(self) -> str:
        """Return the names that the style sheet knows."""
        return f"s{self.style % COLOURS}" + (" from-paper" if self.series.printed else "")

    @property
    def label(self) -> str:
        """Return the name, and whose figures these are if not ours."""
        return f"{self.series.name} (paper)" if self.series.printed else self.series.name

    def marker(self, x: float, y: float) -> Html:
        """Return the marker; from the ninth series on, colours come again with other markers."""
        outline = MARKERS[(self.style + self.style // COLOURS) % len(MARKERS)]
        return element("path", d=outline, transform=f"translate({x} {y})", class_="marker")


def lines_of(figure: Figure) -> tuple[Line, ...]:
    """Return the lines of a figure; a printed one looks like ours of the same name."""
    ours_first = sorted(figure.series, key=lambda series: series.printed)
    names = tuple(dict.fromkeys(series.name for series in ours_first))
    return tuple(
        Line(series, _points(series, figure), names.index(series.name)) for series in figure.series
    )


def values_of(series: Series) -> tuple[tuple[float, float, float | None], ...]:
    """Return abscissa, ordinate and spread of each point."""
    spreads = series.spread or (None,) * len(series.y)
    return tuple(zip(series.x, series.y, spreads, strict=True))


def write_ordinates(figure: Figure) -> Callable[[float, float | None], str]:
    """Return how values of a figure are written, with their spread if there is one."""
    write = common_format(y for series in figure.series for y in series.y)
    return lambda y, spread: write(y) if spread is None else f"{write(y)} ± {write(spread)}"


def abscissa(figure: Figure, x: float) -> str:
    """Write the place of a point: its category, if the axis names them."""
    if figure.ticks and x.is_integer() and 0 <= x < len(figure.ticks):
        return figure.ticks[int(x)]
    return short(x)


def _points(series: Series, figure: Figure) -> tuple[Point, ...]:
    """Return what can be drawn: finite, and positive on a logarithmic axis."""
    written = write_ordinates(figure)
    log_x = figure.log_x and not figure.ticks
    return tuple(
        Point(x, y, spread or 0.0, f"{abscissa(figure, x)}: {written(y, spread)}")
        for x, y, spread in values_of(series)
        if _drawable(x, log=log_x) and _drawable(y, log=figure.log_y)
    )


def _drawable(value: float, *, log: bool) -> bool:
    return math.isfinite(value) and (value > 0 or not log)
