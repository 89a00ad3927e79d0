"""From scores of rows that a model has not seen: a threshold, its range, p-values, a selection.

Rows count by their weights: a row of weight 2 is the row given twice. The theory is in
docs/theory/false_alarms.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array

ROUNDING = 1e-9  # counts this near to the next whole one are meant to be it
RANGE = (0.05, 0.95)  # ends of the range of the rate
LEAST_COUNTED = 0.15  # proportion of few rows that counts for the range


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of rows, each by a model that has not seen it.

    Attributes
    ----------
    scores : ndarray of shape (n,)
        Ascending.
    weights : ndarray of shape (n,)
        How often each counts.
    """

    scores: Array
    weights: Array

    @classmethod
    def of(cls, scores: ArrayLike, weights: ArrayLike | None = None) -> HeldOutScores:
        """Return scores in any order, each counted once by default."""
        scores = np.asarray(scores, dtype=np.float64)
        weights = np.ones(scores.size) if weights is None else np.asarray(weights, np.float64)
        order = np.argsort(scores, kind="stable")
        return cls(scores[order], weights[order])

    @property
    def reached(self) -> Array:
        """The weight up to each score."""
        return np.cumsum(self.weights)

    def position(self, false_alarms: float) -> int:
        """Return the place of the threshold among the scores.

        It is the first score whose weight reached is above ``false_alarms (n + 1) - 1``, in whole
        numbers the ``floor(false_alarms (n + 1))``-th smallest, and never before the first.
        """
        wanted = max(false_alarms * (float(self.weights.sum()) + 1.0) - 1.0, 0.0)
        place = int(np.searchsorted(self.reached, wanted + ROUNDING, side="right"))
        return min(place, self.scores.size - 1)

    def threshold(self, false_alarms: float) -> float:
        """Return the score below which a new row is rejected at about the given rate.

        Examples
        --------
        >>> from scarce.held_out._odd_rows import HeldOutScores
        >>> HeldOutScores.of(range(19)).threshold(0.1)  # the second of 19
        1.0
        """
        return float(self.scores[self.position(false_alarms)])

    def p_values(self, scores: Array) -> Array:
        """Return ``(1 + weight of scores up to a row's) / (1 + weight)``.

        Examples
        --------
        >>> from scarce.held_out._odd_rows import HeldOutScores
        >>> HeldOutScores.of(range(19)).p_values([-1.0, 0.0, 0.5, 30.0])
        array([0.05, 0.1 , 0.1 , 1.  ])
        """
        below = np.searchsorted(self.scores, scores, side="right")
        counted = 1.0 + np.concatenate([[0.0], self.reached])
        return np.asarray(counted[below] / counted[-1])


def least_rate(weight: float) -> float:
    """Return the smallest rate of false alarms that is attainable with rows of so much weight."""
    return 1.0 / (weight + 1.0)


def false_alarm_range(weight: float, false_alarms: float) -> tuple[float, float]:
    """Return the 90 % range of the rate at a threshold that is meant to have a given one.

    The rate at the k-th smallest of n exchangeable scores has the distribution Beta(k, n + 1 - k).
    Held-out scores come from models that differ, and few rows say little of how wide the class is,
    so that only a part of them counts: Beta(c k, c (n + 1 - k)) with c = 1 - 3 / sqrt(n), at
    least 0.15.

    Examples
    --------
    >>> from scarce.held_out._scores import false_alarm_range
    >>> [round(end, 3) for end in false_alarm_range(8, 0.05)]  # the least that 8 rows give
    [0.0, 0.622]
    """
    from scipy.stats import beta  # slow to import

    k = max(1.0, float(np.floor(false_alarms * (weight + 1.0) + ROUNDING)))
    counted = max(LEAST_COUNTED, 1.0 - 3.0 / weight**0.5)
    low, high = beta.ppf(RANGE, counted * k, counted * max(weight + 1.0 - k, ROUNDING))
    return float(low), float(high)


def unattainable(weight: float, false_alarms: float) -> str | None:
    """Return what to say when a rate is below the least that rows of so much weight give.

    Examples
    --------
    >>> from scarce.held_out._scores import unattainable
    >>> print(unattainable(8, 0.05))
    false_alarms=0.05 is not attainable with 8 rows: the least is 0.111 (90 % range 0.00 to \
0.62); 19 rows are needed
    """
    if false_alarms * (weight + 1.0) >= 1.0 - ROUNDING:
        return None
    low, high = false_alarm_range(weight, false_alarms)
    needed = ceil(1.0 / false_alarms - 1.0 - ROUNDING)
    return (
        f"false_alarms={false_alarms:g} is not attainable with {weight:g} rows: the least is "
        f"{least_rate(weight):.3g} (90 % range {low:.2f} to {high:.2f}); {needed} rows are needed"
    )


def benjamini_hochberg(p_values: Array, fdr: float) -> float:
    """Return the p-value up to which rows are selected, 0 for none.

    A proportion ``fdr`` of those selected is expected to be wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._scores import benjamini_hochberg
    >>> benjamini_hochberg(np.array([0.01, 0.06, 0.9, 0.8]), fdr=0.1)
    0.01
    """
    n = p_values.size
    ordered = np.sort(p_values)
    passed = np.flatnonzero(ordered <= fdr * np.arange(1, n + 1) / n * (1 + ROUNDING))
    return float(ordered[passed[-1]]) if passed.size else 0.0
