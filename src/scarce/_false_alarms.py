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
EVEN = 0.75  # share of the variance between the halves of evenly spread scores
LEAST_ODD, MOST_ODD = 0.1, 0.75  # proportions of rows: less is a tail, more are not "the others"


@dataclass(frozen=True)
class LeftOut:
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
    def of(cls, scores: ArrayLike, weights: ArrayLike | None = None) -> LeftOut:
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
        wanted = false_alarms * (float(self.weights.sum()) + 1.0) - 1.0
        place = int(np.searchsorted(self.reached, wanted + ROUNDING, side="right"))
        return min(place, self.scores.size - 1)

    def threshold(self, false_alarms: float) -> float:
        """Return the score below which a new row is rejected at about the given rate.

        Examples
        --------
        >>> from scarce._false_alarms import LeftOut
        >>> LeftOut.of(range(19)).threshold(0.1)  # the second of 19
        1.0
        """
        return float(self.scores[self.position(false_alarms)])

    def p_values(self, scores: Array) -> Array:
        """Return ``(1 + weight of scores up to a row's) / (1 + weight)``.

        Examples
        --------
        >>> from scarce._false_alarms import LeftOut
        >>> LeftOut.of(range(19)).p_values([-1.0, 0.0, 0.5, 30.0])
        array([0.05, 0.1 , 0.1 , 1.  ])
        """
        below = np.searchsorted(self.scores, scores, side="right")
        counted = 1.0 + np.concatenate([[0.0], self.reached])
        return np.asarray(counted[below] / counted[-1])


def lower_group(left_out: LeftOut) -> tuple[int, float]:
    """Return how many scores are in the lower of two groups, and how well two describe them all.

    The split is Otsu's: between the groups lies as much of the variance as possible, and that
    share of it is returned.

    Examples
    --------
    >>> from scarce._false_alarms import LeftOut, lower_group
    >>> lower_group(LeftOut.of([0.0, 0.0, 1.0, 1.0, 1.0]))
    (2, 1.0)
    """
    scores, weights = left_out.scores, left_out.weights
    total = float(weights.sum())
    deviations = scores - float(weights @ scores) / total
    size = float(np.abs(deviations).max(initial=0.0))
    if scores.size < 2 or not np.isfinite(size) or size < np.finfo(np.float64).tiny:
        return 0, 0.0
    deviations = deviations / size  # whose squares are numbers
    variance = float(weights @ deviations**2) / total
    below = left_out.reached[:-1] / total
    moments = np.cumsum(weights * deviations)[:-1] / total
    between = moments**2 / (below * (1.0 - below))
    last = int(np.argmax(between))
    return last + 1, float(min(between[last] / variance, 1.0))


def among_odd_rows(
    left_out: LeftOut, false_alarms: float, closeness: Array | None = None
) -> str | None:
    """Return what to say when the threshold lies in the lower of two groups of scores.

    Rows that are noisy, or of another class, score low when they are left out. If there are more of
    them than may be rejected, rows as odd as they are accepted, which may be every row. What is
    split into two groups is ``closeness``, which grows with the scores, by default the scores: with
    a narrow kernel those of one group may look like two.

    Examples
    --------
    >>> from scarce._false_alarms import LeftOut, among_odd_rows
    >>> print(among_odd_rows(LeftOut.of([0.1] * 8 + [0.9] * 22), 0.1))
    27 % of the rows look unlike the others when they are left out (median score 0.1, others 0.9), \
more than false_alarms=0.1, so that the threshold lies among them and rows as odd are accepted. If \
they are noisy or of another class, leave them out or ask for false_alarms=0.34
    >>> among_odd_rows(LeftOut.of(range(30)), 0.1)
    """
    seen = left_out if closeness is None else LeftOut(closeness, left_out.weights)
    number, explained = lower_group(seen)
    weight = float(left_out.weights.sum())
    # Of n evenly spread scores, the flattest that are one group, one sample in 300 is above this.
    by_chance = EVEN + EVEN / weight**0.5
    share = float(left_out.reached[number - 1]) / weight if number else 0.0
    among = left_out.position(false_alarms) < number
    if explained <= by_chance or not among or not LEAST_ODD <= share <= MOST_ODD:
        return None
    low, high = (
        LeftOut(left_out.scores[part], left_out.weights[part]).threshold(0.5)
        for part in (slice(None, number), slice(number, None))
    )
    return (
        f"{100 * share:.0f} % of the rows look unlike the others when they are left out (median "
        f"score {low:.3g}, others {high:.3g}), more than false_alarms={false_alarms:g}, so that "
        "the threshold lies among them and rows as odd are accepted. If they are noisy or of "
        "another class, leave them out or ask for "
        f"false_alarms={share + (1.0 - share) * false_alarms:.2f}"
    )


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
    >>> from scarce._false_alarms import false_alarm_range
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
    >>> from scarce._false_alarms import unattainable
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

    A share ``fdr`` of those selected is expected to be wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce._false_alarms import benjamini_hochberg
    >>> benjamini_hochberg(np.array([0.01, 0.06, 0.9, 0.8]), fdr=0.1)
    0.01
    """
    n = p_values.size
    ordered = np.sort(p_values)
    passed = np.flatnonzero(ordered <= fdr * np.arange(1, n + 1) / n * (1 + ROUNDING))
    return float(ordered[passed[-1]]) if passed.size else 0.0
