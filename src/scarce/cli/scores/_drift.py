"""Whether rows are like those that a model was learnt from."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import kolmogorov

from scarce._arrays import Array

BY_CHANCE = 1e-3  # how often rows of the class would be called drifted
ALLOWED = 0.2  # part of a proportion that models without some rows may be wrong by


class ScoreCounts:
    """Counts how many scores lie below each held-out score.

    If rows belong to the class, their p-values are uniform, up to what the rows of the fit are
    uncertain by. Comparing the two samples of scores takes account of that: with the many rows of a
    long table the p-values of a model of few rows are never exactly uniform. Nor are they with many
    rows of the fit: held-out scores are of other models than the one that scores new rows. With a
    narrow kernel the upper half of the scores crowds at a margin that each model has elsewhere, and
    is not compared; below the median a fifth of each proportion is allowed for.

    ``left_out``: scores of held-out rows.
    """

    def __init__(self, left_out: Any) -> None:
        scores = np.asarray(left_out, dtype=np.float64)
        self.left_out = np.sort(scores[np.isfinite(scores)])  # NaN: of sources, or without weight
        self.counts = np.zeros((2, self.left_out.size), dtype=np.int64)
        self.rows, self.rejected = 0, 0

    def add(self, scores: Array, rejected: int) -> None:
        """Count further scores.

        ``rejected``: how many of these rows are rejected.
        """
        ordered = np.sort(scores)
        self.counts[0] += np.searchsorted(ordered, self.left_out, side="left")
        self.counts[1] += np.searchsorted(ordered, self.left_out, side="right")
        self.rows += ordered.size
        self.rejected += rejected

    def distance(self) -> float:
        """Return by how much the two distribution functions differ beyond what is allowed.

        The largest difference (Kolmogorov-Smirnov) at held-out scores up to their median, less a
        part of the proportion there.
        """
        n = self.left_out.size
        half = self.left_out[: n // 2 + 1]
        below = np.searchsorted(self.left_out, half, side="left") / n
        up_to = np.searchsorted(self.left_out, half, side="right") / n
        less, most = self.counts[:, : half.size] / self.rows
        # Of equal scores some proportion is between the two.
        lower, higher = most - (1 + ALLOWED) * up_to, (1 - ALLOWED) * below - less
        return float(max(lower.max(), higher.max(), 0.0))

    def drift(self) -> str | None:
        """Return a sentence if the rows differ from those of the fit, else None."""
        n = self.left_out.size
        distance = self.distance()
        if kolmogorov(distance * np.sqrt(n * self.rows / (n + self.rows))) > BY_CHANCE:
            return None
        middle = self.counts[1][(n - 1) // 2] / self.rows
        if middle < 1 / 3:
            what = " (so high score rows that the model was fitted to)"
        else:
            what = (
                ". Either the class has changed, or this batch holds many rows that do not belong "
                f"to it ({self.rejected / self.rows:.0%} are rejected): look at the first rows of "
                "the list"
            )
        return (
            f"drift: these rows do not score like new rows of the class. {middle:.0%} of them "
            f"score below its median, where half should{what}"
        )
