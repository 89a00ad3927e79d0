"""A threshold for scores from held-out labelled rows and unlabelled ones, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d

from scarce._arrays import Array
from scarce._frame import note, plain_weights
from scarce._warnings import ScarceDataWarning
from scarce.positive_unlabeled.bags._ranks import (
    accepted_share,
    area_under_curve,
    mid_ranks,
    normal_share,
    rank_density,
)

LARGEST_SHARE = 0.95
FEW = 10  # labelled rows below which the share is uncertain by a factor of two
LEAST_AREA = 0.55
PART_OF_SHAPE = 0.5  # of the shape of unlabelled scores in the share to accept, beside the ranks
DISAGREE = 6.0  # standard errors between both at which the shape has half of its part
FEW_RANKS = 15.0  # labelled rows of which the larger of both has 1/e of the share to accept
PART_OF_LOWEST = 0.3  # of the lowest labelled ranks beside the shape, for biased labels
LOWEST = 0.05  # of the labelled rows
# Times, and standard errors, by which the shape may say more than random labels do.
SUSPICIOUS = (2.5, 4.0)
LEAST_CURVE = 1.0 / 3.0  # of what the ranks say: so little may the curve say beside them
REACH = 1.2  # times the share by shape that the lowest labelled rows reach at least, if random
LABELLINGS = ("random", "biased")
NORMAL_95 = 1.96  # two-sided
NORMAL_90 = 1.645


@dataclass(frozen=True)
class PUThreshold:
    """What `pu_threshold` found.

    Attributes
    ----------
    threshold : float
        Accept scores above it. It lies half-way between two unlabelled scores.
    share : float
        Proportion of the unlabelled rows to accept, by weight.
    interval : tuple of float
        Approximate interval of 95 % for the proportion of the class, where the class stands out by
        its scores and is not rare; see Notes. It knows the numbers of rows and nothing of how the
        labelled ones were chosen.
    auc : float
        Area under the ROC curve, labelled against unlabelled rows.
    auc_se : float
        Its standard error.
    """

    threshold: float
    share: float
    interval: tuple[float, float]
    auc: float
    auc_se: float


def pu_threshold(
    scores_positive: Any,
    scores_unlabeled: Any,
    *,
    weight_positive: Any = None,
    weight_unlabeled: Any = None,
    share: float | None = None,
) -> PUThreshold:
    """Return a threshold for the scores of any model of positive against unlabelled rows.

    Half of the class lies above its median. So take the best part of the unlabelled rows that
    holds half of the labelled rows, and accept twice that many (smoothed, see Notes).

    Parameters
    ----------
    scores_positive : array-like of shape (n_positives,)
        Scores of labelled rows by models that were not trained on them, higher for positives.
    scores_unlabeled : array-like of shape (n_unlabeled,)
        Scores of unlabelled rows, by models that were not trained on them as negatives.
    weight_positive, weight_unlabeled : array-like, default=None
        Weights; a row of weight 2 is the same as the row given twice.
    share : float, default=None
        Proportion of the unlabelled rows to accept, where it is known; None to estimate it.

    Returns
    -------
    PUThreshold
        Threshold, share, interval, and how well labelled rows rank above unlabelled ones.

    Warns
    -----
    ScarceDataWarning
        If there are fewer than ten labelled rows, or they do not rank above the unlabelled ones.

    Notes
    -----
    Labelled rows must be a random part of the class. The ranks of their scores among the unlabelled
    ones (ties count half) have a density, estimated with a reflected Gaussian kernel and made
    increasing. With ``R(q)`` the part of it in the best share ``q``, and ``q`` the smallest with
    ``R(q) >= 1/2``, the proportion is ``q / R(q)``, within ``1.5 / n_unlabeled`` and 0.95.

    The proportion is that of the class only where the class stands out. Where it overlaps with
    others, more than the class is accepted, on purpose: the aim is to find most positives.
    On simulated normal scores (100 labelled and 10,000 unlabelled rows) four deviations apart the
    proportion is on average right to 4 % for classes of 0.5 % to 20 % (standard deviation of a draw
    7 to 12 %); two deviations apart it is 1.2 times too large at 20 % and 2.2 times at 5 %, and the
    interval mostly does not hold the proportion of the class.

    Unlabelled rows without any positive are not recognised: the labelled rows then rank above all
    of them, as those of a class that is easy to find do.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import pu_threshold
    >>> random = np.random.default_rng(0)
    >>> unlabeled = np.r_[random.normal(3, 1, 200), random.normal(0, 1, 800)]
    >>> found = pu_threshold(random.normal(3, 1, 100), unlabeled)
    >>> found.share
    0.2...
    >>> float(np.mean(unlabeled > found.threshold))
    0.2...
    """
    positive = checked_scores("scores_positive", scores_positive)
    unlabelled = checked_scores("scores_unlabeled", scores_unlabeled)
    counts = checked_counts("weight_positive", weight_positive, positive)
    others = checked_counts("weight_unlabeled", weight_unlabeled, unlabelled)
    if share is not None and not 0.0 < share < 1.0:
        raise ValueError(f"share must lie between 0 and 1, got {share!r}")
    return found_threshold(positive, unlabelled, counts, others, share)


def found_threshold(
    positive: Array,
    unlabelled: Array,
    counts: Array,
    others: Array,
    share: float | None,
    *,
    labelling: str | None = None,
    by_curve: float | None = None,
) -> PUThreshold:
    """Return the threshold of `pu_threshold` for checked scores and weights.

    Without a ``labelling`` by ranks alone. Where scores are distances from a boundary, those of
    unlabelled rows have something to say too: often they are bimodal. See `estimated_shares` for
    what is made of both. Labelled rows that are the easy ones of the class have ranks that say too
    little, and so has the presence-only curve (``by_curve``, its share): if both are far below the
    shape, a warning is given and the interval spans all.
    """
    area, error = area_under_curve(positive, unlabelled, (counts, others))
    if share is None:
        shares = estimated_shares(positive, unlabelled, (counts, others))
        by_rank, found, most = shares.by_rank, shares.accepted(labelling), shares.by_rank
        if by_curve is not None and shares.differ(by_curve):
            if labelling == "random":
                _warn_of_easy_rows(by_rank, shares.by_shape)
            most = shares.by_shape
        low, high = wilson(shares.part / by_rank, shares.n)
        high_end = max(shares.part / low, found, most)
        interval = float(np.clip(shares.part / high, 0.0, found)), float(min(high_end, 1.0))
        warn_if_few(float(counts.sum()))
    else:
        found, interval = float(share), (float(share), float(share))
    warn_if_level(area, error)
    return PUThreshold(_upper_quantile(unlabelled, others, found), found, interval, area, error)


class Shares(NamedTuple):
    """The proportion to accept, by different means."""

    # twice the best part of the unlabelled rows that holds half of the labelled ones
    by_rank: float
    part: float  # that part
    by_shape: float  # the upper of two normal distributions of one width, fitted to all scores
    by_lowest: float  # what lies above all but a twentieth of the labelled rows
    # rows that ``by_rank`` rests on: both sides are samples, the labelled rows, and the rows of the
    # class among the others
    n: float
    labelled: float  # rows, by weight

    def accepted(self, labelling: str | None) -> float:
        """Return the proportion to accept: a mean of logarithms.

        The ranks of random labels are right, and uncertain where labelled rows are few; the shape
        is about right where scores are bimodal, whichever rows were labelled, and counts less the
        more standard errors of the ranks it is away from them. With few labelled rows both are
        uncertain, and F1 loses more where too few are accepted than too many: the mean leans
        to the larger of both. Labelled rows that are the easy ones tell by their lowest ranks only
        how far down the class reaches.
        """
        if labelling is None:
            return self.by_rank
        if labelling == "biased":
            return float(self.by_shape ** (1.0 - PART_OF_LOWEST) * self.by_lowest**PART_OF_LOWEST)
        errors = np.log(self.by_shape / self.by_rank) * np.sqrt(self.n)
        part = PART_OF_SHAPE / (1.0 + (errors / DISAGREE) ** 2)
        both = self.by_rank ** (1.0 - part) * self.by_shape**part
        lean = np.exp(-((self.labelled / FEW_RANKS) ** 2))
        return float(both ** (1.0 - lean) * max(self.by_rank, self.by_shape) ** lean)

    def differ(self, by_curve: float) -> bool:
        """Say whether ranks and curve say far less than the shape: biased labels.

        The logarithm of a proportion from ``n`` rows has a standard error of about ``n ** -0.5``.
        Where random labels reach far below the upper distribution, the class overlaps with the
        others, and the shape is what is wrong.
        """
        times, errors = SUSPICIOUS
        if self.by_lowest > REACH * self.by_shape:
            return False
        curve = max(by_curve, LEAST_CURVE * self.by_rank)
        excess = np.log(self.by_shape / np.sqrt(self.by_rank * curve))
        return bool(excess > max(np.log(times), errors / np.sqrt(self.n)))


def estimated_shares(positive: Array, unlabelled: Array, weights: tuple[Array, Array]) -> Shares:
    """Return the proportion to accept by ranks, by the shape of scores, and by the lowest ranks."""
    counts, others = weights
    ranks = mid_ranks(positive, unlabelled, others)
    by_rank, part = accepted_share(rank_density(ranks, counts))
    least = 1.5 / float(others.sum())

    def within(share: float) -> float:
        return min(max(share, least), LARGEST_SHARE)

    by_rank = within(by_rank)
    by_shape = within(normal_share(positive, unlabelled, weights, by_rank))
    lowest = np.quantile(ranks, LOWEST, weights=counts, method="inverted_cdf")
    labelled = float(counts.sum())
    n = 1.0 / (1.0 / labelled + 1.0 / (by_rank * float(others.sum())))
    return Shares(by_rank, part, by_shape, within(1.0 - float(lowest)), n, labelled)


def warn_if_few(n_positive: float) -> None:
    """Warn of a proportion that is uncertain."""
    if n_positive < FEW:
        note(
            f"there are only {n_positive:g} positive rows: how many unlabelled rows to accept is "
            "uncertain by a factor of two or more. Label ten or more, or give the "
            "proportion if you know it.",
            ScarceDataWarning,
        )


def _warn_of_easy_rows(by_rank: float, by_shape: float) -> None:
    """Warn of labelled rows that may not be a random part of the class."""
    note(
        f"the positive rows rank so high that the class would be {by_rank:.2g} of the unlabelled "
        f"rows, but their scores are bimodal, with {by_shape:.2g} of them in the upper mode. "
        'If easy cases were labelled first, too few rows are accepted: set labelling="biased", '
        "give the propensity of each labelled row, or class_prior if you know it. If the labelled "
        "rows are a random part of the class, nothing is wrong.",
        ScarceDataWarning,
    )


def warn_if_level(area: float, error: float) -> None:
    """Warn of labelled rows that do not rank above the unlabelled ones."""
    if area - NORMAL_90 * error < LEAST_AREA:
        note(
            "the positive rows hardly rank above the unlabelled ones when they are held out (area "
            f"under the curve {area:.3f}, standard error {error:.3f}; 0.5 is chance): either the "
            "features do not separate the class, or almost all unlabelled rows belong to it, or "
            "there are too few positive rows. Do not trust the answers.",
            ScarceDataWarning,
        )


def _upper_quantile(scores: Array, weights: Array, share: float) -> float:
    """Return the threshold above which the proportion lies, half-way between two scores."""
    order = np.argsort(-scores, kind="stable")
    ordered, taken = scores[order], np.cumsum(weights[order])
    last = int(np.searchsorted(taken, share * taken[-1] * (1 - 1e-12)))
    lower = ordered[ordered < ordered[last]]
    if lower.size:
        return float((ordered[last] + lower[0]) / 2.0)
    return float(np.nextafter(ordered[last], -np.inf))


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's interval for a proportion of so many rows."""
    extra = NORMAL_95**2 / n
    middle = (share + extra / 2) / (1 + extra)
    half = np.sqrt(share * max(0.0, 1 - share) * extra + extra**2 / 4) / (1 + extra)
    return float(middle - half), float(middle + half)


def checked_scores(name: str, scores: Any) -> Array:
    values: Array = column_or_1d(scores).astype(np.float64)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must hold at least one score and only finite ones, got {values.size} scores, "
            f"{int((~np.isfinite(values)).sum())} of them not finite"
        )
    return values


def checked_counts(name: str, weights: Any, scores: Array) -> Array:
    values = plain_weights(weights, scores)
    if (values < 0).any() or not values.any():
        raise ValueError(f"{name} must not be negative, and not all zero, got {weights!r}")
    return values
