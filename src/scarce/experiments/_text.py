"""Tables as plain text that is also Markdown: for the terminal and for the documentation."""

from __future__ import annotations

from scarce.experiments._results import PROTOCOLS, PaperResult, Score, Table

SIGNIFICANT = 0.05
LEGEND = (
    "Mean ± standard deviation over the repetitions; in brackets the paper's figure. "
    f"+ and - mark methods above and below the reference, p < {SIGNIFICANT} by Wilcoxon's paired "
    "test with Holm's correction."
)


def paper_as_text(result: PaperResult, level: int = 2) -> str:
    """Return all tables of a paper under Markdown headings of a level and below."""
    parts = [f"{'#' * level} {result.title}", result.citation, LEGEND]
    for table in result.tables:
        parts += [f"{'#' * (level + 1)} {table.title}", table.caption]
        for metric, label in table.metrics.items():
            for protocol, meaning in PROTOCOLS.items():
                body = table_as_text(table, metric, protocol)
                if body:
                    parts += [
                        f"**{label}, {protocol}** ({meaning}; reference {table.reference}):",
                        body,
                    ]
    if result.skipped:
        parts += ["Left out:", "\n".join(f"- {reason}" for reason in result.skipped)]
    if result.remarks:
        parts += ["Warnings on the way:", "\n".join(f"- {remark}" for remark in result.remarks)]
    return "\n\n".join(parts) + "\n"


def table_as_text(table: Table, metric: str, protocol: str) -> str:
    """Return one metric of a table under one protocol; empty when nothing was measured."""
    scores = {
        (score.setting, score.method): score
        for score in table.scores
        if score.metric == metric and score.protocol == protocol
    }
    methods = [m for m in table.methods if any(method == m for _, method in scores)]
    settings = [s for s in table.settings if any(setting == s for setting, _ in scores)]
    if not scores:
        return ""
    reference = {
        s: scores[s, table.reference].mean for s in settings if (s, table.reference) in scores
    }
    lines = [["", *methods, "n"]]
    for setting in settings:
        row = [scores.get((setting, method)) for method in methods]
        repetitions = max(score.n for score in row if score is not None)
        cells = [_cell(score, reference.get(setting)) for score in row]
        lines.append([setting, *cells, str(repetitions)])
    return _aligned(lines)


def verdict(score: Score, reference: float | None) -> str:
    """Return "+" or "-" for a figure that differs significantly from the reference, else ""."""
    if score.p_value is None or score.p_value >= SIGNIFICANT or reference is None:
        return ""
    return "+" if score.mean > reference else "-"


def _cell(score: Score | None, reference: float | None) -> str:
    if score is None:
        return ""
    printed = "" if score.printed is None else f" ({score.printed:.2f})"
    mark = verdict(score, reference)
    return f"{score.mean:.2f} ± {score.std:.2f}{printed}{' ' + mark if mark else ''}"


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
