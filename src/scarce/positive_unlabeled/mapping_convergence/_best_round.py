"""Which round of a shrinking class to keep, by positives that were not trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array

FOLDS = 5  # one of which is held out
FEWEST = 5  # different positives below which none is held out


def held_out_rows(keys: Array) -> Array:
    """Return which positives to hold out, by keys that equal rows share: nothing is random."""
    distinct, which = np.unique(keys, return_inverse=True)
    held = which % FOLDS == FOLDS - 1
    return held if distinct.size >= FEWEST else np.zeros(keys.size, bool)


def best_round(history: dict[str, list[Any]], patience: int = 3) -> tuple[int, bool]:
    """Return the round with the largest squared recall over the proportion accepted, and patience.

    Of equal rounds the latest; the loop may go on while the best is not too far back.
    """
    recall, share = np.array(history["held_out_recall"]), np.array(history["accepted_share"])
    # Nothing accepted: the positives among the unlabelled rows are lost.
    values = np.divide(recall**2, share, out=np.zeros(recall.size), where=share > 0)
    latest = values.size - 1
    best = latest - int(np.argmax(values[::-1]))
    return best, latest - best < patience
