"""The way of a fit from shares: units, their features, the machine's own problem, calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._by_chunks import forget_reads, goes_by_chunks, opened
from scarce._data import comes_in_chunks
from scarce.chunks import Chunks
from scarce.proportions._collected import READS, collected_units
from scarce.proportions._groups import Units
from scarce.proportions._unit_sums import group_table

Wanted = list[tuple[Array, Array]]  # scores and tubes of the groups, for every problem


def fit_shares(machine: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> None:
    """Fit a machine to rows in memory, or in chunks.

    The machine has `_refuse_common`, `_learnt` and `_judge`.
    """
    if comes_in_chunks(X) or (groups is not None and goes_by_chunks(machine, X)):
        given = {"y": y, "groups": groups, "sample_weight": sample_weight}
        _fit_chunks(machine, opened(machine, X, **given))
        return
    forget_reads(machine)
    X, units = machine._prepared(X, y, groups, sample_weight)
    machine._refuse_common(units.n_common)
    wanted = machine._wanted(units)
    weights = np.where(units.codes >= 0, units.weights, 0.0)
    kernel = machine._settled_kernel(X, weights)
    sources = machine._read_sources(X, kernel, max(1, units.shares.shape[1]))
    scored = machine._scored(X, units, groups is not None)
    space = machine._unit_space(X, units, kernel, scored)
    functions = _source_means(X, units, sources)
    models, solutions = machine._learnt(space, units, wanted, sources, functions)
    machine._keep_models(X, models)
    machine._add_source(sources)
    machine._calibrate(X, units, scored, models, space, sources)
    machine._judge(units, solutions, scored is not None)


def _fit_chunks(machine: Any, chunks: Chunks) -> None:
    """Fit rows in chunks: a read gives the groups' means, and few rows for all common ones.

    What is solved with them is in memory.
    """
    table = group_table(chunks)
    machine._refuse_common(table.n_common)
    collected = collected_units(machine, chunks, table)
    units, sources = collected.units, collected.sources
    wanted = machine._wanted(units)
    models, solutions = machine._learnt(
        collected.space, units, wanted, sources, collected.functions
    )
    collected.keep(machine, models[0])
    machine.n_reads_ = READS
    machine._add_source(sources)
    collected.calibrate(machine, models[0])
    machine._judge(units, solutions, table.mixed)


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
