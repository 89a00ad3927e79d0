"""Several one-class tasks whose rows come in chunks; rows of all tasks are exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._boundary import rounding_error
from scarce._by_chunks import (
    Plan,
    band_offsets,
    keep_model,
    keep_reads,
    planned,
    sample_diagonal,
    solved_by_bands,
)
from scarce._domains import TARGET, split_domains
from scarce._frame import keep_quality
from scarce.chunks import BandSolution, Chunks, Part, take
from scarce.chunks._memory import target_rows_fit
from scarce.chunks._survey import row_numbers
from scarce.held_out import LeftOutOfChunks, distinct_in_fixed_order, left_out_parts
from scarce.one_class._zero_model import warn_if_zero
from scarce.reductions import TaskProblem

DOMAIN = "sample_domain"


def refuse_radii(estimator: Any, sample_radius: Any) -> None:
    """Refuse what moves rows, which passes over chunks do not keep."""
    if sample_radius is not None or estimator.radius == "knn" or estimator.radius != 0:
        given = "sample_radius" if sample_radius is not None else f"radius={estimator.radius!r}"
        raise ValueError(
            f"{given} moves every row, which needs all rows in memory; rows in chunks are fitted "
            "with radius=0 and without sample_radius"
        )


def fit_tasks(estimator: Any, chunks: Chunks) -> None:
    """Fit a machine of several tasks to rows in chunks; `sample_domain` is one of their values."""
    named = _has_domains(chunks)
    plan = planned(estimator, chunks, DOMAIN if named else None)
    found = plan.survey
    domains, sizes = np.array([TARGET]), np.array([found.weight])
    if named:
        domains, places = split_domains(found.classes, found.classes.size)
        sizes = np.bincount(places, found.totals, minlength=domains.size)
    empty = domains[sizes == 0]
    if empty.size:
        raise ValueError(f"every row of the tasks {empty.tolist()} has sample_weight 0")
    estimator.domains_ = domains
    planes = estimator._planes(sizes)
    problem = TaskProblem(domains, planes)
    unit = planes.unit
    masses = unit * planes.masses * planes.prices * sizes
    solution = solved_by_bands(estimator, plan, problem, masses)
    keep_quality(estimator, [solution])
    keep_reads(estimator, solution)
    _keep_planes(estimator, plan, solution.planes.raw / unit)
    estimator.converged_, estimator.n_rounds_ = solution.status == "optimal", 1
    estimator.n_iter_ = max(1, solution.n_iter)
    estimator.objective_ = solution.primal_objective / unit / unit
    norms = sample_diagonal(plan)
    largest = float(np.abs(norms).max())
    warn_if_zero(-solution.objective / unit / unit, planes.reach * largest, plan.kernel)
    rejected = 1.0 / (planes.prices * sizes)
    estimator.task_offset_ = band_offsets(solution, problem, rejected) / unit
    estimator._forget_left_out()
    if estimator._offset_rule == "left_out":
        _set_left_out_offset(estimator, plan, problem, solution)
    estimator.offset_ = estimator.task_offset_[:1]
    estimator.intercept_ = -estimator.offset_
    if plan.landmarks is None:  # one inner product with the plane
        lengths = np.linalg.norm(estimator.task_coef_, axis=1)
        estimator._rounding = rounding_error(lengths.max(keepdims=True), np.sqrt(largest))
    else:
        estimator._rounding = estimator._boundary_rounding(
            estimator.task_dual_coef_, largest, estimator.task_offset_, estimator._boundary_share
        )
    if plan.kernel.vanishes:
        estimator._note_if_all_inside(estimator._rounding)


def _has_domains(chunks: Chunks) -> bool:
    return bool(chunks.map(_domains_given, only=[0])[0])


def _domains_given(part: Part) -> bool:
    return DOMAIN in part.values


def _keep_planes(estimator: Any, plan: Plan, raw: Array) -> None:
    """Store the planes, combinations of landmarks, or planes in the features themselves."""
    keep_model(estimator, plan, raw[0])
    estimator.radii_ = estimator.shifts_ = None
    estimator.task_dual_coef_ = raw
    if plan.landmarks is None:
        estimator.task_coef_ = estimator.support_vectors_ = raw
        estimator.task_dual_coef_ = np.eye(raw.shape[0])
        estimator.dual_coef_ = estimator.task_dual_coef_[:1]


def _set_left_out_offset(
    estimator: Any, plan: Plan, problem: TaskProblem, solution: BandSolution
) -> None:
    """Set the target's offset from scores of its rows by fits without them.

    The target's rows are gathered: they are the scarce ones. The sources' stay where they are.
    """
    target = _target_rows(estimator, plan, problem)
    first, members = distinct_in_fixed_order(target.X)
    estimator._check_left_out_rows(first.size)
    weights = np.bincount(members, target.weights)
    fits = LeftOutOfChunks(plan, problem, solution, target, members, estimator)
    scores = fits.scores(left_out_parts(first.size, estimator.random_state), first)
    estimator.n_reads_ += fits.reads
    if not fits.solved:
        estimator._note_early_ends()
    estimator.task_offset_[0] = estimator._keep_left_out(
        scores / problem.planes.unit, weights, members
    )


def _target_rows(estimator: Any, plan: Plan, problem: TaskProblem) -> Part:
    """Return all rows of the target that take part."""
    found, among = plan.survey, None
    counts = found.taking
    if problem.domains.size > 1 or found.classes.size:
        label = found.classes[found.classes < 0][0]
        counts = found.members[:, int(np.flatnonzero(found.classes == label)[0])]
        among = DOMAIN, label
    n = int(counts.sum())
    target_rows_fit(n, plan.chunks, plan.features, estimator.max_memory)
    return take(plan.chunks, row_numbers(plan.chunks, counts, np.arange(n), among))
