"""Figures as SVG, to stand inside a page."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import numpy as np

from papers._results import Figure, Series

# Colours with a contrast of at least 3 on white and on the dark ground of the page.
COLOURS = (
    "#2a84c6",
    "#d0661a",
    "#1f9a74",
    "#c25ba3",
    "#9a7d12",
    "#7a828c",
    "#d9415f",
    "#7d72e0",
    "#5a9a2e",
    "#b0713f",
)
MARKERS = "os^DvPpX*h"
# Not allowed in a page, escaped or not. They come with captured error messages.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
INK = "#010203"  # stands for the colour of the page's text


def printable(text: str) -> str:
    """Return a text without signs that a page may not hold."""
    return CONTROL.sub("\ufffd", text)


def as_svg(figure: Figure, identity: str) -> str:
    """Return a figure as an SVG element whose ids begin with its own."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": identity,
        "font.family": "sans-serif",
        "font.size": 10,
        "text.parse_math": False,
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
        **dict.fromkeys(("xtick.color", "ytick.color", "legend.labelcolor"), INK),
    }
    with mpl.rc_context(style), warnings.catch_warnings():
        # Signs that matplotlib's font lacks are still text, which the browser draws.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        wide = len(figure.ticks) > 10
        canvas = Canvas(figsize=(11.0 if wide else 6.4, 4.0))
        axes = canvas.add_subplot()
        _draw(axes, figure)
        below = -0.45 if figure.ticks else -0.14
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, below), ncols=3, frameon=False, fontsize=9
        )
        buffer = io.StringIO()
        canvas.savefig(
            buffer, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
        )
    return _for_a_page(buffer.getvalue(), figure, identity)


def _draw(axes: Any, figure: Figure) -> None:
    from matplotlib.ticker import LogFormatter

    names = list(dict.fromkeys(series.name for series in figure.series))
    for series in figure.series:
        place = names.index(series.name)
        look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        x, y, spread = _drawable(series, figure)
        name = printable(series.name)
        if series.printed:
            axes.plot(x, y, "--", label=f"{name} (paper)", mfc="none", **look)
        elif figure.ticks:
            axes.plot(x, y, linestyle="none", label=name, **look)
        else:
            axes.errorbar(x, y, spread, label=name, capsize=2, elinewidth=0.8, **look)
    axes.set_xscale("log" if figure.log_x and not figure.ticks else "linear")
    axes.set_yscale("log" if figure.log_y else "linear")
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":  # the usual labels are mathematical text, which is off
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_formatter(LogFormatter())
    if figure.ticks:
        axes.set_xticks(
            range(len(figure.ticks)), map(printable, figure.ticks), rotation=30, ha="right"
        )
    axes.set_xlabel(printable(figure.x_label))
    axes.set_ylabel(printable(figure.y_label))
    axes.grid(color=INK, alpha=0.15, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _drawable(series: Series, figure: Figure) -> tuple[Any, Any, Any]:
    """Return the points that can be drawn: finite, and positive on a logarithmic axis."""
    x, y = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
    kept = np.isfinite(x) & np.isfinite(y)
    if figure.log_x and not figure.ticks:
        kept &= x > 0
    if figure.log_y:
        kept &= y > 0
    spread = np.asarray(series.spread, dtype=float)[kept] if series.spread else None
    return x[kept], y[kept], spread


def _for_a_page(svg: str, figure: Figure, identity: str) -> str:
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\1{identity}-", svg)  # unique in the page
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    return svg.replace("<svg", f'<svg class="plot" role="img" aria-labelledby="{identity}"', 1)
