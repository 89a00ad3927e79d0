"""The top of the page: what each paper's tables came to, and where they are."""

from __future__ import annotations

from statistics import median

from papers._numbers import duration, plural
from papers._panels import (
    BETTER,
    LEVEL,
    MARKS,
    SAME,
    TOO_FEW,
    WORSE,
    Panel,
    panels,
)
from papers._results import PaperResult, Table
from papers.report._html import Html, element, joined
from papers.report._tables import mark


def render_summary(papers: tuple[PaperResult, ...]) -> Html:
    """Return one card a paper."""
    cards = (_card(paper, f"paper-{number}") for number, paper in enumerate(papers, 1))
    return joined(
        element("p", "Of tables with several metrics, the first is summed up.", class_="quiet"),
        element("div", *cards, class_="cards"),
    )


def _card(paper: PaperResult, identity: str) -> Html:
    facts = [
        plural(len(paper.tables), "table"),
        plural(len(paper.figures), "figure"),
    ]
    if paper.skipped:
        facts.append(plural(len(paper.skipped), "item") + " skipped")
    if paper.seconds is not None:
        facts.append(duration(paper.seconds))
    lines = (
        _line(panel, f"{identity}-table-{number}")
        for number, table in enumerate(paper.tables, 1)
        for panel in _first_metric(table)
    )
    return element(
        "article",
        element("h3", element("a", paper.title, href=f"#{identity}")),
        element("p", ", ".join(facts), class_="quiet"),
        element("ul", *lines) if paper.tables else "",
        class_="card",
    )


def _first_metric(table: Table) -> list[Panel]:
    first = next(iter(table.metrics), None)
    return [panel for panel in panels(table) if panel.metric == first]


def _line(panel: Panel, identity: str) -> Html:
    """Say how a table's reference method did, and how far our figures are from the paper's."""
    return element(
        "li",
        element("a", panel.table.title, href=f"#{identity}"),
        " ",
        element("span", panel.protocol, class_="badge"),
        element("br"),
        *_comparison(panel),
        *_distance(panel),
    )


def _comparison(panel: Panel) -> list[Html]:
    counts = panel.verdicts()
    if not counts:
        return []
    # The table marks the others against the reference; here the reference is the subject.
    text = (
        f"{panel.table.reference} against the others: significantly better in {counts[WORSE]}, "
        f"worse in {counts[BETTER]}, no difference in {counts[SAME]}"
    )
    if counts[TOO_FEW]:
        text += f", too few repetitions to tell in {counts[TOO_FEW]}"
    return [joined(f"{text} of {counts.total()}. ")]


def _distance(panel: Panel) -> list[Html]:
    gaps = [abs(score.mean - score.printed) for score in panel.scores if score.printed is not None]
    if not gaps:
        return []
    distance = f"{panel.write(median(gaps))} ({panel.label})"
    return [joined(f"Median distance from {plural(len(gaps), 'printed figure')}: {distance}.")]


def render_legend(protocols: dict[str, str]) -> Html:
    """Return how to read the tables."""
    marks = (element("li", mark(verdict), " ", MARKS[verdict][1]) for verdict in MARKS)
    labels = (
        element("li", element("span", name, class_="badge"), " ", meaning)
        for name, meaning in protocols.items()
    )
    return joined(
        element(
            "p",
            "Each figure is our mean ± standard deviation over the repetitions (column Runs). "
            "Below it, where the paper prints one, the paper's figure and ours minus it. The best "
            "mean of each row is ",
            element("strong", "bold"),
            ". Cell files are the results of the single repetitions that a row was computed from, "
            "relative to the folder of the run.",
        ),
        element(
            "p",
            "Marks compare a method with the table's reference method: paired Wilcoxon test over "
            f"the repetitions, Holm-corrected, level {LEVEL:g}.",
        ),
        element("ul", *marks, class_="plain"),
        element("p", "Labels say how parameters were chosen:"),
        element("ul", *labels, class_="plain"),
    )
