"""P-values of scores in the order in which they come, each among all before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array

DIGITS = 16  # binary digits of a score that are kept, so that few distinct ones are stored
BLOCK = 512  # scores that are compared with each other at once


def rounded(scores: ArrayLike) -> Array:
    """Return scores with fewer digits: a fixed rounding, so that equal ones stay exchangeable.

    Examples
    --------
    >>> from scarce.monitoring._ranks import rounded
    >>> rounded([0.5, 1.0 + 2.0**-30])
    array([0.5, 1. ])
    """
    mantissas, exponents = np.frexp(np.asarray(scores, dtype=np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissas, DIGITS)), exponents - DIGITS))


class SeenScores:
    """The scores so far, as distinct values and how often each was seen.

    ``scores``: to begin with. ``counts``: how often each counts; once by default.
    """

    def __init__(self, scores: ArrayLike, counts: ArrayLike | None = None) -> None:
        values = rounded(scores)
        weights = np.ones(values.size) if counts is None else np.asarray(counts, np.float64)
        self.values, places = np.unique(values, return_inverse=True)
        self.counts: Array = np.bincount(places, weights, minlength=self.values.size)

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
            drawn = random[start : start + BLOCK]
            found[start : start + BLOCK] = (below + drawn * (up_to - below)) / number
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
