"""One self-contained page of what a run found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from papers._numbers import duration, probability, signed
from papers._panels import LEVEL, MARKS, Panel, panels
from papers._plots import as_svg, printable
from papers._results import PROTOCOLS, Figure, Run, Score
from papers._text import paragraphs

TEMPLATE = Path(__file__).with_name("report.html.j2")
STARS = re.compile(r"(?<![\w*])\*(\w[^*\n]*)\*(?![\w*])")


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
    >>> run = Run("A run", "2026-01-31", "python -m papers all", {}, {}, "2 cores", papers=())
    >>> render(run).startswith("<!DOCTYPE html>")
    True
    """
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {
        "svg": _svg,
        "duration": duration,
        "drawn": _drawn,
        "emphasised": _emphasised,
        "paragraphs": paragraphs,
    }
    page = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        run=run, panels=panels, cell=_cell, protocols=PROTOCOLS, marks=MARKS, level=LEVEL
    )
    return printable(page)


def _drawn(figures: tuple[Figure, ...]) -> list[Figure]:
    """Leave out figures whose settings were not run."""
    return [figure for figure in figures if any(series.x for series in figure.series)]


def _svg(figure: Figure, identity: str) -> Any:
    from markupsafe import Markup

    return Markup(as_svg(figure, identity))  # matplotlib escapes its texts


def _emphasised(text: str) -> Any:
    """Return a text in which what stands between stars, *like this*, is emphasised."""
    from markupsafe import Markup, escape

    return Markup(STARS.sub(r"<em>\1</em>", str(escape(text))))


def _cell(panel: Panel, score: Score) -> dict[str, Any]:
    """Return the texts of one figure of a table."""
    verdict = panel.verdict(score)
    sign, meaning = MARKS[verdict] if verdict else ("", "")
    if verdict and score.p_value is not None:
        meaning += f", {probability(score.p_value)}"
    printed = ""
    if score.printed is not None:
        difference = signed(score.mean - score.printed, panel.write)
        printed = f"paper {panel.write_printed(score.printed)}, {difference}"
    return {
        "mean": panel.write(score.mean),
        "spread": f"± {panel.write(score.std)}" if score.n > 1 else "",
        "best": abs(score.mean - panel.best(score.setting)) <= 1e-9 * abs(score.mean),
        "verdict": verdict or "",
        "sign": sign,
        "meaning": meaning,
        "printed": printed,
    }
