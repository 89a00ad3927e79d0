"""The page as a whole."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

from papers._numbers import duration
from papers._results import PROTOCOLS, PaperResult, Run
from papers.report._figures import render_figure
from papers.report._html import Html, element, joined
from papers.report._summary import render_legend, render_summary
from papers.report._tables import render_table

# Nothing may be loaded, wherever a text of the run might point to.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(run: Run) -> str:
    """Return the report of a run: one HTML file that needs nothing else.

    Parameters
    ----------
    run : Run
        What was found. All its texts are escaped.

    Returns
    -------
    page : str
        To be written as UTF-8.

    Examples
    --------
    >>> from papers._results import Run
    >>> from papers.report import render
    >>> run = Run("A run", "2026-01-31", "python -m papers all", {}, {}, "2 cores", papers=())
    >>> render(run).startswith("<!DOCTYPE html>")
    True
    """
    run = replace(run, papers=tuple(_without_empty_figures(paper) for paper in run.papers))
    page = element("html", _head(run), element("body", _top(run), _main(run)), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _without_empty_figures(paper: PaperResult) -> PaperResult:
    """Leave out figures whose settings were not run, as happens in a quick run."""
    drawn = (figure for figure in paper.figures if any(series.x for series in figure.series))
    return replace(paper, figures=tuple(drawn))


def _head(run: Run) -> Html:
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}" />'),
        element("title", run.title),
        element("style", Html(style)),
    )


def _top(run: Run) -> Html:
    lead = (
        "What a run of scarce found: means and spreads over repetitions, tests of the differences, "
        "and the papers' printed figures beside ours where there are any."
    )
    facts = [
        run.created,
        *([duration(run.seconds)] if run.seconds is not None else []),
        run.machine,
    ]
    return element(
        "header",
        element("h1", run.title),
        element("p", lead, class_="lead"),
        element("p", ", ".join(facts), class_="quiet"),
        *(element("p", note, class_="note") for note in run.notes),
    )


def _main(run: Run) -> Html:
    return element(
        "main",
        _section("summary", "Summary", render_summary(run.papers)),
        _contents(run),
        _section("reading", "How to read the tables", render_legend(PROTOCOLS)),
        *(_paper(paper, f"paper-{number}") for number, paper in enumerate(run.papers, 1)),
        _section("run", "This run", _conditions(run)),
    )


def _section(identity: str, title: str, *parts: str) -> Html:
    return element("section", element("h2", title, id=identity), *parts, aria_labelledby=identity)


def _contents(run: Run) -> Html:
    entries = [
        element("li", _link(paper.title, f"paper-{number}"), _parts(paper, f"paper-{number}"))
        for number, paper in enumerate(run.papers, 1)
    ]
    entries.append(element("li", _link("How to read the tables", "reading")))
    entries.append(element("li", _link("This run: settings, versions, timings", "run")))
    return element(
        "nav",
        element("h2", "Contents", id="contents"),
        element("ul", *entries),
        aria_labelledby="contents",
    )


def _link(text: str, identity: str) -> Html:
    return element("a", text, href=f"#{identity}")


def _parts(paper: PaperResult, identity: str) -> Html:
    titles = {
        **{f"{identity}-table-{n}": table.title for n, table in enumerate(paper.tables, 1)},
        **{f"{identity}-figure-{n}": figure.title for n, figure in enumerate(paper.figures, 1)},
    }
    if paper.skipped:
        titles[f"{identity}-skipped"] = "Skipped"
    if paper.remarks:
        titles[f"{identity}-remarks"] = "Warnings on the way"
    links = (element("li", _link(title, place)) for place, title in titles.items())
    return element("ul", *links) if titles else Html()


def _paper(paper: PaperResult, identity: str) -> Html:
    figures = (
        render_figure(figure, f"{identity}-figure-{number}")
        for number, figure in enumerate(paper.figures, 1)
    )
    return _section(
        identity,
        paper.title,
        element("p", paper.citation, class_="citation"),
        *(
            render_table(table, f"{identity}-table-{number}")
            for number, table in enumerate(paper.tables, 1)
        ),
        element("div", *figures, class_="figures") if paper.figures else "",
        _listed("Skipped", paper.skipped, f"{identity}-skipped"),
        _listed("Warnings on the way", paper.remarks, f"{identity}-remarks"),
    )


def _listed(title: str, lines: tuple[str, ...], identity: str) -> Html:
    if not lines:
        return Html()
    return joined(
        element("h3", title, id=identity),
        element("ul", *(element("li", line) for line in lines)),
    )


def _spent(seconds: float | None) -> str:
    return "not known: went on with an earlier run" if seconds is None else duration(seconds)


def _conditions(run: Run) -> Html:
    timings = {paper.title: _spent(paper.seconds) for paper in run.papers}
    facts = (
        _facts("Settings", run.settings),
        _facts("Versions", run.versions),
        _facts("Machine", {"Machine": run.machine, "Created": run.created}),
        _facts("Timings", timings | {"Whole run": _spent(run.seconds)}),
    )
    return joined(
        element("h3", "Command"),
        element("pre", run.command),
        element("div", *facts, class_="facts"),
    )


def _facts(title: str, facts: dict[str, str]) -> Html:
    if not facts:
        return Html()
    entries = (joined(element("dt", name), element("dd", value)) for name, value in facts.items())
    return element("div", element("h3", title), element("dl", *entries))
