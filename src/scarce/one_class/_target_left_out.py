"""Left-out scores of the target of a machine of several tasks, with its sources and radii."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._frame import is_optimal
from scarce.held_out import landmarks_without, warm_start
from scarce.one_class._relation import SourceMoves
from scarce.one_class._shift_rounds import ShiftRounds, new_history
from scarce.one_class._task_sample import TaskSample
from scarce.solvers import QuadraticProgram, Solution


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
