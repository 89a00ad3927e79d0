"""Ranks of labelled rows among unlabelled ones: all that a threshold needs to know of scores."""

from __future__ import annotations

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import isotonic_regression
from scipy.special import expit

from scarce._arrays import Array

CELLS = 2000  # of the density
NARROWEST = 0.001  # bandwidth
TOP = 0.0075  # share of the ranks above the place that tells the class prior
EM_STEPS = 100


def mid_ranks(scores: Array, among: Array, weights: Array) -> Array:
    """Return the proportion of ``among``, by weight, below each score; ties count half."""
    order = np.argsort(among, kind="stable")
    ordered, below = among[order], np.append(0.0, np.cumsum(weights[order]))
    left = below[np.searchsorted(ordered, scores, "left")]
    right = below[np.searchsorted(ordered, scores, "right")]
    return np.asarray((left + right) / (2.0 * below[-1]))


def area_under_curve(
    positive: Array, unlabelled: Array, weights: tuple[Array, Array]
) -> tuple[float, float]:
    """Return the AUC of labelled against unlabelled scores, and DeLong's standard error.

    ``weights`` count the rows of both.
    """
    return _mean_and_error(_wins(positive, unlabelled, weights), weights)


def gain_of_area(
    scores: tuple[Array, Array], before: tuple[Array, Array], weights: tuple[Array, Array]
) -> tuple[float, float]:
    """Return by how much other scores of the same rows raise the AUC, and the standard error.

    The rows are the same, so the error is that of the differences, row by row.
    """
    new, old = _wins(*scores, weights), _wins(*before, weights)
    return _mean_and_error((new[0] - old[0], new[1] - old[1]), weights)


def _wins(positive: Array, unlabelled: Array, weights: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return proportions: of unlabelled rows below each labelled one, of labelled ones above."""
    own, others = weights
    return mid_ranks(positive, unlabelled, others), 1.0 - mid_ranks(unlabelled, positive, own)


def _mean_and_error(
    values: tuple[Array, Array], weights: tuple[Array, Array]
) -> tuple[float, float]:
    """Return the mean, the same for both kinds of rows, and its error as both are samples."""
    variance = 0.0
    mean = 0.0
    for value, counts in zip(values, weights, strict=True):
        total = float(counts.sum())
        mean = float(value @ counts) / total
        variance += float((value - mean) ** 2 @ counts) / max(total - 1.0, 1.0) / total
    return mean, float(np.sqrt(variance))


def rank_density(ranks: Array, weights: Array) -> Array:
    """Return the density of ranks in `CELLS` cells of [0, 1], increasing, of mean 1.

    A Gaussian kernel density, reflected at both ends; then the nearest increasing one, because the
    better the score, the larger the part of the labelled rows must be.
    """
    total = float(weights.sum())
    mean = float(ranks @ weights) / total
    deviation = np.sqrt(float((ranks - mean) ** 2 @ weights) / total)
    low, high = np.quantile(ranks, [0.25, 0.75], weights=weights, method="inverted_cdf")
    spread = min(deviation, (high - low) / 1.34)
    bandwidth = max(NARROWEST, 0.9 * spread * total**-0.2)
    counts = np.bincount(_cells(ranks), weights, CELLS)
    # Cosines are the waves that reflect at both ends.
    waves = dct(counts) * np.exp(-0.5 * (np.pi * bandwidth * np.arange(CELLS)) ** 2)
    density = isotonic_regression(np.maximum(idct(waves), 0.0)).x
    return np.asarray(density / density.mean())


def accepted_share(density: Array) -> tuple[float, float]:
    """Return the proportion of unlabelled rows to accept by a density of ranks, and the part above.

    The smallest best part ``q`` of the unlabelled rows with half of the labelled ones above it,
    over the proportion of labelled ones that is: as many labelled rows again lie below.
    """
    recall = np.cumsum(density[::-1]) / CELLS
    cells = int(np.argmax(recall >= 0.5 - 1e-12)) + 1
    part = cells / CELLS
    return part / float(recall[cells - 1]), part


def normal_share(
    positive: Array, unlabelled: Array, weights: tuple[Array, Array], share: float
) -> float:
    """Return the proportion of the upper of two normal distributions of one width.

    Expectation and maximisation, from a first ``share``; labelled rows are of the upper one.
    """
    own, others = weights
    labelled, total = float(own.sum()), float(others.sum())
    upper, mean = float(own @ positive) / labelled, float(others @ unlabelled) / total
    lower = (mean - share * upper) / (1.0 - share)
    variance = float(others @ (unlabelled - mean) ** 2) / total
    for _ in range(EM_STEPS):
        if not (upper > lower and variance > 0.0):
            return share  # one heap only
        middle, slope = (upper + lower) / 2.0, (upper - lower) / variance
        odds = np.log(share / (1.0 - share)) + slope * (unlabelled - middle)
        members = others * expit(odds)
        mass = float(members.sum())
        last, share = share, min(max(mass / total, 1e-9), 1.0 - 1e-9)
        upper = (float(members @ unlabelled) + float(own @ positive)) / (mass + labelled)
        lower = float((others - members) @ unlabelled) / (total * (1.0 - share))
        variance = (
            float(members @ (unlabelled - upper) ** 2)
            + float((others - members) @ (unlabelled - lower) ** 2)
            + float(own @ (positive - upper) ** 2)
        ) / (total + labelled)
        if abs(share - last) <= 1e-6 * share:
            break
    return share


def density_at(density: Array, ranks: Array) -> Array:
    """Return the density at some ranks."""
    return np.asarray(density[_cells(ranks)])


def _cells(ranks: Array) -> Array:
    return np.minimum((ranks * CELLS).astype(np.intp), CELLS - 1)


def prior_of(density: Array) -> float:
    """Return the class prior that the top of the density says.

    At the top all unlabelled rows are positive, and the density of positives is one over the prior.
    Not at the very top, which is the noisiest, but a little below; of a rare class within it.
    """
    _, part = accepted_share(density)
    return float(1.0 / density_at(density, np.array([1.0 - min(TOP, part / 2.0)]))[0])
