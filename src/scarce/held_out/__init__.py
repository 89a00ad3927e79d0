"""Scores of rows by models that have not seen them, and what follows from them.

Thresholds with a rate of false alarms, its range, p-values, rows that look odd, displays. The
theory, and what is not proven, is in docs/theory/false_alarms.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scarce.held_out._displays import LeftOutScoresDisplay, PValueDisplay
from scarce.held_out._offset import HeldOutOffset, TrimmedOffset
from scarce.held_out._programs import (
    LAZILY,
    SmallSample,
    coefficients_without,
    distinct_in_fixed_order,
    landmarks_without,
    lazy_scores,
    left_out_parts,
    mass_without,
    on_margin,
    scores_by_parts,
    warm_start,
)
from scarce.held_out._scores import (
    WIDE_NU,
    WIDER,
    HeldOutScores,
    among_odd_rows,
    benjamini_hochberg,
    false_alarm_range,
    held_out_ranks,
    lower_group,
    most_dropped,
    odd_rows,
    standardised_on_themselves,
    unattainable,
)
from scarce.held_out._tight_groups import odd_groups, representatives

if TYPE_CHECKING:
    from scarce.held_out._chunks import Parts, WithoutPart, left_out_by_chunks
    from scarce.held_out._target_of_chunks import LeftOutOfChunks

OF_CHUNKS = {
    "LeftOutOfChunks": "_target_of_chunks",
    "Parts": "_chunks",
    "WithoutPart": "_chunks",
    "left_out_by_chunks": "_chunks",
}

__all__ = [
    "LAZILY",
    "WIDER",
    "WIDE_NU",
    "HeldOutOffset",
    "HeldOutScores",
    "LeftOutOfChunks",
    "LeftOutScoresDisplay",
    "PValueDisplay",
    "Parts",
    "SmallSample",
    "TrimmedOffset",
    "WithoutPart",
    "among_odd_rows",
    "benjamini_hochberg",
    "coefficients_without",
    "distinct_in_fixed_order",
    "false_alarm_range",
    "held_out_ranks",
    "landmarks_without",
    "lazy_scores",
    "left_out_by_chunks",
    "left_out_parts",
    "lower_group",
    "mass_without",
    "most_dropped",
    "odd_groups",
    "odd_rows",
    "on_margin",
    "representatives",
    "scores_by_parts",
    "standardised_on_themselves",
    "unattainable",
    "warm_start",
]


def __getattr__(name: str) -> Any:
    """Load what leaves rows in chunks out when it is asked for: a fit of an array never does."""
    if name not in OF_CHUNKS:
        raise AttributeError(f"module 'scarce.held_out' has no attribute {name!r}")
    return getattr(import_module(f"scarce.held_out.{OF_CHUNKS[name]}"), name)
