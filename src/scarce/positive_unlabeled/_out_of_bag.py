"""Models of positives against random unlabelled rows, and scores that no row had a part in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scarce._arrays import Array
from scarce._frame import FitTask
from scarce.kernels import Kernel
from scarce.positive_unlabeled._draws import Pool, draw, folds
from scarce.positive_unlabeled._programs import Answer, MeanModel, Part, Programs, mean_model
from scarce.positive_unlabeled._ranks import (
    density_at,
    gain_of_area,
    mid_ranks,
    prior_of,
    rank_density,
)
from scarce.positive_unlabeled._rows import RowSource

FOLDS = 5
SMALLEST_BAG = 50  # unlabelled rows
LARGEST_PART = 0.8  # of the unlabelled rows, so that each is left out often enough
# Below this share of the class the hidden positives of a bag are so few that larger bags and a
# higher price pay: the price grows as the share falls, up to these factors.
RARE = 0.3
LARGEST_GROWTH = 10.0  # of the price
LARGEST_BAG = 3.0  # times the usual size
LEAST_GROWTH = 1.5  # worth another pass
RANKED = 5000  # unlabelled rows that a rank is found among, where a sample is enough
RESAMPLES = 200


@dataclass(frozen=True)
class Design:
    """How the programs are drawn: bags, or one program in folds.

    Attributes
    ----------
    positives, unlabelled : Pool
        The rows.
    C : float
        Price of slack.
    n_bags : int
        Number of bags; 0 for one program of all rows, cross-fitted.
    growth : float
        Factor of the price, and up to `LARGEST_BAG` of the size of bags, for a rare class.
    """

    positives: Pool
    unlabelled: Pool
    C: float
    n_bags: int
    growth: float = 1.0

    @property
    def n_folds(self) -> int:
        return min(FOLDS, self.positives.n, self.n_bags or FOLDS)

    @property
    def bag_size(self) -> float:
        usual = max(self.positives.total, SMALLEST_BAG)
        wanted = usual * min(self.growth, LARGEST_BAG)
        return min(wanted, LARGEST_PART * self.unlabelled.total)

    @property
    def price(self) -> float:
        return self.C * self.growth

    def grown(self, share: float) -> Design | None:
        """Return the design for a class of that share, None if it is not rare or bags are not used.

        A row of the class that a bag holds as a negative pulls the boundary its way, and a low
        price of slack is what bears it. Of a rare class there are few: the rest of the negatives
        can be taken at their word.
        """
        growth = min(RARE / share, LARGEST_GROWTH)
        if not self.n_bags or growth < LEAST_GROWTH:
            return None
        return replace(self, growth=growth)

    def ranked(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Return unlabelled rows to find ranks among, by number, and weights: all, or enough."""
        enough = max(RANKED, 4.0 * self.bag_size)
        if self.n_bags and self.unlabelled.total > enough:
            return draw(random, self.unlabelled.weights, enough)
        return np.arange(self.unlabelled.n), self.unlabelled.weights

    def parts(
        self,
        random: np.random.Generator,
        negatives: tuple[Array, Array],
        added: tuple[Array, Array] | None = None,
    ) -> list[Part]:
        """Draw the programs.

        ``negatives`` are unlabelled rows, by number in the pool, and the mass with which each may
        be drawn as a negative; ``added`` the same for rows that join the positives.
        """
        draws = self._bags if self.n_bags else self._cross_fits
        return [self._part(*each) for each in draws(random, negatives, added)]

    def everything(self) -> Part:
        """Return the one program of all rows."""
        everyone = np.arange(self.unlabelled.n)
        kept = np.ones(self.positives.n, bool)
        return self._part(kept, (everyone, self.unlabelled.weights), None, everyone[:0])

    def _bags(
        self,
        random: np.random.Generator,
        negatives: tuple[Array, Array],
        added: tuple[Array, Array] | None,
    ) -> Iterator[tuple[Array, tuple[Array, Array], tuple[Array, Array] | None, Array]]:
        nobody = negatives[0][:0]
        for bag in range(self.n_bags):
            if bag % self.n_folds == 0:
                number = folds(random, self.positives.weights, self.n_folds)
            drawn, counts = draw(random, negatives[1], self.bag_size)
            joining = None
            if added is not None:
                size = min(self.bag_size, float(added[1].sum()))
                which, times = draw(random, added[1], size)
                joining = added[0][which], times
            yield number != bag % self.n_folds, (negatives[0][drawn], counts), joining, nobody

    def _cross_fits(
        self,
        random: np.random.Generator,
        negatives: tuple[Array, Array],
        added: tuple[Array, Array] | None,
    ) -> Iterator[tuple[Array, tuple[Array, Array], tuple[Array, Array] | None, Array]]:
        number = folds(random, self.positives.weights, self.n_folds)
        others = np.full(1, -1)  # a single row is never left out
        if negatives[0].size > 1:
            k = min(self.n_folds, negatives[0].size)
            others = folds(random, self.unlabelled.weights[negatives[0]], k)
        for fold in range(self.n_folds):
            left = others == fold
            joining = None if added is None else (added[0][~left], added[1][~left])
            inside = negatives[0][~left], negatives[1][~left]
            yield number != fold, inside, joining, negatives[0][left]

    def _part(
        self,
        kept: Array,
        negatives: tuple[Array, Array],
        added: tuple[Array, Array] | None,
        left: Array,
    ) -> Part:
        """Return the program of the kept positives and what joins them against the negatives.

        Both sides have the same total price, that of the side with less weight. Positives left out
        and the rows ``left`` are scored only.
        """
        labelled = np.where(kept, self.positives.weights, 0.0)
        rows = [self.positives.rows]
        positive = [labelled]
        if added is not None:
            more = float(added[1].sum())
            positive[0] = labelled * max(1.0, more / labelled.sum())
            rows.append(self.unlabelled.rows[added[0]])
            positive.append(added[1])
        own, others = np.concatenate(positive), negatives[1]
        total, opposite = float(own.sum()), float(others.sum())
        smaller = total if added is not None else min(total, opposite)
        rows += [self.unlabelled.rows[negatives[0]], self.unlabelled.rows[left]]
        prices = [own * (smaller / total), others * (smaller / opposite), np.zeros(left.size)]
        signs = np.repeat([1.0, -1.0], [own.size, others.size + left.size])
        return Part(np.concatenate(rows), signs, self.price * np.concatenate(prices))


