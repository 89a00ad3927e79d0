"""Rows of several tasks, equal ones of a task as one; the target's rows left out in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce._frame import is_optimal
from scarce.held_out import distinct_in_fixed_order, landmarks_without, warm_start
from scarce.one_class._relation import SourceMoves
from scarce.one_class._shift_rounds import ShiftRounds, new_history
from scarce.solvers import QuadraticProgram, Solution


@dataclass(frozen=True)
class TaskSample:
    """Distinct rows, the target's first, as positions among the rows of a fit.

    Attributes
    ----------
    first : ndarray of int of shape (n,)
        One row of each set of equal ones.
    members : ndarray of int of shape (n_rows,)
        The set of every row.
    tasks, weights, alpha : ndarray of shape (n,)
        Task, summed weight and summed dual variable of each.
    n_target : int
        How many are the target's.
    given_radii : bool
        Whether radii came with the rows, so that rows of different radii are not equal.
    """

    first: Array
    members: Array
    tasks: Array
    weights: Array
    alpha: Array
    n_target: int
    given_radii: bool

    @classmethod
    def of(cls, rounds: ShiftRounds, given_radii: bool) -> TaskSample:
        """Return the distinct rows of rounds that were run."""
        order: list[Array] = []
        members = np.empty(rounds.tasks.size, dtype=np.int64)
        n_sets = 0
        sizes = []
        for task in np.unique(rounds.tasks):
            own = np.flatnonzero(rounds.tasks == task)
            rows = rounds.rows[own]
            if given_radii:
                radii = rounds.radii[own][:, None]
                stack = sparse.hstack if sparse.issparse(rows) else np.hstack
                rows = stack([rows, radii])
            first, sets = distinct_in_fixed_order(rows)
            order.append(own[first])
            members[own] = n_sets + sets
            n_sets += first.size
            sizes.append(first.size)
        first = np.concatenate(order)
        return cls(
            first=first,
            members=members,
            tasks=rounds.tasks[first],
            weights=np.bincount(members, rounds.weights),
            alpha=np.bincount(members, rounds.solution.alpha),
            n_target=sizes[0],
            given_radii=given_radii,
        )

    def part(self, rows: Any, chosen: Array, pairwise: bool) -> Any:
        """Return some of the distinct rows; of a kernel matrix, these rows and columns."""
        positions = self.first[chosen]
        return rows[np.ix_(positions, positions)] if pairwise else rows[positions]


def per_task(target: float, source: float | None, n_sources: int) -> Array:
    """Return the target's value and the sources', which are the same for None.

    Examples
    --------
    >>> from scarce.one_class._task_sample import per_task
    >>> per_task(0.1, None, 2)
    array([0.1, 0.1, 0.1])
    """
    return np.array([target] + n_sources * [target if source is None else source], dtype=float)


def task_masses(source_weight: Any, sources: list[int]) -> Array:
    """Return the tasks' masses: 1 for the target, one number or one each for the sources.

    Examples
    --------
    >>> from scarce.one_class._task_sample import task_masses
    >>> task_masses({4: 2.0, 7: 0.5}, [4, 7])
    array([1. , 2. , 0.5])
    """
    if not isinstance(source_weight, dict):
        return np.array([1.0] + len(sources) * [source_weight], dtype=float)
    masses = source_weight.values()
    positive = (isinstance(mass, Real) and 0 < float(mass) < np.inf for mass in masses)
    if set(source_weight) != set(sources) or not all(positive):
        raise ValueError(
            f"source_weight must give each of the sources {sources} a positive number, got "
            f"{source_weight}"
        )
    return np.array([1.0] + [source_weight[source] for source in sources], dtype=float)


@dataclass
class TargetLeftOut:
    """Fits without some rows of the target, each begun at the model of all rows.

    Attributes
    ----------
    full : ShiftRounds
        The rounds of all rows, run.
    sample : TaskSample
        Their distinct rows.
    solve : callable
        ``solve(program, start)``.
    radii : callable or None
        ``radii(rows, tasks, weights)`` where a rule gives them, which sees only what is left; None
        where they belong to the rows.
    draw : callable
        The choice of landmarks among a number of rows, should all landmarks of a low-rank kernel
        be left out.
    moves, shifts : SourceMoves and ndarray of shape (n_tasks, n_features), or None
        How far sources are moved, which the rows left out have no part in, and how far they are.
    tol, round_tol, max_rounds
        Of the programs and of the rounds.
    solved : bool
        Whether the objective of all fits so far has settled.
    """

    full: ShiftRounds
    sample: TaskSample
    solve: Callable[[QuadraticProgram, Array | None], Solution]
    radii: Callable[[Any, Array, Array], Array] | None
    draw: Callable[[int], Array]
    moves: SourceMoves | None
    shifts: Array | None
    tol: float
    round_tol: float
    max_rounds: int
    solved: bool = True

    def scores(self, part: Array) -> Array:
        """Return the scores of a part of the target's rows by the model of all other rows."""
        full, sample = self.full, self.sample
        rest = np.setdiff1d(np.arange(sample.weights.size), part)
        weights, tasks = sample.weights[rest], sample.tasks[rest]
        pairwise = full.kernel.pairwise
        rows = sample.part(full.rows, rest, pairwise)
        if self.moves is not None:
            target = tasks == 0
            others = self.moves.shifts(rows[target], weights[target])
            rows = (rows + (others - self.shifts)[tasks]).astype(rows.dtype)
        own = full.radii[sample.first[rest]]
        # The bounds stay, unless the rows that are left cannot carry the mass with them.
        costs = full.parameters.costs.copy()
        costs[0] = max(costs[0], 1.0 / weights[tasks == 0].sum())
        left = None
        if full.landmarks is not None:
            left = landmarks_without(sample.members[full.landmarks], rest, self.draw)
        rounds = replace(
            full,
            rows=rows,
            tasks=tasks,
            weights=weights,
            radii=own if self.radii is None else self.radii(rows, tasks, weights),
            parameters=replace(full.parameters, costs=costs),
            solve=self.solve,
            landmarks=left,
            history=new_history(),
        )
        start = sample.alpha[rest]
        target = warm_start(start[tasks == 0], float(sample.alpha[: sample.n_target].sum()))
        start[tasks == 0] = 0.0 if target is None else target
        settled = rounds.run(
            self.round_tol, self.max_rounds, start=None if target is None else start
        )
        self.solved &= settled and is_optimal(rounds.solution, self.tol)
        if pairwise:
            support = sample.first[rest[rounds.support]]
            values = full.rows[np.ix_(sample.first[part], support)]
            return np.asarray(values @ rounds.coefficients[0])
        return rounds.target_scores(full.rows[sample.first[part]])
