"""From scores of rows that a model has not seen: a threshold, its range, p-values, odd rows.

Rows count by their weights: a row of weight 2 is the row given twice. The theory is in
docs/theory/false_alarms.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array

ROUNDING = 1e-9  # counts this near to the next whole one are meant to be it
RANGE = (0.05, 0.95)  # ends of the range of the rate
LEAST_COUNTED = 0.15  # proportion of few rows that counts for the range


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of rows, each by a model that has not seen it."""

    scores: Array  # (n,): ascending
    weights: Array  # (n,): how often each counts

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
        >>> from scarce.held_out._scores import HeldOutScores
        >>> HeldOutScores.of(range(19)).threshold(0.1)  # the second of 19
        1.0
        """
        return float(self.scores[self.position(false_alarms)])

    def p_values(self, scores: Array) -> Array:
        """Return ``(1 + weight of scores up to a row's) / (1 + weight)``.

        Examples
        --------
        >>> from scarce.held_out._scores import HeldOutScores
        >>> HeldOutScores.of(range(19)).p_values([-1.0, 0.0, 0.5, 30.0])
        array([0.05, 0.1 , 0.1 , 1.  ])
        """
        below = np.searchsorted(self.scores, scores, side="right")
        counted = 1.0 + np.concatenate([[0.0], self.reached])
        return np.asarray(counted[below] / counted[-1])


def least_rate(weight: float) -> float:
    """Return the smallest rate of false alarms that is attainable with rows of so much weight."""
    return 1.0 / (weight + 1.0)


def false_alarm_range(
    weight: float, false_alarms: float, repeats: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the 90 % range of the rate at a threshold that is meant to have a given one.

    The rate at the k-th smallest of n exchangeable scores has the distribution Beta(k, n + 1 - k).
    Held-out scores come from models that differ, and few rows say little of how wide the class is,
    so that only a part of them counts: Beta(c k, c (n + 1 - k)) with c = 1 - 3 / sqrt(n), at
    least 0.15.

    ``repeats``: number of distinct rows, equal ones held out together, and proportion of the weight
    that is of rows given once. If new rows repeat as these do, only that proportion is unlike every
    training row (Good and Turing) and can be rejected: the low end is so much lower.

    Examples
    --------
    >>> from scarce.held_out._scores import false_alarm_range
    >>> [round(end, 3) for end in false_alarm_range(8, 0.05)]  # the least that 8 rows give
    [0.0, 0.622]
    >>> [round(end, 3) for end in false_alarm_range(150, 0.1, (80, 0.25))]
    [0.01, 0.149]
    """
    from scipy.stats import beta  # slow to import

    k = max(1.0, float(np.floor(false_alarms * (weight + 1.0) + ROUNDING)))
    counted = max(LEAST_COUNTED, 1.0 - 3.0 / weight**0.5)
    low, high = beta.ppf(RANGE, counted * k, counted * max(weight + 1.0 - k, ROUNDING))
    if repeats is not None and repeats[1] < 1.0:
        low = min(low, repeats[1] * false_alarm_range(repeats[0], false_alarms)[0])
    return float(low), float(high)


def repeats(weights: Array, alike: Array | None = None) -> tuple[float, float]:
    """Return how many distinct rows there are, and the proportion of the weight given once.

    ``alike``: place of each row among the distinct ones; None where each is its own. A row of
    weight 2 is a row given twice.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._scores import repeats
    >>> repeats(np.ones(4), np.array([0, 1, 1, 2]))
    (3.0, 0.5)
    """
    summed = weights if alike is None else np.bincount(alike, weights)
    summed = summed[summed > 0.0]
    once = float(summed[summed < 2.0 * (1.0 - ROUNDING)].sum())
    return float(summed.size), once / float(summed.sum())


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


WIDER = 4.0  # times narrower than the kernel that says which rows are odd is "scale"
WIDE_NU = 0.5
MORE = 2.0  # times the contamination is left out: the wide kernel's order is a rough one
MOST = 0.5  # of all rows that are left out
ODD_TO_WIDE = 0.2  # proportion of rows with the lowest scores that "auto" looks at
FINE_TO_NARROW = 0.3  # rank from which such a row is not odd to the narrow kernel
ENOUGH_FOR_AUTO = 50.0  # rows from which it looks at them: of 20 it left out the class's tail
EVEN = 0.75  # share of the variance between the halves of evenly spread scores
LEAST_ODD, MOST_ODD = 0.1, 0.75  # proportions of rows: less is a tail, more are not "the others"


def odd_rows(
    contamination: float | str,
    wide: Array,
    narrow: Callable[[], Array],
    weights: Array,
    tight: Sequence[Array] = (),
) -> tuple[Array, Array]:
    """Return which rows may not belong to the class.

    ``contamination``: half of the proportion of the weight; "auto" takes the rows that are odd to
    the wide kernel alone, if there are enough rows to tell. ``wide``: held-out scores by a model
    with a wide kernel. ``narrow``: the same by the model that is to be fitted, asked for when they
    are needed. ``weights``: how often each row counts. ``tight``: groups of nearly equal rows that
    are odd together, the oddest first: dropped before others. Returned: ``rows``, rows to be
    dropped; ``counted``, how often each of them counts for the threshold: as it did, but for
    groups, which are taken for anomalies, never.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._scores import odd_rows
    >>> odd_rows(0.125, np.array([3.0, 1.0, 2.0, 4.0]), None, np.ones(4))
    (array([1]), array([1.]))
    """
    most = most_dropped(contamination) + ROUNDING
    if contamination != "auto":
        lowest, wide = float(wide.min()), wide.copy()
        unit = max(abs(lowest), 1.0)
        for place, group in enumerate(tight):
            wide[group] = lowest - unit * (len(tight) - place)
    odd = held_out_ranks(wide, weights) <= most
    if contamination == "auto" and odd.any():
        enough = float(weights.sum()) >= ENOUGH_FOR_AUTO
        odd &= enough and held_out_ranks(narrow(), weights) >= FINE_TO_NARROW
    counted = weights.copy()
    for group in tight:
        counted[group] = 0.0
        odd[group] |= contamination == "auto"
    rows = np.flatnonzero(odd)
    return rows, counted[rows]


def most_dropped(contamination: float | str) -> float:
    """Return the largest proportion of the weight that is dropped, "auto": of one kind.

    Examples
    --------
    >>> from scarce.held_out._scores import most_dropped
    >>> most_dropped(0.05), most_dropped("auto")
    (0.1, 0.2)
    """
    if contamination == "auto":
        return ODD_TO_WIDE
    return min(MORE * float(contamination), MOST)


def held_out_ranks(scores: Array, weights: Array) -> Array:
    """Return the proportion of the weight whose score is at most each row's."""
    left_out = HeldOutScores.of(scores, weights)
    reached = np.concatenate([[0.0], left_out.reached])
    return np.asarray(reached[np.searchsorted(left_out.scores, scores, side="right")] / reached[-1])


def lower_group(left_out: HeldOutScores) -> tuple[int, float]:
    """Return how many scores are in the lower of two groups, and how well two describe them all.

    The split is Otsu's: between the groups lies as much of the variance as possible, and that
    proportion of it is returned.

    Examples
    --------
    >>> from scarce.held_out._scores import HeldOutScores, lower_group
    >>> lower_group(HeldOutScores.of([0.0, 0.0, 1.0, 1.0, 1.0]))
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
    left_out: HeldOutScores, false_alarms: float, closeness: Array | None = None
) -> str | None:
    """Return what to say when the threshold lies in the lower of two groups of scores.

    Rows that are noisy, or of another class, score low when they are left out. If there are more of
    them than may be rejected, rows as odd as they are accepted, which may be every row. What is
    split into two groups is ``closeness``, which grows with the scores, by default the scores: with
    a narrow kernel those of one group may look like two.

    Examples
    --------
    >>> from scarce.held_out._scores import HeldOutScores, among_odd_rows
    >>> print(among_odd_rows(HeldOutScores.of([0.1] * 8 + [0.9] * 22), 0.1))
    27 % of the rows look unlike the others when they are left out (median score 0.1, others 0.9), \
more than false_alarms=0.1, so that the threshold lies among them and rows as odd are accepted. If \
they are noisy or of another class, leave them out or ask for false_alarms=0.34
    >>> among_odd_rows(HeldOutScores.of(range(30)), 0.1)
    """
    seen = left_out if closeness is None else HeldOutScores(closeness, left_out.weights)
    number, explained = lower_group(seen)
    weight = float(left_out.weights.sum())
    # Of n evenly spread scores, the flattest that are one group, one sample in 300 is above this.
    by_chance = EVEN + EVEN / weight**0.5
    share = float(left_out.reached[number - 1]) / weight if number else 0.0
    among = left_out.position(false_alarms) < number
    if explained <= by_chance or not among or not LEAST_ODD <= share <= MOST_ODD:
        return None
    low, high = (
        HeldOutScores(left_out.scores[part], left_out.weights[part]).threshold(0.5)
        for part in (slice(None, number), slice(number, None))
    )
    return (
        f"{100 * share:.0f} % of the rows look unlike the others when they are left out (median "
        f"score {low:.3g}, others {high:.3g}), more than false_alarms={false_alarms:g}, so that "
        "the threshold lies among them and rows as odd are accepted. If they are noisy or of "
        "another class, leave them out or ask for "
        f"false_alarms={share + (1.0 - share) * false_alarms:.2f}"
    )


def standardised_on_themselves(rows: Any) -> bool:
    """Return whether every column has mean 0 and standard deviation 1 over the rows, or is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.held_out._scores import standardised_on_themselves
    >>> standardised_on_themselves(np.array([[-1.0, 0.0], [1.0, 0.0]]))
    True
    """
    if not isinstance(rows, np.ndarray) or rows.dtype.kind != "f" or rows.ndim != 2:
        return False
    rounding = 100 * float(np.finfo(rows.dtype).eps)
    deviations = rows.std(axis=0, dtype=np.float64)
    one = np.abs(deviations - 1.0) <= rounding
    centred = np.abs(rows.mean(axis=0, dtype=np.float64)) <= rounding
    return bool(centred.all() and (one | (deviations <= rounding)).all() and one.any())
