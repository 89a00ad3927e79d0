"""P-values of scores in the order in which they come, each among all before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array

DIGITS = 16  # binary digits of a score that are kept, so that few distinct ones are stored
BLOCK = 512  # scores that are compared with each other at once


def rounded(scores: ArrayLike, digits: int = DIGITS) -> Array:
    """Return scores with fewer digits: a fixed rounding, so that equal ones stay exchangeable.

    Examples
    --------
    >>> from scarce.monitoring._ranks import rounded
    >>> rounded([0.5, 1.0 + 2.0**-30])
    array([0.5, 1. ])
    """
    mantissas, exponents = np.frexp(np.asarray(scores, dtype=np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissas, digits)), exponents - digits))


class SeenScores:
    """The scores so far, as distinct values and how often each was seen.

    ``scores``: to begin with. ``counts``: how often each counts; once by default. ``ceiling``:
    of scores to begin with that are above it only their number is known, not the order.
    """

    def __init__(
        self, scores: ArrayLike, counts: ArrayLike | None = None, ceiling: float = np.inf
    ) -> None:
        values, self.ceiling = rounded(scores), float(rounded(ceiling))
        weights = np.ones(values.size) if counts is None else np.asarray(counts, np.float64)
        known = values <= self.ceiling
        self.above = float(weights[~known].sum())
        self.values, places = np.unique(values[known], return_inverse=True)
        self.counts: Array = np.bincount(places, weights[known], minlength=self.values.size)

    def p_values(self, scores: Array, random: Array) -> Array:
        """Return the p-value of each score among all before it, and add them.

        Of exchangeable scores they are independent and uniform, ties included: the place among
        equal scores is drawn.

        ``scores``: in the order in which they came. ``random``: uniform numbers, for the places
        among equal scores.

        Examples
        --------
        >>> import numpy as np
        >>> from scarce.monitoring._ranks import SeenScores
        >>> seen = SeenScores([1.0, 2.0, 3.0])
        >>> seen.p_values(np.array([0.5, 0.75]), np.array([0.5, 0.5]))
        array([0.125, 0.3  ])
        """
        values, found = rounded(scores), np.empty(scores.size)
        for start in range(0, values.size, BLOCK):
            block = values[start : start + BLOCK]
            reached = np.concatenate([[0.0], np.cumsum(self.counts)])
            below = reached[np.searchsorted(self.values, block, side="left")]
            up_to = reached[np.searchsorted(self.values, block, side="right")]
            earlier = np.tri(block.size, k=-1, dtype=bool)
            below = below + (earlier & (block[None, :] < block[:, None])).sum(axis=1)
            up_to = up_to + (earlier & (block[None, :] <= block[:, None])).sum(axis=1) + 1.0
            number = reached[-1] + np.arange(1, block.size + 1)
            low = reached[np.searchsorted(self.values, self.ceiling, side="right")]
            low = low + (earlier & (block[None, :] <= self.ceiling)).sum(axis=1)
            drawn = random[start : start + BLOCK]
            places = below + drawn * (up_to - below)
            # Scores without an order lie above the ceiling in the order of the others there.
            spread = 1.0 + self.above / np.maximum(number - low, 1.0)
            places = np.where(block > self.ceiling, low + (places - low) * spread, places)
            found[start : start + BLOCK] = places / (number + self.above)
            self._add(block)
        return found

    def _add(self, block: Array) -> None:
        values, counts = np.unique(block, return_counts=True)
        places = np.searchsorted(self.values, values)
        known = places < self.values.size
        known[known] = self.values[places[known]] == values[known]
        self.counts[places[known]] += counts[known]
        self.values = np.insert(self.values, places[~known], values[~known])
        self.counts = np.insert(self.counts, places[~known], counts[~known].astype(np.float64))
