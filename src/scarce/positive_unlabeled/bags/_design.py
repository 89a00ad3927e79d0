"""How bags are drawn: positives without a fold of them against random unlabelled samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from scarce._arrays import Array
from scarce.positive_unlabeled.bags._draws import Pool, draw, folds

FOLDS = 5
SMALLEST_BAG = 50  # unlabelled rows
LARGEST_PART = 0.8  # of the unlabelled rows, so that each is held out often enough
# Below this share of the class the hidden positives of a bag are so few that larger bags and a
# higher cost pay: the cost grows as the share falls, up to these factors.
GROWS_BELOW = 0.3
LARGEST_GROWTH = 10.0  # of the cost
LARGEST_BAG = 3.0  # times the usual size
LEAST_GROWTH = 1.5  # worth another pass
RANKED = 5000  # unlabelled rows that a rank is found among, where a sample is enough


@dataclass(frozen=True)
class Part:
    """One bag: rows by number, +1 for positives and -1 for negatives, and costs of slack.

    A row of cost 0 is scored and not trained on.
    """

    rows: Array
    signs: Array
    costs: Array

    def trained(self) -> tuple[Array, Array, Array]:
        """Return the rows that are trained on, 1 for positives, and weights of mean one."""
        trained = np.flatnonzero(self.costs)
        costs = self.costs[trained]
        labels = (self.signs[trained] > 0).astype(np.int64)
        return self.rows[trained], labels, costs * (trained.size / costs.sum())


class _Drawn(NamedTuple):
    """What a part is made of: who is kept, and the unlabelled rows with how often they count."""

    positives: Array
    negatives: Array
    unlabelled: tuple[Array, Array]
    added: tuple[Array, Array] | None
    held_out: Array


@dataclass(frozen=True)
class Design:
    """How the bags are drawn, or one program in folds."""

    # positives, negatives, unlabelled: the rows: labelled as positive, checked and not positive
    # (often none), and all others
    positives: Pool
    negatives: Pool
    unlabelled: Pool
    C: float  # cost of slack
    n_bags: int  # number of bags; 0 for one program of all rows, cross-fitted
    # factor of the cost, and up to `LARGEST_BAG` of the size of bags, for a rare class
    growth: float = 1.0

    @property
    def pools(self) -> tuple[Pool, Pool, Pool]:
        return self.positives, self.negatives, self.unlabelled

    @property
    def n_folds(self) -> int:
        return min(FOLDS, self.positives.n, self.n_bags or FOLDS)

    @property
    def bag_size(self) -> float:
        usual = max(self.positives.total, SMALLEST_BAG)
        wanted = usual * min(self.growth, LARGEST_BAG)
        return min(wanted, LARGEST_PART * self.unlabelled.total)

    @property
    def cost(self) -> float:
        return self.C * self.growth

    def grown(self, share: float) -> Design | None:
        """Return the design for a class of that share, None if it is not rare or bags are not used.

        A row of the class that a bag holds as a negative pulls the boundary its way, and a low
        cost of slack is what bears it. Of a rare class there are few: the rest of the negatives
        can be used as given.
        """
        growth = min(GROWS_BELOW / share, LARGEST_GROWTH)
        if not self.n_bags or growth < LEAST_GROWTH:
            return None
        return replace(self, growth=growth)

    def all_rows(self) -> tuple[Array, Array]:
        """Return all unlabelled rows, by number in their pool, and their weights."""
        return np.arange(self.unlabelled.n), self.unlabelled.weights

    def ranked(self, random: np.random.Generator) -> tuple[Array, Array]:
        """Return unlabelled rows to find ranks among, by number, and weights: all, or enough."""
        enough = max(RANKED, 4.0 * self.bag_size)
        if self.n_bags and self.unlabelled.total > enough:
            return draw(random, self.unlabelled.weights, enough)
        return self.all_rows()

    def parts(
        self,
        random: np.random.Generator,
        negatives: tuple[Array, Array],
        added: tuple[Array, Array] | None = None,
    ) -> list[Part]:
        """Draw the bags.

        ``negatives`` are unlabelled rows, by number in the pool, and the mass with which each may
        be drawn as a negative; ``added`` the same for rows that join the positives.
        """
        draws = self._bags if self.n_bags else self._cross_fits
        return [self._part(each) for each in draws(random, negatives, added)]

    def everything(self) -> Part:
        """Return the one program of all rows."""
        all_rows = self.all_rows()
        own, checked = np.ones(self.positives.n, bool), np.ones(self.negatives.n, bool)
        return self._part(_Drawn(own, checked, all_rows, None, all_rows[0][:0]))

    def _bags(
        self,
        random: np.random.Generator,
        negatives: tuple[Array, Array],
        added: tuple[Array, Array] | None,
    ) -> Iterator[_Drawn]:
        nobody, n_folds, bag_size = negatives[0][:0], self.n_folds, self.bag_size
        for bag in range(self.n_bags):
            fold = bag % n_folds
            if fold == 0:
                number = folds(random, self.positives.weights, n_folds)
                checked = self._checked_folds(random)
            drawn, counts = draw(random, negatives[1], bag_size)
            joining = None
            if added is not None:
                size = min(bag_size, float(added[1].sum()))
                which, times = draw(random, added[1], size)
                joining = added[0][which], times
            drawn_rows = negatives[0][drawn], counts
            yield _Drawn(number != fold, checked != fold, drawn_rows, joining, nobody)

    def _cross_fits(
        self,
        random: np.random.Generator,
        negatives: tuple[Array, Array],
        added: tuple[Array, Array] | None,
    ) -> Iterator[_Drawn]:
        number = folds(random, self.positives.weights, self.n_folds)
        others = np.full(1, -1)  # a single row is never held out
        if negatives[0].size > 1:
            k = min(self.n_folds, negatives[0].size)
            others = folds(random, self.unlabelled.weights[negatives[0]], k)
        checked = self._checked_folds(random)
        for fold in range(self.n_folds):
            left = others == fold
            joining = None if added is None else (added[0][~left], added[1][~left])
            inside = negatives[0][~left], negatives[1][~left]
            held_out = negatives[0][left]
            yield _Drawn(number != fold, checked != fold, inside, joining, held_out)

    def _checked_folds(self, random: np.random.Generator) -> Array:
        if self.negatives.n < 2:  # a single row is never held out
            return np.full(self.negatives.n, -1)
        return folds(random, self.negatives.weights, min(self.n_folds, self.negatives.n))

    def _part(self, drawn: _Drawn) -> Part:
        """Return the bag of the kept positives and what joins them against the negatives.

        Both sides have the same total cost, that of the side with less weight. Positives and
        checked negatives that are not kept, and the rows held out, are scored only.
        """
        labelled = np.where(drawn.positives, self.positives.weights, 0.0)
        rows = [self.positives.rows]
        positive = [labelled]
        if drawn.added is not None:
            more = float(drawn.added[1].sum())
            positive[0] = labelled * max(1.0, more / labelled.sum())
            rows.append(self.unlabelled.rows[drawn.added[0]])
            positive.append(drawn.added[1])
        checked = np.where(drawn.negatives, self.negatives.weights, 0.0)
        own, others = np.concatenate(positive), np.concatenate([checked, drawn.unlabelled[1]])
        total, opposite = float(own.sum()), float(others.sum())
        smaller = total if drawn.added is not None else min(total, opposite)
        rows += [
            self.negatives.rows,
            self.unlabelled.rows[drawn.unlabelled[0]],
            self.unlabelled.rows[drawn.held_out],
        ]
        costs = [own * (smaller / total), others * (smaller / opposite)]
        costs.append(np.zeros(drawn.held_out.size))
        signs = np.repeat([1.0, -1.0], [own.size, others.size + drawn.held_out.size])
        return Part(np.concatenate(rows), signs, self.cost * np.concatenate(costs))
