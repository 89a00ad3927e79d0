"""A plot of lines, or of points over categories, as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from papers._results import Figure
from papers.report._axes import Axis, limits, log_ticks, own_ticks, round_ticks
from papers.report._html import Html, element
from papers.report._lines import Line, Point, lines_of

# In the units of the view box. On a narrow phone one unit is about 0.75 pixels.
WIDTH, PLOT_HEIGHT = 480, 250
TOP, RIGHT, TICK_SPACE = 10, 16, 26
LETTER = 8.6
"""Width of a letter, generously, at the larger size of the style sheet, that for phones."""
LONGEST_NAME, LONGEST_IF_WIDE = 18, 28
SLOPE = math.radians(40)
"""Of the names of categories that do not fit side by side."""
NARROWEST_SLOT = 26
"""With more categories than fit so, the picture gets wider, in a box that scrolls."""
MOST_BANDS = 3
"""With more lines than this their spreads are bars: bands would hide one another."""


@dataclass(frozen=True)
class Paper:
    """The axes of a plot, and the height of the picture."""

    x: Axis
    y: Axis
    width: float
    height: float
    sloping: bool = False


def draw(figure: Figure, identity: str) -> Html:
    """Return the picture; its labels are around it, where they can wrap."""
    lines = lines_of(figure)
    paper = _paper(figure, lines)
    return element(
        "svg",
        element("title", f"Plot: {figure.title}", id=f"{identity}-plot"),
        *_stripes(figure, paper),
        *_y_ticks(paper),
        *(_names(figure, paper) if figure.ticks else _x_ticks(paper)),
        *(_line(number, lines, figure, paper) for number in range(len(lines))),
        viewBox=f"0 0 {paper.width:g} {paper.height:g}",
        style=_sizes(paper) if is_wide(figure) else None,
        role="img",
        aria_labelledby=f"{identity}-plot",
        class_="plot",
    )


def is_wide(figure: Figure) -> bool:
    """Return whether a figure has so many categories that it needs a wider picture."""
    return len(figure.ticks) * NARROWEST_SLOT > WIDTH - 100


def _sizes(paper: Paper) -> str:
    """Keep the letters of a wide picture legible, and no larger than those of others."""
    return f"min-width: {0.75 * paper.width:.0f}px; max-width: {1.2 * paper.width:.0f}px"


def _paper(figure: Figure, lines: tuple[Line, ...]) -> Paper:
    y = _y_axis(figure, lines)
    left = 14 + LETTER * max((len(label) for _, label in y.ticks), default=0)
    if not figure.ticks:
        return Paper(_x_axis(figure, lines, left), y, WIDTH, TOP + PLOT_HEIGHT + TICK_SPACE)
    width = max(WIDTH, left + RIGHT + NARROWEST_SLOT * len(figure.ticks))
    longest = LETTER * max(len(name) for name in _names_shown(figure))
    slot = (width - left - RIGHT) / len(figure.ticks)
    sloping = longest + LETTER > slot
    if sloping:  # the first name begins to the left of its tick
        left = max(left, longest * math.cos(SLOPE) - slot / 2 + 4)
    below = longest * math.sin(SLOPE) + TICK_SPACE if sloping else TICK_SPACE
    x = Axis(-0.5, len(figure.ticks) - 0.5, left, width - RIGHT, ())
    return Paper(x, y, round(width), round(TOP + PLOT_HEIGHT + below), sloping)


def _y_axis(figure: Figure, lines: tuple[Line, ...]) -> Axis:
    points = [point for line in lines for point in line.points]
    values = [point.y for point in points] + [
        end
        for point in points
        for end in (point.y - point.spread, point.y + point.spread)
        if end > 0 or not figure.log_y
    ]
    low, high = limits(values, log=figure.log_y)
    ticks = log_ticks(low, high) if figure.log_y else round_ticks(low, high)
    return Axis(low, high, TOP + PLOT_HEIGHT, TOP, ticks, figure.log_y)


def _x_axis(figure: Figure, lines: tuple[Line, ...], left: float) -> Axis:
    """Return an axis with ticks at the points of the lines, or at round values."""
    values = [point.x for line in lines for point in line.points]
    low, high = limits(values, log=figure.log_x)
    bare = Axis(low, high, left, WIDTH - RIGHT, (), figure.log_x)
    ticks = own_ticks(values, bare, LETTER)
    if not ticks:
        ticks = log_ticks(low, high) if figure.log_x else round_ticks(low, high)
    return Axis(low, high, left, WIDTH - RIGHT, ticks, figure.log_x)


def _y_ticks(paper: Paper) -> Iterator[Html]:
    for value, label in paper.y.ticks:
        y = paper.y(value)
        yield element("line", x1=paper.x.start, x2=paper.x.stop, y1=y, y2=y, class_="grid")
        yield element("text", label, x=paper.x.start - 8, y=y + 4.5, text_anchor="end")
    floor = paper.y.start
    yield element("line", x1=paper.x.start, x2=paper.x.stop, y1=floor, y2=floor, class_="axis")


def _x_ticks(paper: Paper) -> Iterator[Html]:
    floor = paper.y.start
    for value, label in paper.x.ticks:
        x = paper.x(value)
        yield element("line", x1=x, x2=x, y1=floor, y2=floor + 5, class_="axis")
        yield element("text", label, x=x, y=floor + 20, text_anchor="middle")


def _names(figure: Figure, paper: Paper) -> Iterator[Html]:
    floor = paper.y.start
    for number, (name, shown) in enumerate(zip(figure.ticks, _names_shown(figure), strict=True)):
        x = paper.x(number)
        place = (
            {"transform": f"translate({x + 4} {floor + 16}) rotate({-math.degrees(SLOPE):g})"}
            if paper.sloping
            else {"transform": f"translate({x} {floor + 20})"}
        )
        anchor = "end" if paper.sloping else "middle"
        yield element("text", element("title", name), shown, text_anchor=anchor, **place)


def _names_shown(figure: Figure) -> list[str]:
    """Return the names of the categories, long ones cut in the middle: ends tell them apart."""
    half = (LONGEST_IF_WIDE if is_wide(figure) else LONGEST_NAME) // 2
    return [
        name if len(name) <= 2 * half else f"{name[:half].rstrip()}…{name[1 - half :].lstrip()}"
        for name in figure.ticks
    ]


def _stripes(figure: Figure, paper: Paper) -> Iterator[Html]:
    """Yield a ground under every second category."""
    for number in range(0, len(figure.ticks), 2):
        left, right = paper.x(number - 0.5), paper.x(number + 0.5)
        yield element(
            "rect", x=left, y=TOP, width=round(right - left, 2), height=PLOT_HEIGHT, class_="stripe"
        )


def _line(number: int, lines: tuple[Line, ...], figure: Figure, paper: Paper) -> Html:
    line = lines[number]
    places = [
        (paper.x(point.x + _shift(number, len(lines), figure)), paper.y(point.y))
        for point in line.points
    ]
    banded = not figure.ticks and len(lines) <= MOST_BANDS
    return element(
        "g",
        *(_band(line, paper) if banded else _bars(line, places, paper)),
        *([] if figure.ticks else [_path("line", places)]),
        *(_marker(line, point, *place) for point, place in zip(line.points, places, strict=True)),
        class_=line.classes,
    )


def _shift(number: int, n_lines: int, figure: Figure) -> float:
    """Return how far sideways points go, so that those of a category stand side by side."""
    return (number - (n_lines - 1) / 2) * min(0.14, 0.8 / n_lines) if figure.ticks else 0.0


def _marker(line: Line, point: Point, x: float, y: float) -> Html:
    """Return a marker, with a ground larger than itself to point at."""
    return element(
        "g",
        element("title", f"{line.label}, {point.text}"),
        element("circle", cx=x, cy=y, r=10, class_="target"),
        line.marker(x, y),
    )


def _path(name: str, places: list[tuple[float, float]], end: str = "") -> Html:
    steps = " ".join(f"{x:g},{y:g}" for x, y in places)
    return element("path", d=f"M{steps}{end}" if places else "", class_=name)


def _band(line: Line, paper: Paper) -> Iterator[Html]:
    for left, right in pairwise(line.points):
        if left.spread or right.spread:
            corners = [
                *_ends(left, paper.x(left.x), paper),
                *reversed(_ends(right, paper.x(right.x), paper)),
            ]
            yield _path("band", corners, "Z")


def _bars(line: Line, places: list[tuple[float, float]], paper: Paper) -> Iterator[Html]:
    for point, (x, _) in zip(line.points, places, strict=True):
        if point.spread:
            yield _path("bar", _ends(point, x, paper))


def _ends(point: Point, x: float, paper: Paper) -> list[tuple[float, float]]:
    """Return the ends of a spread; one below a logarithmic axis is at its foot."""
    return [(x, paper.y(point.y - point.spread)), (x, paper.y(point.y + point.spread))]
