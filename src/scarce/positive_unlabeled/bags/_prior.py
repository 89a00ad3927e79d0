"""The proportion of a class among unlabelled samples, by name of the method, with an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.positive_unlabeled.bags._probability import likeliest_share
from scarce.positive_unlabeled.bags._ranks import (
    area_under_curve,
    mid_ranks,
    prior_of,
    rank_density,
)
from scarce.positive_unlabeled.bags._threshold import (
    LARGEST_SHARE,
    NORMAL_95,
    checked_counts,
    checked_scores,
    estimated_shares,
    found_threshold,
)

PART_OF_CURVE = 0.4  # of the logistic curve beside the ranks, in the mean of logarithms
MOST_APART = 2.0  # times that the logistic curve may say less, or more, than the ranks
RARE = 0.25  # below which the lower end falls the more, the rarer the class
RANKING = 1.3  # how much a poor ranking lowers the lower end
LOWEST_END = 20.0  # times less in the lower end of the interval, and how far that may fall


@dataclass(frozen=True)
class PriorEstimate:
    """What `estimate_prior` found.

    Attributes
    ----------
    prior : float
        Proportion of the class among the unlabelled samples.
    interval : tuple of float
        Meant to hold the proportion in 95 % of data sets, see Notes of `estimate_prior`. It spans
        what different estimators say, and is wide where the class overlaps with the others.
    by_method : dict
        What every estimator says, by its name.
    """

    prior: float
    interval: tuple[float, float]
    by_method: dict[str, float]


def _top(positive: Array, others: Array, weights: tuple[Array, Array]) -> float:
    ranks = mid_ranks(positive, others, weights[1])
    return prior_of(rank_density(ranks, weights[0]))


def _median(positive: Array, others: Array, weights: tuple[Array, Array]) -> float:
    return estimated_shares(positive, others, weights).by_rank


def _normal(positive: Array, others: Array, weights: tuple[Array, Array]) -> float:
    return estimated_shares(positive, others, weights).by_shape


def _elkan_noto(positive: Array, others: Array, weights: tuple[Array, Array]) -> float:
    labelled, total = float(weights[0].sum()), float(weights[1].sum())
    known = float(weights[0] @ positive) / labelled  # chance that a row of the class is labelled
    return labelled * (1.0 - known) / (known * total)


Estimator = Callable[[Array, Array, tuple[Array, Array]], float]

ESTIMATORS: dict[str, Estimator] = {
    "top": _top,
    "median": _median,
    "normal": _normal,
    "logistic": likeliest_share,
    "elkan_noto": _elkan_noto,
}
COMBINED = ("top", "median", "normal", "logistic")


def estimate_prior(
    scores_positive: Any,
    scores_unlabeled: Any,
    *,
    method: str = "combined",
    weight_positive: Any = None,
    weight_unlabeled: Any = None,
) -> PriorEstimate:
    """Return the proportion of a class among unlabelled samples from the scores of any model.

    Parameters
    ----------
    scores_positive : array-like of shape (n_positives,)
        Scores of labelled samples by models that were not trained on them, higher for positives.
    scores_unlabeled : array-like of shape (n_unlabeled,)
        Scores of unlabelled samples, by models that were not trained on them as negatives.
    method : {"combined", "top", "median", "normal", "logistic", "elkan_noto"}, default="combined"
        "top": one over the density of labelled ranks near the top, where all unlabelled samples
        are positive. "median": twice the best part of the unlabelled samples that holds half of
        the labelled ones. "normal": the upper of two normal distributions of one width.
        "logistic": the mean of the likeliest presence-only logistic curve. "elkan_noto": scores
        are probabilities of being labelled, among labelled and unlabelled samples together, and
        the mean over the labelled ones is the chance that a positive was labelled (Elkan and Noto
        2008). "combined": the weighted geometric mean of "top" (0.6) and "logistic" (0.4), which
        counts as at most twice and at least half as much as "top".
    weight_positive, weight_unlabeled : array-like, default=None
        Weights; a sample of weight 2 is the same as the sample given twice.

    Returns
    -------
    PriorEstimate
        The proportion, an interval, and what every method says of it.

    See Also
    --------
    scarce.pu_threshold : How many samples to accept, which is not the same.

    Notes
    -----
    Labelled samples must be a random part of the class, and are not part of the unlabelled ones
    ("elkan_noto" takes them for taken out of these). Without any assumption on the others the
    proportion is not identifiable: that unlabelled samples look like positives may mean that they
    are, or that negatives look alike. "top", "median" and "normal" err upwards where the class
    overlaps, "logistic" mostly downwards, and the interval spans them, more at the lower end where
    the ranking is poor.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.positive_unlabeled import estimate_prior
    >>> random = np.random.default_rng(0)
    >>> unlabeled = np.r_[random.normal(3, 1, 200), random.normal(0, 1, 800)]
    >>> found = estimate_prior(random.normal(3, 1, 100), unlabeled)
    >>> round(found.prior, 1)
    0.2
    >>> found.interval[0] < 0.2 < found.interval[1]
    True
    """
    positive = checked_scores("scores_positive", scores_positive)
    others = checked_scores("scores_unlabeled", scores_unlabeled)
    counts = checked_counts("weight_positive", weight_positive, positive)
    weights = counts, checked_counts("weight_unlabeled", weight_unlabeled, others)
    if method not in ("combined", *ESTIMATORS):
        names = ", ".join(map(repr, ("combined", *ESTIMATORS)))
        raise ValueError(f"method must be one of {names}, got {method!r}")
    if method == "elkan_noto" and not (
        min(positive.min(), others.min()) >= 0.0 and max(positive.max(), others.max()) <= 1.0
    ):
        raise ValueError(
            'method="elkan_noto" needs probabilities of being labelled as scores, got scores from '
            f"{min(positive.min(), others.min()):.3g} to {max(positive.max(), others.max()):.3g}"
        )
    by_method = {
        name: within(ESTIMATORS[name](positive, others, weights), weights)
        for name in (COMBINED if method == "combined" else {*COMBINED, method})
    }
    accepted = found_threshold(positive, others, *weights, None).interval
    prior, interval = combined_prior(
        by_method["top"], accepted, by_method["logistic"], (positive, others), weights
    )
    if method != "combined":
        prior = by_method[method]
        interval = min(interval[0], prior), max(interval[1], prior)
    return PriorEstimate(prior, interval, by_method)


def within(share: float, weights: tuple[Array, Array]) -> float:
    """Return a proportion within what so many rows can have."""
    return float(min(max(share, 1.5 / float(weights[1].sum())), LARGEST_SHARE))


def combined_prior(
    by_ranks: float,
    interval: tuple[float, float],
    by_curve: float,
    scores: tuple[Array, Array],
    weights: tuple[Array, Array],
) -> tuple[float, tuple[float, float]]:
    """Return a geometric mean of an estimate by ranks and one by the curve, and an interval.

    Ranks err upwards where the class overlaps with the others, and their ``interval`` with them;
    the curve errs downwards. The lower end is below both: below the curve by two standard errors,
    which the ranks' interval has, and below both the more, the worse the ranking, corrected for as
    many positives among the unlabelled rows as the lower end says, and the rarer the class, because
    as many others that look like it are then a larger part.
    """
    curve = min(max(by_curve, by_ranks / MOST_APART), by_ranks * MOST_APART)
    prior = within(float(by_ranks ** (1.0 - PART_OF_CURVE) * curve**PART_OF_CURVE), weights)
    area, _ = area_under_curve(*scores, weights)
    n = 1.0 / (1.0 / float(weights[0].sum()) + 1.0 / max(1.0, prior * float(weights[1].sum())))
    curve_end = min(max(by_curve, by_ranks / LOWEST_END), curve) * np.exp(-NORMAL_95 / np.sqrt(n))
    lowest = min(interval[0], curve_end)
    corrected = min(max((area - lowest / 2.0) / (1.0 - lowest), 0.5), 1.0)
    fall = RANKING * (1.0 - corrected) / min(prior, RARE)
    low = lowest * max(np.exp(-fall), 1.0 / LOWEST_END)
    return prior, (float(min(low, prior)), float(min(1.0, max(interval[1], curve, prior))))
