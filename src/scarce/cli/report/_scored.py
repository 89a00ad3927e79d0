"""The page of a scored table."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from scarce.cli.report import _pictures as pictures
from scarce.cli.report._page import page

ROWS = 50


def scored_page(
    fitted: Any, answers: Any, kept: Any, arguments: argparse.Namespace, id_name: str
) -> str:
    """Return the page of a scored table.

    ``kept``: with `values`, the scores, and `rows`, the answers that are shown.
    """
    values = np.concatenate(kept.values).astype(np.float64)
    sentence, *more = answers.summary()
    drift = answers.drift()
    caption = f"All {answers.rows:,} rows by their {answers.key}."
    if answers.key == "score":
        caption += " Those on the right of the line are accepted, or of the class."
    threshold = 0.0 if answers.key == "score" else float(np.median(values))
    inside, outside = ("accepted", "rejected") if answers.lowest_first else ("yes", "no")
    if answers.key != "score":
        inside, outside = "above the median", "below it"
    drawing = pictures.score_histogram({"rows": values}, threshold, inside, outside)
    content = {
        "title": f"{arguments.table.name}, scored",
        "sentence": sentence,
        "more": [*more, *([drift] if drift else [])],
        "main": {"svg": pictures.picture(drawing, caption), "caption": caption},
        "model": arguments.model.name,
        "id_name": id_name,
        "key": answers.key,
        "distances": "distance_ratio" in _first(kept),
        "means": next((m for m in ("p_value", "probability") if m in _first(kept)), None),
        "rows": [_shown(row, id_name, answers.key, kept.reasons) for row in _in_order(kept)],
    }
    return page("scored.html", content)


def _in_order(kept: Any) -> list[dict[str, Any]]:
    """Return the rows in the order of the list, which is that of the reasons."""
    return [kept.rows[place] for place in kept.reasons if place in kept.rows][:ROWS]


def _first(kept: Any) -> dict[str, Any]:
    rows = _in_order(kept)
    return rows[0] if rows else {}


def _shown(row: dict[str, Any], id_name: str, key: str, reasons: Any) -> dict[str, Any]:
    from scarce.cli.scores._ranked import PLACE

    means = row.get("p_value", row.get("probability"))
    return {
        "id": str(row[id_name]),
        "value": f"{row[key]:.4g}",
        "means": "" if means is None else f"{means:.3g}",
        "distance": f"{row['distance_ratio']:.3g}" if "distance_ratio" in row else "",
        "decision": row.get("decision", ""),
        "reasons": reasons[row[PLACE]] or ["nothing: as the rows it was learnt from"],
    }
