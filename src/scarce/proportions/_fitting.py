"""Units of rows in memory, with what the estimators from shares do with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.proportions._calibrated import GroupRows
from scarce.proportions._groups import Units
from scarce.proportions._space import Expansion, UnitSpace

Wanted = list[tuple[Array, Array]]  # scores and tubes of the groups, for every problem


@dataclass(frozen=True)
class InMemory:
    """Units of rows in memory; `Collected` is the same of rows in chunks.

    Attributes
    ----------
    X : array or CSR
        The rows.
    units : Units
        Their units.
    space : UnitSpace
        Features of these.
    sources : list
        One source a problem, if any.
    functions : ndarray of shape (n_units, n_sources)
        Their mean scores of the units, without constants.
    scored : GroupRows or None
        Rows whose scores say how groups are met.
    """

    X: Any
    units: Units
    space: UnitSpace
    sources: list[Any]
    functions: Array
    scored: GroupRows | None

    @property
    def mixed(self) -> bool:
        """Whether some group holds two rows that differ."""
        return self.scored is not None

    def keep(self, estimator: Any, models: list[Expansion]) -> None:
        """Have an estimator store its models."""
        estimator._keep_models(self.X, models)

    def calibrate(self, estimator: Any, models: list[Expansion]) -> None:
        """Have an estimator calibrate them."""
        estimator._calibrate(self.X, self.units, self.scored, models, self.space, self.sources)


def units_in_memory(estimator: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> InMemory:
    """Return checked rows as units; the kernel of the estimator is settled by them."""
    X, units = estimator._prepared(X, y, groups, sample_weight)
    estimator._refuse_common(units.n_common)
    weights = np.where(units.codes >= 0, units.weights, 0.0)
    kernel = estimator._settled_kernel(X, weights)
    sources = estimator._read_sources(X, kernel, max(1, units.shares.shape[1]))
    scored = estimator._scored(X, units, groups is not None)
    space = estimator._unit_space(X, units, kernel, scored)
    return InMemory(X, units, space, sources, _source_means(X, units, sources), scored)


def _source_means(X: Any, units: Units, sources: list[Any]) -> Array:
    """Return the sources' mean scores of every unit, without their constants."""
    rows, parts = units.rows, units.in_means()
    means = []
    for source in sources:
        function = source.function(X[rows])
        if not np.isfinite(function).all():
            raise ValueError("source gives scores that are not finite on the rows of X")
        means.append(np.bincount(units.codes[rows], parts[rows] * function))
    return np.array(means).T
