"""Weights for given positions of the rows and shifts of the rows for given weights, in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels import Kernel, make_operator, nystroem_operator, weighted_scores
from scarce.one_class._shifts import guarded_shifts, proposed_shifts
from scarce.one_class._zero_model import is_zero
from scarce.reductions import TaskParameters, read_tasks, tasks_program
from scarce.solvers import QuadraticProgram, Solution


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
        """Move the rows; return the share that moved and the number of halvings."""
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
