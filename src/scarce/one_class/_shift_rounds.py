"""Weights for given positions of the rows and shifts of the rows for given weights, in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._predictions import is_zero
from scarce.kernels import (
    Kernel,
    KernelOperator,
    LinearKernel,
    Prepared,
    ShiftedRows,
    as_rows,
    make_operator,
    nystroem_operator,
    score_gradients,
    weighted_scores,
)
from scarce.reductions import TaskParameters, read_tasks, tasks_program
from scarce.solvers import QuadraticProgram, Solution

NO_DIRECTION = 1e-12  # a gradient shorter than this points nowhere
HALVINGS = 20


def proposed_shifts(
    X: Array, tasks: Array, radii: Array, support: Array, weights: Array, kernel: Kernel
) -> Array:
    """Return the step to the edge of each row's ball along the gradient of its score.

    It is exact for a linear kernel and of first order for others. The gradient is taken at the
    recorded row; the expansion is that of the moved rows.
    """
    gradients = score_gradients(X, support, weights, kernel, tasks)
    lengths = np.linalg.norm(gradients, axis=1)
    scale = np.divide(radii, lengths, out=np.zeros_like(radii), where=lengths > NO_DIRECTION)
    return np.asarray(scale[:, None] * gradients)


def guarded_shifts(
    X: Array,
    tasks: Array,
    old: Array,
    new: Array,
    old_scores: Array,
    support: Array,
    weights: Array,
    kernel: Kernel,
) -> tuple[Array, int]:
    """Return shifts that lower no row's score, and how many halvings that took.

    A step that loses against the shift in force is halved; after too many halvings the old shift
    stays. Every slack is then no larger than before, and so is the objective.
    """
    shifts = new.copy()
    open_rows = np.flatnonzero((new != old).any(axis=1))
    halvings = 0
    for attempt in range(HALVINGS + 1):
        if open_rows.size == 0:
            break
        points = X[open_rows] + shifts[open_rows]
        scores = weighted_scores(points, support, weights, kernel, tasks[open_rows])
        open_rows = open_rows[scores < old_scores[open_rows]]
        if attempt < HALVINGS:
            shifts[open_rows] *= 0.5
            halvings += open_rows.size
    shifts[open_rows] = old[open_rows]
    return shifts, halvings


def new_history() -> dict[str, list[Any]]:
    """Return the record of rounds that have not begun."""
    return {"objective": [], "moved": [], "halvings": [], "n_iter": []}


@dataclass
class ShiftRounds:
    """State of the rounds; see docs/theory/uoct_svm.md, "Algorithm".

    A subclass says how rows of its kind are moved.
    """

    rows: Any
    tasks: Array
    weights: Array
    radii: Array
    parameters: TaskParameters
    kernel: Kernel
    solve: Callable[[QuadraticProgram, Array | None], Solution]
    safeguard: bool = True
    landmarks: Array | None = None  # of a low-rank kernel
    largest: float = 0.0  # value of the kernel
    history: dict[str, list[Any]] = field(default_factory=new_history)

    def __post_init__(self) -> None:
        self.uncertain = bool(self.radii.any())
        self.shifts: Array | None = np.zeros(self.rows.shape) if self.uncertain else None
        self.points = self.rows

    def run(self, round_tol: float, max_rounds: int, start: Array | None = None) -> bool:
        """Alternate until the objective settles; return whether it did.

        ``start`` may be any dual variables to begin with.
        """
        alpha, moved, halvings = start, 0.0, 0
        while True:
            self._solve_for_weights(alpha)
            alpha = self.solution.alpha
            entry = (self.objective, moved, halvings, self.solution.n_iter)
            for values, value in zip(self.history.values(), entry, strict=True):
                values.append(value)
            if self.solution.status == "stopped":
                return False
            if not self.uncertain or self._settled(round_tol):
                return True
            if is_zero(-self.solution.objective, self.zero_scale):
                return True  # what is left of a direction is rounding errors
            if len(self.history["objective"]) == max_rounds:
                return False
            moved, halvings = self._move()
            if moved == 0:  # the same problem again
                return True

    @property
    def zero_scale(self) -> float:
        """Return how far below 0 the dual objective can get, in the scale of the program."""
        return self.parameters.scale**2 * self.parameters.reach * self.largest

    def _solve_for_weights(self, alpha: Array | None) -> None:
        operator = self._operator()
        program = tasks_program(operator, self.tasks, self.weights, self.parameters)
        self.solution = self.solve(program, alpha)
        model = read_tasks(self.parameters, self.tasks, self.solution)
        self.objective = model.objective
        self.scores = model.scores  # of the moved rows
        self.support, self.coefficients = model.support, model.coefficients
        if self.landmarks is not None:
            self.coefficients = operator.landmark_weights(self.support, self.coefficients)
            self.support = self.landmarks

    def _operator(self) -> Any:
        if self.landmarks is None:
            return make_operator(self.points, self.kernel)
        return nystroem_operator(self.points, self.kernel, self.landmarks)

    def _move(self) -> tuple[float, int]:
        """Move the rows; return the proportion that moved and the number of halvings."""
        assert self.shifts is not None
        support = self.points[self.support]
        new = proposed_shifts(
            self.rows, self.tasks, self.radii, support, self.coefficients, self.kernel
        )
        halvings = 0
        if self.safeguard:
            new, halvings = guarded_shifts(
                self.rows,
                self.tasks,
                self.shifts,
                new,
                self.scores,
                support,
                self.coefficients,
                self.kernel,
            )
        moved = float((new != self.shifts).any(axis=1).mean())
        self.shifts = new
        self.points = (self.rows + new).astype(self.rows.dtype)
        return moved, halvings

    def original_scores(self) -> Array:
        """Return the scores of the recorded rows."""
        if not self.uncertain and self.landmarks is None:
            return self.scores
        support = self.points[self.support]
        return weighted_scores(self.rows, support, self.coefficients, self.kernel, self.tasks)

    def target_scores(self, rows: Any) -> Array:
        """Return scores of other rows by the target's hyperplane."""
        return weighted_scores(rows, self.points[self.support], self.coefficients[:1], self.kernel)

    def _settled(self, round_tol: float) -> bool:
        values = self.history["objective"]
        if len(values) < 2:
            return False
        last, before = values[-1], values[-2]
        return bool(abs(last - before) <= round_tol * max(abs(last), abs(before)))


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
