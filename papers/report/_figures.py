"""A figure: the plot, its labels and legend, and its values as a table."""

from __future__ import annotations

from papers._numbers import plural
from papers._results import Figure
from papers.report._html import Html, element, emphasised
from papers.report._lines import Line, abscissa, lines_of, values_of, write_ordinates
from papers.report._plot import draw, is_wide
from papers.report._tables import grid, scrolling


def render_figure(figure: Figure, identity: str) -> Html:
    """Return one figure with its heading."""
    return element(
        "figure",
        element("h3", figure.title, id=identity),
        element("p", figure.y_label, class_="y-label"),
        _picture(figure, identity),
        element("p", figure.x_label, class_="x-label") if figure.x_label else "",
        _legend(figure),
        element("figcaption", emphasised(figure.caption), *_left_out(figure), class_="caption"),
        _values(figure, identity),
        class_="block wide" if is_wide(figure) else "block",
        aria_labelledby=identity,
    )


def _picture(figure: Figure, identity: str) -> Html:
    plot = draw(figure, identity)
    return scrolling(plot, identity) if is_wide(figure) else plot


def _legend(figure: Figure) -> Html:
    entries = (
        element("li", _sample(line, figure), element("span", line.label))
        for line in lines_of(figure)
    )
    return element("ul", *entries, class_="legend", aria_label="Legend")


def _sample(line: Line, figure: Figure) -> Html:
    stroke = [] if figure.ticks else [element("path", d="M1,7 33,7", class_="line")]
    return element(
        "svg",
        element("g", *stroke, line.marker(17, 7), class_=line.classes),
        viewBox="0 0 34 14",
        class_="sample",
        aria_hidden="true",
    )


def _left_out(figure: Figure) -> list[str]:
    """Say how many points the plot cannot show."""
    missing = sum(len(line.series.x) - len(line.points) for line in lines_of(figure))
    if not missing:
        return []
    return [
        f" Not drawn, because not finite or not positive on a logarithmic axis: "
        f"{plural(missing, 'point')}."
    ]


def _values(figure: Figure, identity: str) -> Html:
    lines = lines_of(figure)
    written = write_ordinates(figure)
    places = sorted({x for line in lines for x in line.series.x})
    columns = [{x: written(y, spread) for x, y, spread in values_of(line.series)} for line in lines]
    labels = [line.label for line in lines]
    head = (element("th", name, scope="col", class_="number") for name in labels)
    rows = (
        element(
            "tr",
            element("th", abscissa(figure, x), scope="row"),
            *(element("td", column.get(x, "–"), class_="number") for column in columns),
        )
        for x in places
    )
    title = element("tr", element("th", figure.x_label or "Setting", scope="col"), *head)
    return element(
        "details",
        element("summary", "The values as a table"),
        element("div", grid(title, rows, identity), class_="panel"),
    )
