"""Pictures of a report: SVG by matplotlib, in colours that the page's style decides."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from scarce._arrays import Array

# What matplotlib draws in, and what the style makes of it: light and dark are the page's choice.
INK = {
    "#010101": "var(--text)",
    "#020202": "var(--quiet)",
    "#030303": "var(--rule)",
    "#040404": "var(--inside)",
    "#050505": "var(--outside)",
    "#060606": "var(--second)",
}
TEXT, QUIET, RULE, INSIDE, OUTSIDE, SECOND = INK
SIZE = (5.6, 2.7)  # inches, small so that letters can be read on a phone
MOST_POINTS = 1500


def picture(draw: Callable[[Any], None], label: str, size: tuple[float, float] = SIZE) -> str:
    """Return a drawing as an SVG element that takes its colours from the page.

    ``label``: what the picture shows, for those who do not see it.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "scarce",
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": TEXT,
        "axes.edgecolor": QUIET,
        "axes.labelcolor": TEXT,
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "xtick.labelcolor": TEXT,
        "ytick.labelcolor": TEXT,
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        axes.set_facecolor("none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        draw(axes)
        content = io.StringIO()
        figure.savefig(content, format="svg", transparent=True, metadata={"Date": None})
    text = content.getvalue()
    text = text[text.index("<svg") :]
    for colour, variable in INK.items():
        text = text.replace(colour, variable)
    head, rest = text.split(">", 1)
    words = head.split()
    box = head[head.index('viewBox="') :].split('"')[1]
    assert words[0] == "<svg"
    return (
        f'<svg style="max-width: {size[0] / SIZE[0]:.0%}" role="img" '
        f'aria-label="{_escaped(label)}" viewBox="{box}" '
        f'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{rest}'
    )


def score_histogram(
    scores: dict[str, Array], threshold: float, higher: str, lower: str
) -> Callable[[Any], None]:
    """Return a drawing of scores of one or two kinds of rows, with the threshold."""

    def draw(axes: Any) -> None:
        together = np.concatenate(list(scores.values()))
        bins = np.histogram_bin_edges(
            np.append(together, threshold), bins=min(40, 8 + together.size // 6)
        )
        for (name, values), colour in zip(scores.items(), (INSIDE, SECOND), strict=False):
            weights = np.full(values.size, 1.0 / values.size)
            axes.hist(values, bins, weights=weights, color=colour, alpha=0.75, label=name)
        axes.axvline(threshold, color=OUTSIDE, linewidth=2)
        axes.annotate(
            f"{lower}  |  {higher}",
            (threshold, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            color=OUTSIDE,
            annotation_clip=False,
        )
        axes.set_xlabel("score")
        axes.set_ylabel("proportion of rows")
        axes.margins(x=0.12)
        if len(scores) > 1:
            axes.legend(frameon=False, loc="best")

    return draw


def two_dimensions(points: Array, inside: Array, words: tuple[str, str]) -> Callable[[Any], None]:
    """Return a drawing of rows in their two main directions."""

    def draw(axes: Any) -> None:
        chosen = np.linspace(0, len(points) - 1, min(len(points), MOST_POINTS)).astype(int)
        places, kept = points[chosen], inside[chosen]
        for own, colour, marker, word in (
            (True, INSIDE, "o", words[0]), (False, OUTSIDE, "X", words[1])
        ):  # fmt: skip
            if (kept == own).any():
                axes.scatter(
                    *places[kept == own].T,
                    s=16, color=colour, marker=marker, alpha=0.8, linewidths=0, label=word,
                )  # fmt: skip
        axes.set_xlabel("first main direction")
        axes.set_ylabel("second")
        axes.legend(frameon=False, loc="best")

    return draw


def shares(given: Array, predicted: Array, sizes: Array) -> Callable[[Any], None]:
    """Return a drawing of given against predicted proportions of groups."""

    def draw(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color=RULE, linewidth=1.5)
        axes.scatter(given, predicted, s=12 + 60 * sizes / sizes.max(), color=INSIDE, alpha=0.75)
        axes.set_xlabel("proportion given")
        axes.set_ylabel("proportion predicted")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)

    return draw


def bars(values: dict[str, float], label: str) -> Callable[[Any], None]:
    """Return a drawing of one bar a name."""

    def draw(axes: Any) -> None:
        names = list(values)[::-1]
        axes.barh(names, [values[name] for name in names], color=INSIDE, height=0.6)
        for place, name in enumerate(names):
            axes.text(values[name], place, f" {values[name]:.0%}", va="center")
        axes.set_xlabel(label)
        axes.set_xlim(0, 1.12 * max(values.values()))

    return draw


def rounds(objective: list[float]) -> Callable[[Any], None]:
    """Return a drawing of the objective by rounds."""

    def draw(axes: Any) -> None:
        axes.plot(np.arange(1, len(objective) + 1), objective, marker="o", ms=4, color=INSIDE)
        axes.set_xlabel("round")
        axes.set_ylabel("objective")
        axes.xaxis.get_major_locator().set_params(integer=True)

    return draw


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
