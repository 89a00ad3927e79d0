"""A table of a paper: our figures, the printed ones, and how they compare."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterable
from itertools import count

from papers._numbers import probability, signed
from papers._panels import MARKS, Panel, panels
from papers._results import PROTOCOLS, Score, Table
from papers.report._html import Html, element, emphasised, joined

LONGEST_CAPTION = 400  # signs after the first sentence
_FIGURE_SPACE = "\u2007"


def mark(verdict: str, detail: str = "") -> Html:
    """Return the sign of a verdict, with its meaning for tooltips and screen readers."""
    sign, meaning = MARKS[verdict]
    return joined(
        element("span", sign, class_=f"mark {verdict}", title=meaning + detail, aria_hidden="true"),
        element("span", f" ({meaning}{detail})", class_="hidden"),
    )


def render_table(table: Table, identity: str) -> Html:
    """Return the section of one table."""
    numbers = count(1)
    return element(
        "section",
        element("h3", table.title, id=identity),
        _caption(table.caption),
        *(_panel(panel, f"{identity}-{next(numbers)}") for panel in panels(table)),
        class_="block",
        aria_labelledby=identity,
    )


def _caption(text: str) -> Html:
    """Return the caption; of a long one the first sentence, and the others to unfold."""
    first, _, others = text.partition(". ")
    if len(others) <= LONGEST_CAPTION:
        return element("p", emphasised(text), class_="caption")
    return joined(
        element("p", emphasised(f"{first}."), class_="caption"),
        element(
            "details",
            element("summary", "Protocol and choices"),
            element("p", emphasised(others), class_="caption"),
        ),
    )


def _panel(panel: Panel, identity: str) -> Html:
    spread_width = max(len(panel.write(score.std)) for score in panel.scores)
    rows = (_row(panel, setting, spread_width) for setting in panel.settings)
    return element(
        "div", _panel_title(panel, identity), grid(_head(panel), rows, identity), class_="panel"
    )


def grid(head: Html, rows: Iterable[Html], identity: str) -> Html:
    """Return a table in a box that scrolls when it is too wide; it is named by a heading."""
    table = element(
        "table", element("thead", head), element("tbody", *rows), aria_labelledby=identity
    )
    return scrolling(table, identity)


def scrolling(content: Html, identity: str) -> Html:
    """Return what may be too wide in a box of its own, which scrolls and can be focused."""
    return element(
        "div", content, class_="scroll", role="region", tabindex="0", aria_labelledby=identity
    )


def _panel_title(panel: Panel, identity: str) -> Html:
    remark = "larger is better"
    if panel.reference_name and panel.table.reference not in panel.methods:
        remark += f"; reference: {panel.reference_name}"
    return element(
        "h4",
        panel.label,
        " ",
        element("span", panel.protocol, class_="badge", title=PROTOCOLS.get(panel.protocol)),
        " ",
        element("span", remark, class_="quiet"),
        id=identity,
    )


def _head(panel: Panel) -> Html:
    methods = (
        element(
            "th",
            method,
            element("small", "reference") if method == panel.table.reference else "",
            scope="col",
            class_="method number",
        )
        for method in panel.methods
    )
    return element(
        "tr",
        element("th", "Setting", scope="col"),
        *methods,
        element("th", "Runs", scope="col", class_="number"),
        element("th", "Cell files", scope="col"),
    )


def _row(panel: Panel, setting: str, spread_width: int) -> Html:
    scores = panel.row(setting)
    return element(
        "tr",
        element("th", setting, scope="row"),
        *(_cell(panel, panel.score(setting, method), spread_width) for method in panel.methods),
        element("td", _repetitions(scores), class_="number"),
        element("td", _trace(scores), class_="trace"),
    )


def _cell(panel: Panel, score: Score | None, spread_width: int) -> Html:
    if score is None:
        return element("td", element("span", "not run", class_="quiet"), class_="number")
    write = panel.write
    best = math.isclose(score.mean, panel.best(score.setting))  # sums of equals may differ
    spread = f" ± {write(score.std).rjust(spread_width, _FIGURE_SPACE)}"
    return element(
        "td",
        element("strong" if best else "span", write(score.mean)),
        element("span", spread, class_="spread") if score.n > 1 else "",
        element("span", " (best of the row)", class_="hidden") if best else "",
        _verdict(panel, score),
        _printed(panel, score),
        class_="number best" if best else "number",
    )


def _verdict(panel: Panel, score: Score) -> Html:
    verdict = panel.verdict(score)
    if verdict is None or score.p_value is None:
        return element("span", "", class_="mark")
    return mark(verdict, f", {probability(score.p_value)}")


def _printed(panel: Panel, score: Score) -> Html:
    """Return the paper's figure and ours minus it."""
    if score.printed is None:
        return Html()
    difference = signed(score.mean - score.printed, panel.write)
    return element(
        "small", f"paper {panel.write_printed(score.printed)}, {difference}", class_="printed"
    )


def _repetitions(scores: tuple[Score, ...]) -> str:
    numbers = {score.n for score in scores}
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def _trace(scores: tuple[Score, ...]) -> Html:
    """Return the folder of a row's cell files; the folders, where methods have their own."""
    folders = {score.method: score.cells for score in scores if score.cells}
    distinct = tuple(dict.fromkeys(folders.values()))
    if len(distinct) <= 1:
        return joined(*(element("code", folder) for folder in distinct))
    shared = posixpath.commonpath(distinct)
    entries = (
        element("li", f"{method}: ", element("code", folder)) for method, folder in folders.items()
    )
    return element(
        "details",
        element("summary", element("code", shared or "."), f" ({len(distinct)} folders)"),
        element("ul", *entries),
    )
