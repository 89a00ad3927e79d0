"""Tables as plain text that is also Markdown: for the terminal and for the documentation."""

from __future__ import annotations

import math
import re

from papers._panels import LEVEL, MARKS, Panel, panels
from papers._results import PROTOCOLS, PaperResult, Run, Score

LEGEND = (
    "Mean ± standard deviation over n repetitions; in brackets the paper's figure, where there is "
    f"one. Wilcoxon's paired test with Holm's correction at level {LEVEL:g}: "
    + "; ".join(f"{sign} {meaning}" for sign, meaning in MARKS.values())
    + "."
)


def paper_as_text(result: PaperResult, level: int = 2, width: float = math.inf) -> str:
    """Return all tables of a paper under Markdown headings of a level and below.

    A table that is wider than ``width`` has its methods not across but down.
    """
    parts = [f"{'#' * level} {result.title}", result.citation, LEGEND]
    for table in result.tables:
        parts += [f"{'#' * (level + 1)} {table.title}", *paragraphs(table.caption)]
        for panel in panels(table):
            lines = _across(panel)
            parts += [_heading(panel), lines if _width(lines) <= width else _down(panel)]
    if result.skipped:
        parts += ["Left out:", "\n".join(f"- {reason}" for reason in result.skipped)]
    if result.remarks:
        parts += ["Warnings on the way:", "\n".join(f"- {remark}" for remark in result.remarks)]
    return "\n\n".join(parts) + "\n"


def paragraphs(text: str, words: int = 100) -> list[str]:
    """Cut a text between sentences into paragraphs of no more than so many words.

    Examples
    --------
    >>> paragraphs("One two three. Four five. Six seven eight.", words=5)
    ['One two three. Four five.', 'Six seven eight.']
    """
    found: list[str] = []
    for sentence in re.split(r"(?<=[.)]) (?=[A-Z*])", text):
        longer = f"{found[-1]} {sentence}" if found else sentence
        if found and len(longer.split()) <= words:
            found[-1] = longer
        else:
            found.append(sentence)
    return found


def conditions_as_text(run: Run) -> str:
    """Return what is needed to judge and repeat a run, as one paragraph."""
    versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    settings = ", ".join(f"{name} {value}" for name, value in run.settings.items())
    return f"`{run.command}`, {run.created}. {run.machine}. {settings}. {versions}."


def _heading(panel: Panel) -> str:
    remarks = [PROTOCOLS[panel.protocol]]
    if panel.reference_name:
        remarks.append(f"reference {panel.reference_name}")
    return f"**{panel.label}, {panel.protocol}** ({'; '.join(remarks)}):"


def _across(panel: Panel) -> str:
    lines = [["", *panel.methods, "n"]]
    for setting in panel.settings:
        cells = [_cell(panel, panel.score(setting, method)) for method in panel.methods]
        lines.append([setting, *cells, panel.repetitions(setting)])
    return _aligned(lines)


def _down(panel: Panel) -> str:
    lines = [["", "", "", "n"]]
    for setting in panel.settings:
        for number, score in enumerate(panel.row(setting)):
            name = "" if number else setting  # once for all its methods
            lines.append([name, score.method, _cell(panel, score), str(score.n)])
    return _aligned(lines)


def _width(table: str) -> int:
    return table.index("\n")


def _cell(panel: Panel, score: Score | None) -> str:
    if score is None:
        return ""
    text = panel.write(score.mean)
    if score.n > 1:
        text += f" ± {panel.write(score.std)}"
    if score.printed is not None:
        text += f" ({panel.write_printed(score.printed)})"
    verdict = panel.verdict(score)
    return f"{text} {MARKS[verdict][0]}" if verdict else text


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    padded = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]])
