"""Several one-class tasks whose rows come in chunks: what passes over them find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._by_chunks import Plan
from scarce._data import TARGET, split_domains
from scarce.chunks import BandSolution, Chunks, Part, Survey, take
from scarce.chunks._memory import target_rows_fit
from scarce.chunks._survey import row_numbers
from scarce.held_out import LeftOutOfChunks, distinct_in_fixed_order, left_out_parts
from scarce.reductions import TaskProblem

DOMAIN = "sample_domain"


def names_domains(chunks: Chunks) -> bool:
    """Say whether rows in chunks come with their tasks."""
    return bool(chunks.map(_domains_given, only=[0])[0])


def _domains_given(part: Part) -> bool:
    return DOMAIN in part.values


def task_weights(found: Survey, named: bool) -> tuple[Array, Array]:
    """Return the tasks, the target first, and the weight of each; refuse one without any."""
    domains, sizes = np.array([TARGET]), np.array([found.weight])
    if named:
        domains, places = split_domains(found.classes, found.classes.size)
        sizes = np.bincount(places, found.totals, minlength=domains.size)
    empty = domains[sizes == 0]
    if empty.size:
        raise ValueError(f"every row of the tasks {empty.tolist()} has sample_weight 0")
    return domains, sizes


@dataclass(frozen=True)
class HeldOutTarget:
    """Scores of the target's distinct rows by fits without them."""

    # scores, weights: (n_distinct,): of the distinct rows
    scores: Array
    weights: Array
    members: Array  # the distinct row that each row of the target equals
    reads: int  # how often all rows were read
    solved: bool  # whether every fit met the tolerance


def held_out_target(
    estimator: Any, plan: Plan, problem: TaskProblem, solution: BandSolution
) -> HeldOutTarget:
    """Leave rows of the target out, which are gathered: they are the scarce ones."""
    target = _target_rows(estimator, plan)
    first, members = distinct_in_fixed_order(target.X)
    estimator._check_left_out_rows(first.size)
    fits = LeftOutOfChunks(plan, problem, solution, target, members, estimator)
    scores = fits.scores(left_out_parts(first.size, estimator.random_state), first)
    weights = np.bincount(members, target.weights)
    return HeldOutTarget(
        scores / problem.parameters.scale, weights, members, fits.reads, fits.solved
    )


def _target_rows(estimator: Any, plan: Plan) -> Part:
    """Return all rows of the target that take part."""
    found, among = plan.survey, None
    counts = found.taking
    if DOMAIN in plan.sample.values:
        label = found.classes[found.classes < 0][0]
        counts = found.members[:, int(np.flatnonzero(found.classes == label)[0])]
        among = DOMAIN, label
    n = int(counts.sum())
    target_rows_fit(n, plan.chunks, plan.features, estimator.max_memory)
    return take(plan.chunks, row_numbers(plan.chunks, counts, np.arange(n), among))
