"""Bags of rows in chunks, collected, with what the models from proportions do with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._by_chunks import Plan
from scarce._data import budget
from scarce.chunks import Chunks
from scarce.chunks._chunks import FAN
from scarce.chunks._memory import COPIES
from scarce.proportions._bag_sums import (
    BAG,
    BagChunks,
    GroupTable,
    bag_sums,
    group_table,
    scores_of,
    soft_label_rows,
    source_functions,
)
from scarce.proportions._calibrated import calibration_groups
from scarce.proportions._groups import Bags
from scarce.proportions._share_loss import RowGroups
from scarce.proportions._soft_labels._learning import Rows, learn
from scarce.proportions._space import Expansion, FeatureSpace

READS = 4  # groups, survey, landmarks, sums
MOST_GATHERED = 2_000_000  # rows whose scores are gathered for a calibration


@dataclass
class Collected:
    """Bags of rows in chunks."""

    chunks: BagChunks  # the rows
    plan: Plan  # kernel and features
    table: GroupTable  # the groups
    bags: Bags  # the bags, without their rows
    space: FeatureSpace  # their features
    sources: list[Any]  # one source a problem, if any
    functions: Array  # (n_bags, n_sources): their mean scores of the bags, without constants

    def _weight_vector(self, model: Expansion) -> Array:
        """Return a model in raw numbers."""
        assert model.coef is not None
        return np.asarray(self.plan.features.to_raw(model.coef))

    @property
    def mixed(self) -> bool:
        """Whether some group holds two rows that differ."""
        return self.table.mixed

    def keep(self, estimator: Any, models: list[Expansion]) -> None:
        """Have an estimator store its model."""
        estimator._keep_weight_vector(self.plan, self._weight_vector(models[0]))

    def calibrate(self, estimator: Any, models: list[Expansion]) -> None:
        """Calibrate by the scores of the rows of some groups, which one more read gathers.

        The groups are those of a fit in memory. Of more than two million rows a part is taken.
        """
        model, table, share = models[0], self.table, estimator._source_share
        if not (table.mixed and table.sizes.size):
            estimator._calibrate_by(self.bags, None)
            return
        if estimator.calibrate == "em":
            self._soften(estimator, model)
            return
        chosen = calibration_groups(table.counts, self.plan.landmarks is None)
        every = -(-int(table.counts[chosen].sum()) // MOST_GATHERED)
        codes, weights, scores, functions = scores_of(
            self.chunks, self.plan.features, self.sources, self._weight_vector(model), chosen, every
        )
        estimator._count_reads(1)
        left, codes = np.unique(codes, return_inverse=True)
        decisions, theirs = scores[:, None] + estimator.intercept_, None
        if self.sources:
            decisions = decisions + share * functions
            theirs = functions + [source.intercept for source in self.sources]
        in_groups = RowGroups.of(codes, weights, left.size)
        estimator._calibrate_by(self.bags, (decisions, theirs), in_groups, chosen[left])

    def _soften(self, estimator: Any, model: Expansion) -> None:
        """Learn from soft labels of rows that two more reads gather.

        Common rows act on the scores that these begin with, and not on the soft labels.
        """
        part = soft_label_rows(self.chunks, self.table)
        estimator._count_reads(2)
        chosen, codes = np.unique(part.values[BAG], return_inverse=True)
        in_groups = RowGroups.of(codes, part.weights, chosen.size)
        features, share = self.plan.features, estimator._source_share
        decisions = (features.raw(part.X) @ self._weight_vector(model))[
            :, None
        ] + estimator.intercept_
        source = source_functions(part.X, self.sources) if self.sources else None
        theirs = None
        if source is not None:
            decisions = decisions + share * source
            theirs = source + [each.intercept for each in self.sources]
        logits = estimator._calibrate_by(self.bags, (decisions, theirs), in_groups, chosen)
        shares = self.table.shares[chosen]
        used = source if share > 0 else None
        ridge = 1.0 if used is None else 1.0 + estimator.transfer
        rows = Rows(features.rows(part.X), in_groups, shares, used, ridge)
        fit = estimator._shrunk(learn(rows, rows, logits), rows)
        model = Expansion(np.zeros(0, np.intp), np.zeros(0), fit.model.weights[:, 0])
        self.keep(estimator, [model])
        estimator._keep_soft_labels(fit, rows, self.bags, rows.source is not None)
        estimator._add_source(self.sources)


def collected_bags(estimator: Any, chunks: Chunks) -> Collected:
    """Return the bags of rows in chunks: means of groups, and few rows for all common ones.

    What is solved with them is in memory. Classes, kernel and names of features of the estimator
    are settled.
    """
    table = group_table(chunks)
    estimator._refuse_common(table.n_common)
    estimator._name_classes(2)
    seen = BagChunks(chunks, table)
    plan = estimator._planned(seen, bands=False)
    _check_memory(table, plan, estimator.max_memory)
    sources = estimator._read_sources(plan.sample.X, plan.kernel, 1)
    estimator._count_reads(READS)
    sums = bag_sums(seen, table, plan.features, sources)
    # Each of the rows that stand for the common ones has an equal part of their weight.
    common = np.full(sums.n_common, table.common_weight / max(1, sums.n_common))
    bags = Bags(
        np.zeros(0, np.intp),
        np.zeros(0),
        sums.n_common,
        table.shares,
        table.sizes,
        np.append(common, np.ones(table.sizes.size)),
    )
    return Collected(seen, plan, table, bags, FeatureSpace(sums.features), sources, sums.functions)


def _check_memory(table: GroupTable, plan: Plan, max_memory: float | None) -> None:
    """Refuse sums of groups that would not fit."""
    # Sums of chunks are joined as they come, so that no more than these wait for each other.
    waiting = min(table.present, 2 * FAN * table.sizes.size)
    needed = 8.0 * plan.features.width * (waiting + COPIES * table.sizes.size)
    allowed = budget(max_memory)
    if needed > allowed:
        raise ValueError(
            f"the sums of {table.sizes.size} groups, and of those in some chunks at a time, take "
            f"{needed / 1e6:.0f} MB, and max_memory allows {allowed / 1e6:.0f} MB: use fewer "
            "components, or raise max_memory"
        )
