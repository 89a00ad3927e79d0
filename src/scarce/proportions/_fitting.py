"""Bags of rows in memory, with what the estimators from proportions do with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.proportions._calibrated import GroupRows
from scarce.proportions._groups import Bags
from scarce.proportions._space import BagSpace, Expansion

Wanted = list[tuple[Array, Array]]  # scores and tubes of the groups, for every problem


@dataclass(frozen=True)
class InMemory:
    """Bags of rows in memory; `Collected` is the same of rows in chunks."""

    X: Any  # the rows
    bags: Bags  # their bags
    space: BagSpace  # features of these
    sources: list[Any]  # one source a problem, if any
    functions: Array  # (n_bags, n_sources): their mean scores of the bags, without constants
    scored: GroupRows | None  # rows whose scores say how groups are met

    @property
    def mixed(self) -> bool:
        """Whether some group holds two rows that differ."""
        return self.scored is not None

    def keep(self, estimator: Any, models: list[Expansion]) -> None:
        """Have an estimator store its models."""
        estimator._keep_models(self.X, models)

    def calibrate(self, estimator: Any, models: list[Expansion]) -> None:
        """Have an estimator calibrate them."""
        estimator._calibrate(self.X, self.bags, self.scored, models, self.space, self.sources)


def bags_in_memory(estimator: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> InMemory:
    """Return checked rows as bags; the kernel of the estimator is settled by them."""
    X, bags = estimator._prepared(X, y, groups, sample_weight)
    estimator._refuse_common(bags.n_common)
    weights = np.where(bags.codes >= 0, bags.weights, 0.0)
    kernel = estimator._settled_kernel(X, weights)
    sources = estimator._read_sources(X, kernel, max(1, bags.shares.shape[1]))
    scored = estimator._scored(X, bags, groups is not None)
    space = estimator._bag_space(X, bags, kernel, scored)
    return InMemory(X, bags, space, sources, _source_means(X, bags, sources), scored)


def _source_means(X: Any, bags: Bags, sources: list[Any]) -> Array:
    """Return the sources' mean scores of every bag, without their constants."""
    rows, parts = bags.rows, bags.in_means()
    means = []
    for source in sources:
        function = source.function(X[rows])
        if not np.isfinite(function).all():
            raise ValueError("source gives scores that are not finite on the rows of X")
        means.append(np.bincount(bags.codes[rows], parts[rows] * function))
    return np.array(means).T
