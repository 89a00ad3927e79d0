"""Labels of unlabelled rows, switched in pairs while that lowers the objective of the margin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.reductions import c_svc_program, read_c_svc
from scarce.solvers import QuadraticProgram, Solution

FIRST_COST = 1e-5  # of unlabelled rows: they hardly count at first


def first_guesses(scores: Array, n_positive: int) -> Array:
    """Return +1 for the rows of the largest scores, so many of them, and -1 for the others."""
    signs = -np.ones(scores.size)
    signs[np.argsort(-scores, kind="stable")[:n_positive]] = 1.0
    return signs


def growing_costs(goal: float, n_positive: int, n_rows: int) -> Iterator[tuple[float, float]]:
    """Return the costs of unlabelled rows, negative and positive, doubled until both are the goal.

    The first ones balance the two classes.
    """
    if n_positive in (0, n_rows):  # no label will ever change
        yield goal, goal
        return
    negative, positive = FIRST_COST, FIRST_COST * n_positive / (n_rows - n_positive)
    while negative < goal or positive < goal:
        yield min(negative, goal), min(positive, goal)
        negative, positive = 2.0 * negative, 2.0 * positive
    yield goal, goal


def pairs_to_switch(
    slacks: Array, signs: Array, costs: Array, other_costs: Array, room: float
) -> tuple[Array, Array]:
    """Return positive and negative rows whose labels are to change places, pair by pair.

    A pair qualifies when both slacks are positive and together above 2 by more than ``room``. The
    largest slacks of both sides are paired first. ``costs`` are those of the rows as they are
    labelled, ``other_costs`` what they would be with the other label; rows of equal weight always
    gain, others only if the costs say so.
    """
    ups, downs = (
        rows[np.argsort(-slacks[rows], kind="stable")]
        for rows in (np.flatnonzero((signs == sign) & (slacks > 0)) for sign in (1.0, -1.0))
    )
    size = min(ups.size, downs.size)
    ups, downs = ups[:size], downs[:size]
    # With the other label the slack s of a row is 2 - s, but not below 0.
    now = costs * slacks
    then = other_costs * np.maximum(2.0 - slacks, 0.0)
    lower = (then - now)[ups] + (then - now)[downs] < 0
    chosen = (slacks[ups] + slacks[downs] > 2.0 + room) & lower
    return ups[chosen], downs[chosen]


@dataclass
class LabelSwitching:
    """State of the rounds, each of which is one solution of the margin problem."""

    operator: Any
    signs: Array  # of all rows; those of unlabelled rows are set here
    costs: Array  # of all rows; those of unlabelled rows are set here
    unlabelled: Array  # positions of the unlabelled rows
    weights: Array  # of the unlabelled rows
    solve: Callable[[QuadraticProgram, Array | None], Solution]
    room: float  # by which slacks must be off before labels are switched
    max_rounds: int
    history: dict[str, list[Any]] = field(
        default_factory=lambda: {
            "objective": [],
            "negative_cost": [],
            "positive_cost": [],
            "switched": [],
            "n_iter": [],
        }
    )

    def run(self, goal: float, n_positive: int) -> bool:
        """Guess labels, then switch them at growing costs; return whether that was finished."""
        alpha = self._round(None, 0.0, 0.0, 0)  # unlabelled rows take no part
        if self.unlabelled.size == 0:
            return self.solution.status != "stopped"
        self.signs[self.unlabelled] = first_guesses(self.model.scores[self.unlabelled], n_positive)
        for negative, positive in growing_costs(goal, n_positive, self.unlabelled.size):
            ups = downs = self.unlabelled[:0]
            while True:
                if (
                    self.solution.status == "stopped"
                    or len(self.history["objective"]) >= self.max_rounds
                ):
                    return False
                self.signs[ups], self.signs[downs] = -1.0, 1.0
                alpha[ups] = alpha[downs] = 0.0
                alpha = self._round(alpha, negative, positive, ups.size)
                ups, downs = self._to_switch(negative, positive)
                if ups.size == 0:
                    break
        return True

    def _round(self, alpha: Array | None, negative: float, positive: float, switched: int) -> Array:
        """Solve for the hyperplane with the present labels and return the dual variables."""
        guesses = self.signs[self.unlabelled]
        self.costs[self.unlabelled] = self.weights * np.where(guesses > 0, positive, negative)
        program = c_svc_program(self.operator, self.signs, self.costs)
        self.solution = self.solve(program, alpha)
        self.model = read_c_svc(program, self.solution)
        entry = (self.model.objective, negative, positive, switched, self.solution.n_iter)
        for values, value in zip(self.history.values(), entry, strict=True):
            values.append(value)
        return np.array(self.solution.alpha)

    def _to_switch(self, negative: float, positive: float) -> tuple[Array, Array]:
        """Return positions of positive and of negative rows whose labels are to change places."""
        signs = self.signs[self.unlabelled]
        margins = signs * (self.model.scores[self.unlabelled] + self.model.intercept)
        others = self.weights * np.where(signs > 0, negative, positive)
        ups, downs = pairs_to_switch(
            np.maximum(1.0 - margins, 0.0), signs, self.costs[self.unlabelled], others, self.room
        )
        return self.unlabelled[ups], self.unlabelled[downs]