@dataclass(frozen=True)
class OutOfBag:
    """The solved programs of one kernel, and what they say of rows they were not trained on.

    Attributes
    ----------
    positive : ndarray
        Score of every labelled row, the mean over the programs without it.
    model : MeanModel
        The mean of all models.
    """

    design: Design
    source: RowSource
    kernel: Kernel
    parts: Sequence[Part]
    answers: Sequence[Answer]
    positive: Array
    model: MeanModel

    def unlabelled(self, some: Array) -> Array:
        """Return the score of unlabelled rows, by number in their pool.

        They are in few bags: what is computed is the mean of all models, once, and the models of
        the bags that a row is in are taken out of it.
        """
        rows, n_rows = self.design.unlabelled.rows[some], self.source.shape[0]
        if not self.design.n_bags and self.design.unlabelled.n > 1:
            return _left_out(self.parts, self.answers, n_rows)[rows]
        inside, times = np.zeros(n_rows), np.zeros(n_rows)
        for part, answer in zip(self.parts, self.answers, strict=True):
            trained = np.flatnonzero(part.prices)
            which, first = np.unique(part.rows[trained], return_index=True)
            inside[which] += answer.scores[trained[first]]
            times[which] += 1.0
        everywhere = self.model.scores(self.source, rows, self.kernel)
        n = len(self.parts)
        left = n - times[rows]
        without = (n * everywhere - inside[rows]) / np.maximum(left, 1.0)
        return np.where(left > 0, without, everywhere)


def out_of_bag(
    design: Design, programs: Programs, kernel: Kernel, parts: Sequence[Part], task: FitTask
) -> OutOfBag:
    """Solve the programs of one kernel."""
    answers, source = programs.answers(parts, kernel, task), programs.source
    positive = _left_out(parts, answers, source.shape[0])[design.positives.rows]
    return OutOfBag(design, source, kernel, parts, answers, positive, mean_model(parts, answers))


def clearly_best(tried: Sequence[OutOfBag], sample: tuple[Array, Array]) -> tuple[OutOfBag, Array]:
    """Return what has the largest area under the curve, or the first if that is no clear gain.

    Clear is more than a standard error of the gain: areas of few labelled rows are noisy, and the
    largest of several is often the luckiest. ``sample`` are unlabelled rows, by number, and their
    weights; the second value is what their scores are.
    """
    first, *others = tried
    weights = first.design.positives.weights, sample[1]
    before = first.unlabelled(sample[0])
    best, scores, largest = first, before, 0.0
    for other in others:
        found = other.unlabelled(sample[0])
        gain, error = gain_of_area((other.positive, found), (first.positive, before), weights)
        if gain > max(largest, error):
            best, scores, largest = other, found, gain
    return best, scores


def _left_out(parts: Sequence[Part], answers: Sequence[Answer], n_rows: int) -> Array:
    """Return the mean score of each row over the programs that score it only."""
    sums, times = np.zeros(n_rows), np.zeros(n_rows)
    for part, answer in zip(parts, answers, strict=True):
        held = part.prices == 0
        sums[part.rows[held]] += answer.scores[held]
        times[part.rows[held]] += 1.0
    return np.asarray(sums / np.maximum(times, 1.0))


def second_pass(
    first: OutOfBag,
    unlabelled: Array,
    programs: Programs,
    sample: tuple[Array, Array],
    random: np.random.Generator,
    task: FitTask,
) -> tuple[float, tuple[float, float]]:
    """Return the class prior, and an approximate interval, from bags cleaner than the first.

    The first pass says how probable it is that an unlabelled row is positive. Rows drawn by that
    probability join the positives, and the others are drawn by the complement; ranks of held-out
    positives then have a density whose top says the prior. ``unlabelled`` are the first pass'
    scores of all unlabelled rows, ``sample`` those to use, by number, and their weights.
    """
    design, (some, weights) = replace(first.design, growth=1.0), sample
    counted, unlabelled = design.positives.weights, unlabelled[some]
    density = rank_density(mid_ranks(first.positive, unlabelled, weights), counted)
    own = mid_ranks(unlabelled, unlabelled, weights)
    probable = np.minimum(1.0, prior_of(density) * density_at(density, own))
    negative = weights * np.maximum(1.0 - probable, 1e-9)  # some row must be negative
    parts = design.parts(random, (some, negative), (some, weights * probable))
    cleaner = out_of_bag(design, programs, first.kernel, parts, task)
    ranks = mid_ranks(cleaner.positive, cleaner.unlabelled(some), weights)
    prior = prior_of(rank_density(ranks, counted))
    n = max(1, round(float(counted.sum())))
    draws = random.multinomial(n, counted / counted.sum(), size=RESAMPLES)
    priors = [prior_of(rank_density(ranks, each.astype(np.float64))) for each in draws]
    low, high = np.quantile(priors, [0.025, 0.975])
    return prior, (min(float(low), prior), max(float(high), prior))
