"""The rounds for a linear kernel, whose shifts have a closed form and need no moved copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels import KernelOperator, LinearKernel, Prepared, ShiftedRows, as_rows
from scarce.one_class._shift_rounds import ShiftRounds
from scarce.one_class._shifts import NO_DIRECTION


class LinearShiftRounds(ShiftRounds):
    """Every row of a task moves along the task's own weight vector, by its radius.

    The step is the exact minimiser, so that it needs no guard. Rows may be sparse and many: what is
    kept beside them is one direction per task.
    """

    def __post_init__(self) -> None:
        self.uncertain = bool(self.radii.any())
        self.shifts = None
        shape = self.parameters.own.size, self.rows.shape[1]
        self.directions: Array | None = np.zeros(shape) if self.uncertain else None
        self.points = as_rows(self.rows)

    def _solve_for_weights(self, alpha: Array | None) -> None:
        super()._solve_for_weights(alpha)
        self.task_coef = self.points.take(self.support).combine(self.coefficients)

    def _operator(self) -> Any:
        return KernelOperator(Prepared(self.points, LinearKernel()))

    def _move(self) -> tuple[float, int]:
        lengths = np.linalg.norm(self.task_coef, axis=1, keepdims=True)
        new = np.divide(
            self.task_coef, lengths, out=np.zeros_like(self.task_coef), where=lengths > NO_DIRECTION
        )
        moved = (new != self.directions).any(axis=1)[self.tasks] & (self.radii > 0)
        self.directions = new
        self.points = ShiftedRows(as_rows(self.rows), self.radii, self.tasks, new)
        return float(moved.mean()), 0

    def original_scores(self) -> Array:
        """Return the scores of the recorded rows."""
        scores = np.zeros(self.tasks.size)
        as_rows(self.rows).project(0, scores.size, self.task_coef, self.tasks, scores)
        return scores

    def target_scores(self, rows: Any) -> Array:
        """Return scores of other rows by the target's hyperplane."""
        scores = np.zeros(rows.shape[0])
        groups = np.zeros(rows.shape[0], np.int64)
        as_rows(rows).project(0, scores.size, self.task_coef[:1], groups, scores)
        return scores
