"""The passes of a fit: candidates, once more for a rare class, and cleaner bags for the prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from scarce._arrays import Array
from scarce._frame import FitTask
from scarce.positive_unlabeled.bags._design import Design
from scarce.positive_unlabeled.bags._out_of_bag import Bags, OutOfBag, clearly_best
from scarce.positive_unlabeled.bags._ranks import density_at, mid_ranks, prior_of, rank_density
from scarce.positive_unlabeled.bags._threshold import estimated_shares

RESAMPLES = 200


class Candidates(Protocol):
    """What is tried; ``some`` are unlabelled rows, by number, and weights."""

    @property
    def errors(self) -> float:
        """Standard errors by which a further one must gain."""

    def first(self, some: tuple[Array, Array]) -> Sequence[Bags]:
        """Return bags, the usual ones first."""

    def more(self, best: OutOfBag, some: tuple[Array, Array]) -> Sequence[Bags]:
        """Return bags to try beside the best of the first."""


@dataclass(frozen=True)
class Ranking:
    """The bags that were taken, and their scores."""

    best: OutOfBag  # the fitted bags, larger ones if the class is rare
    bags: Bags  # what fitted them
    others: Array  # their scores of all unlabelled rows, then those of the checked negatives
    # unlabelled rows, by number, and weights, enough to find a rank among
    sample: tuple[Array, Array]


def ranking(
    design: Design,
    candidates: Candidates,
    class_prior: float | None,
    random: np.random.Generator,
    task: FitTask,
) -> Ranking:
    """Fit the candidates and keep what is clearly best; larger bags if the class is rare."""
    all_rows, some = design.all_rows(), design.ranked(random)
    parts = design.parts(random, all_rows)

    def tried(each: Bags) -> OutOfBag:
        with task.part("candidate", None) as bags:
            return each.fitted(design, parts, bags)

    first = candidates.first(some)
    fitted = [tried(each) for each in first]
    best, scores = clearly_best(fitted, some)
    bags = next(each for each, found in zip(first, fitted, strict=True) if found is best)
    for each in candidates.more(best, some):
        other = tried(each)
        taken, scores = clearly_best([best, other], some, errors=candidates.errors)
        best, bags = (other, each) if taken is other else (best, bags)
    share = class_prior
    if share is None:
        seen = design.positives.weights, np.concatenate([some[1], design.negatives.weights])
        share = estimated_shares(best.positive, scores, seen).accepted("random")
    grown = design.grown(share)
    if grown is not None:
        with task.part("rare class", None) as part:
            best = bags.fitted(grown, grown.parts(random, all_rows), part)
    return Ranking(best, bags, best.others(all_rows[0]), some)


def cleaner_prior(
    first: Ranking, random: np.random.Generator, task: FitTask
) -> tuple[float, tuple[float, float]]:
    """Return the class prior among unlabelled rows and checked negatives, and an interval.

    The first pass says how probable it is that an unlabelled row is positive. Rows drawn by that
    probability join the positives, and the others are drawn by the complement; ranks of held-out
    positives then have a density whose top says the prior. The interval is that of resampled
    labelled rows.
    """
    design, (some, weights) = replace(first.best.design, growth=1.0), first.sample
    counted, checked = design.positives.weights, design.negatives.weights
    all_weights = np.concatenate([weights, checked])
    n_unlabelled = design.unlabelled.n
    scores = np.concatenate([first.others[:n_unlabelled][some], first.others[n_unlabelled:]])
    density = rank_density(mid_ranks(first.best.positive, scores, all_weights), counted)
    own = mid_ranks(scores[: some.size], scores, all_weights)
    probable = np.minimum(1.0, prior_of(density) * density_at(density, own))
    negative = weights * np.maximum(1.0 - probable, 1e-9)  # some row must be negative
    parts = design.parts(random, (some, negative), (some, weights * probable))
    cleaner = first.bags.fitted(design, parts, task)
    ranks = mid_ranks(cleaner.positive, cleaner.others(some), all_weights)
    prior = prior_of(rank_density(ranks, counted))
    n = max(1, round(float(counted.sum())))
    draws = random.multinomial(n, counted / counted.sum(), size=RESAMPLES)
    priors = [prior_of(rank_density(ranks, each.astype(np.float64))) for each in draws]
    low, high = np.quantile(priors, [0.025, 0.975])
    return prior, (min(float(low), prior), max(float(high), prior))
