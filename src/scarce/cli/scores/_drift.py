"""Whether rows are like those that a model was learnt from."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array

BY_CHANCE = 1e-3  # how often rows of the class would be called drifted
LOW = 0.1  # proportion of held-out scores, the lowest, that new ones are counted among
MORE, FEWER = 1.2, 0.5  # times that proportion: by so much models without some rows may be wrong


class ScoreCounts:
    """Counts how many scores are as low as the lowest tenth of the held-out scores.

    If rows belong to the class, this number has a beta-binomial distribution, which takes account
    of what few rows of the fit are uncertain by. Higher scores are not compared: of many rows a
    small difference between held-out and new scores inside the class would show.

    ``left_out``: scores of held-out rows.
    """

    def __init__(self, left_out: Any) -> None:
        scores = np.asarray(left_out, dtype=np.float64)
        scores = np.sort(scores[np.isfinite(scores)])  # NaN: of sources, or without weight
        self.held_out, self.low = scores.size, int(LOW * (scores.size - 1)) + 1
        self.level = float(scores[self.low - 1])
        self.below, self.up_to = 0, 0  # of equal scores some proportion is between the two
        self.rows, self.rejected = 0, 0

    def add(self, scores: Array, rejected: int) -> None:
        """Count further scores.

        ``rejected``: how many of these rows are rejected.
        """
        self.below += int(np.sum(scores < self.level))
        self.up_to += int(np.sum(scores <= self.level))
        self.rows += scores.size
        self.rejected += rejected

    def chance(self) -> float:
        """Return how likely a number as unlike that of the class is, beyond what is allowed."""
        from scipy.stats import betabinom  # slow to import

        number = betabinom(self.rows, self.low, self.held_out + 1 - self.low)
        at_least = number.sf(np.ceil(self.below / MORE) - 1)
        at_most = number.cdf(min(np.floor(self.up_to / FEWER), self.rows))
        return float(min(2.0 * min(at_least, at_most), 1.0))

    def drift(self) -> str | None:
        """Return a sentence if the rows differ from those of the fit, else None."""
        if self.chance() > BY_CHANCE:
            return None
        proportion, wanted = self.up_to / self.rows, self.low / self.held_out
        if proportion < wanted:
            what = " (so high score rows that the model was fitted to)"
        else:
            what = (
                ". Either the class has changed, or this batch holds many rows that do not belong "
                f"to it ({self.rejected / self.rows:.0%} are rejected): look at the first rows of "
                "the list"
            )
        return (
            f"drift: these rows do not score like new rows of the class. {proportion:.0%} of them "
            f"score as low as the lowest {wanted:.0%} of it{what}"
        )
