"""Passes over the rows: pure functions of a part and of a few numbers that every part is given.

``s``, the reduced gradient of a row under a model, says where its dual variable belongs: at its
upper bound if negative, at zero if positive, anywhere between where it vanishes. All sums are in
float64, whatever the rows are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.chunks._chunks import Part
from scarce.chunks._features import Features
from scarce.reductions import Problem, Terms


@dataclass(frozen=True)
class Hyperplanes:
    """A model in raw numbers."""

    raw: Array  # (1 or n_groups, width): one hyperplane for all rows, or one a group
    multipliers: Array  # (n_groups,): of the equalities

    def reduced(self, raw: Array, terms: Terms) -> Array:
        """Return the reduced gradient of every row."""
        return np.asarray(
            terms.kernel_signs * self.scores(raw, terms.groups)
            + terms.linear
            + terms.signs * self.multipliers[terms.groups]
        )

    def of_groups(self, groups: Array) -> Array:
        """Return the hyperplane of every row, by its group."""
        return groups if self.raw.shape[0] > 1 else np.zeros_like(groups)

    def scores(self, raw: Array, groups: Array) -> Array:
        """Return the scores of rows."""
        if self.raw.shape[0] == 1:
            return np.asarray(raw @ self.raw[0])
        return np.asarray((raw @ self.raw.T)[np.arange(groups.size), groups])


@dataclass(frozen=True)
class Partition:
    """Which rows are settled: those whose reduced gradient under a frozen model is not small."""

    hyperplanes: Hyperplanes  # the frozen model
    widths: Array  # (n_groups,): rows of a reduced gradient up to their group's are in the band

    def sides(self, raw: Array, terms: Terms) -> Array:
        """Return -1 for rows at zero, 1 for those at their bound, 0 in the band, -2 for none."""
        s = self.hyperplanes.reduced(raw, terms)
        width = self.widths[terms.groups]
        sides = np.where(s < -width, 1, np.where(s > width, -1, 0))
        return np.where(terms.upper > 0, sides, -2)


@dataclass(frozen=True)
class RowSet:
    """Some rows on their own, with their numbers among all rows."""

    ids: Array
    X: Array
    terms: Terms

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.ids.size)

    def rows(self, some: Array) -> RowSet:
        """Return some of the rows."""
        return RowSet(self.ids[some], self.X[some], self.terms.rows(some))


def joined_sets(sets: list[RowSet]) -> RowSet:
    """Return several sets of rows as one."""
    return RowSet(
        np.concatenate([each.ids for each in sets]),
        np.concatenate([each.X for each in sets]),
        Terms.joined([each.terms for each in sets]),
    )


def _chosen(block: Part, terms: Terms, some: Array) -> RowSet:
    return RowSet(block.first + some, np.array(block.X[some]), terms.rows(some))


def group_sums(terms: Terms, values: Array, n_groups: int) -> Array:
    """Return the sum of one value per row over each group."""
    return np.bincount(terms.groups, values, minlength=n_groups)


def settled_sums(raw: Array, terms: Terms, n_groups: int) -> tuple[Array, Array, float]:
    """Return what rows at their upper bounds add up to: vectors, counts, and linear terms."""
    weights = terms.kernel_signs * terms.upper
    members = terms.groups == np.arange(n_groups)[:, None]
    vectors = np.where(members, weights, 0.0) @ raw
    counts = group_sums(terms, terms.signs * terms.upper, n_groups)
    return vectors, counts, float(terms.linear @ terms.upper)


@dataclass(frozen=True)
class Collected:
    """What `collect` returns of a part."""

    vectors: Array  # (n_groups, width): sum over the rows at their bounds, in raw numbers
    counts: Array  # (n_groups,): their signed bounds
    linear: float  # their linear terms
    band: RowSet  # the rows in the band, at most so many
    # n_band, n_upper: how many rows are in the band and at their bounds
    n_band: int
    n_upper: int


def collect(
    part: Part, problem: Problem, features: Features, partition: Partition, most: int
) -> Collected:
    """Add up the rows at their bounds and pick those of the band, at most ``most``."""
    n_groups = problem.totals.size
    vectors, counts = np.zeros((n_groups, features.width)), np.zeros(n_groups)
    linear, n_band, n_upper = 0.0, 0, 0
    found: list[RowSet] = []
    for block in part.blocks(features.width):
        terms, raw = problem.terms(block.weights, block.values), features.raw(block.X)
        sides = partition.sides(raw, terms)
        at_bound = np.flatnonzero(sides == 1)
        more = settled_sums(raw[at_bound], terms.rows(at_bound), n_groups)
        vectors += more[0]
        counts += more[1]
        linear += more[2]
        inside = np.flatnonzero(sides == 0)
        found.append(_chosen(block, terms, inside[: max(0, most - n_band)]))
        n_band += inside.size
        n_upper += at_bound.size
    return Collected(vectors, counts, linear, joined_sets(found), n_band, n_upper)


@dataclass(frozen=True)
class Judged:
    """What `judge` returns of a part."""

    slack: float  # ``sum upper * max(0, -s)`` over all rows
    wrong: float  # part of the duality gap due to rows outside the band
    # grows, shrinks: (n_groups,): ends of the multipliers' intervals by rows outside the band
    grows: Array
    shrinks: Array
    # rows outside the band on the wrong side, the worst ones if they are very many
    violators: RowSet
    at_bound: Array  # which of them were settled at their upper bounds
    sums: tuple[Array, Array, float]  # what `settled_sums` says of those, to take them out again
    # n_violators, n_band, n_upper: numbers of rows; the last two as the frozen model has them
    n_violators: int
    n_band: int
    n_upper: int
    highest: Array  # (n_groups,): largest score of a row that takes part


def judge(
    part: Part,
    problem: Problem,
    features: Features,
    partition: Partition,
    hyperplanes: Hyperplanes,
    members: Array,
    most: int,
) -> Judged:
    """Judge a model by all rows, and find those that the frozen partition has on the wrong side.

    ``members`` are the rows that joined the band since, ascending; ``most`` violators are returned.
    """
    n_groups = problem.totals.size
    grows, shrinks = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
    slack, wrong, n_violators, n_band, n_upper = 0.0, 0.0, 0, 0, 0
    highest = np.full(n_groups, -np.inf)
    found: list[RowSet] = []
    bound: list[Array] = []
    vectors, counts, linear = np.zeros((n_groups, features.width)), np.zeros(n_groups), 0.0
    for block in part.blocks(features.width):
        terms, raw = problem.terms(block.weights, block.values), features.raw(block.X)
        sides = partition.sides(raw, terms)
        n_band += int(np.count_nonzero(sides == 0))
        n_upper += int(np.count_nonzero(sides == 1))
        s = hyperplanes.reduced(raw, terms)
        slack += float(terms.upper @ np.maximum(-s, 0.0))
        taking = terms.upper > 0
        scores = hyperplanes.scores(raw, terms.groups)
        np.maximum.at(highest, terms.groups[taking], scores[taking])
        own = slice(*np.searchsorted(members, [block.first, block.first + s.size]))
        sides[members[own] - block.first] = 0
        at_zero, at_upper = sides == -1, sides == 1
        wrong += float(terms.upper @ np.where(at_zero, np.maximum(-s, 0.0), 0.0))
        wrong += float(terms.upper @ np.where(at_upper, np.maximum(s, 0.0), 0.0))
        # What each row would have its group's multiplier be.
        wanted = terms.wanted_multipliers(s, hyperplanes.multipliers)
        up = (at_zero & (terms.signs > 0)) | (at_upper & (terms.signs < 0))
        down = (at_zero & (terms.signs < 0)) | (at_upper & (terms.signs > 0))
        np.maximum.at(grows, terms.groups[up], wanted[up])
        np.minimum.at(shrinks, terms.groups[down], wanted[down])
        off = np.flatnonzero((at_zero & (s < 0)) | (at_upper & (s > 0)))
        n_violators += off.size
        off = np.sort(off[np.argsort(-np.abs(s[off]), kind="stable")[:most]])
        found.append(_chosen(block, terms, off))
        bound.append(at_upper[off])
        out = off[at_upper[off]]
        more = settled_sums(raw[out], terms.rows(out), n_groups)
        vectors, counts, linear = vectors + more[0], counts + more[1], linear + more[2]
    return Judged(
        slack,
        wrong,
        grows,
        shrinks,
        joined_sets(found),
        np.concatenate(bound),
        (vectors, counts, linear),
        n_violators,
        n_band,
        n_upper,
        highest,
    )
