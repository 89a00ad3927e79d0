"""Probabilities from scores of labelled and unlabelled samples: a presence-only logistic curve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import expit, log_expit

from scarce._arrays import Array

STEEPEST = 4.0  # logarithm of the slope in standard deviations of the unlabelled scores
FLATTEST = -3.0
BEGINNINGS = (-1.0, -3.0)  # of the constant: a third of the rows, a twentieth
LARGEST_CONSTANT = 200.0
MANY = 2000  # scores that a curve of two parameters is found from as well as from more


class Curve(NamedTuple):
    """The probability of belonging to the class at a score: ``expit(slope * score + constant)``."""

    slope: float
    constant: float

    def at(self, scores: Array) -> Array:
        return np.asarray(expit(self.slope * scores + self.constant))


def curve_of_share(
    positive: Array, others: Array, weights: tuple[Array, Array], share: float
) -> Curve:
    """Return the logistic curve whose mean over the unlabelled scores is the class prior.

    Of all such curves ``p`` the likeliest: labelled rows of random labels have the density of the
    unlabelled ones times ``p / share``. The proportion leaves one parameter, the slope.
    """
    others, counts = _thinned(others, weights[1])
    own = weights[0] / weights[0].sum()
    middle, width, above, among = _standardised(positive, others, counts)
    reach = float(np.abs(among).max(initial=1.0))

    def constant(slope: float) -> float:
        bound = 40.0 + slope * reach
        return float(brentq(lambda b: counts @ expit(slope * among + b) - share, -bound, bound))

    def loss(log_slope: float) -> float:
        slope = np.exp(log_slope)
        return -float(own @ log_expit(slope * above + constant(slope)))

    found = minimize_scalar(loss, bounds=(FLATTEST, STEEPEST), method="bounded")
    slope = float(np.exp(found.x))
    return Curve(slope / width, constant(slope) - slope * middle / width)


def likeliest_share(positive: Array, others: Array, weights: tuple[Array, Array]) -> float:
    """Return the class prior that the likeliest logistic curve of all has for its mean.

    The prior is identified by where the curve levels off. It does not where the class overlaps
    with the others, and then the estimate is mostly too low, where other estimates are too high.
    """
    others, counts = _thinned(others, weights[1])
    own = weights[0] / weights[0].sum()
    _, _, above, among = _standardised(positive, others, counts)

    def loss(point: Array) -> tuple[float, Array]:
        slope = np.exp(point[0])
        inside, everywhere = slope * above + point[1], slope * among + point[1]
        chances = expit(everywhere)
        share = float(counts @ chances)
        value = np.log(share) - own @ log_expit(inside)
        rates, missing = counts * chances * (1.0 - chances) / share, own * expit(-inside)
        along = slope * float(rates @ among - missing @ above)
        return float(value), np.array([along, float(rates.sum() - missing.sum())])

    bounds = [(FLATTEST, STEEPEST), (-LARGEST_CONSTANT, LARGEST_CONSTANT)]
    runs = [
        minimize(loss, [0.5, beginning], jac=True, method="L-BFGS-B", bounds=bounds)
        for beginning in BEGINNINGS
    ]
    log_slope, constant = min(runs, key=lambda run: run.fun).x
    return float(counts @ expit(np.exp(log_slope) * among + constant))


def _thinned(scores: Array, weights: Array) -> tuple[Array, Array]:
    """Return the means of neighbouring scores, of very many, and weights that sum to one."""
    weights = weights / weights.sum()
    if scores.size <= MANY:
        return scores, weights
    order = np.argsort(scores, kind="stable")
    starts = np.linspace(0, scores.size, MANY, endpoint=False).astype(np.intp)
    totals = np.add.reduceat(weights[order], starts)
    return np.add.reduceat((scores * weights)[order], starts) / totals, totals


def _standardised(
    positive: Array, others: Array, counts: Array
) -> tuple[float, float, Array, Array]:
    middle = float(counts @ others)
    width = float(np.sqrt(counts @ (others - middle) ** 2)) or 1.0
    return middle, width, (positive - middle) / width, (others - middle) / width
