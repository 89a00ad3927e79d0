"""Left-out scores of a machine of one task, exact and lazily for few rows, by parts for many.

Scores are those of the program's scale: ``(K a)_i + linear_i``. The coefficients always sum to what
they do in the model of all rows, so that all scores are on one scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._frame import is_optimal
from scarce._left_out import lazy_scores, warm_start
from scarce.solvers import DenseMatrix, QuadraticProgram, Solution, feasible_start, solve

LAZILY = 200  # distinct rows up to which the exact rule is used


@dataclass
class SmallSample:
    """Distinct rows and the model of all of them, the kernel matrix stored.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        The kernel matrix.
    weights, linear, alpha : ndarray of shape (n,)
        Weights, linear term of the program, coefficients of the model.
    tol : float
        Of the solver.
    solved : bool
        Whether all fits without rows so far reached it.
    """

    matrix: Array
    weights: Array
    linear: Array
    alpha: Array
    tol: float
    solved: bool = True

    def lazily(self, false_alarms: float) -> tuple[Array, Array]:
        """Return left-out scores, exact up to the threshold, and which are exact."""
        scores, known = lazy_scores(
            self.sums_without,
            scores=self.matrix @ self.alpha,
            coefficients=self.alpha,
            diagonal=self.matrix.diagonal(),
            linear=self.linear,
            weights=self.weights,
            false_alarms=false_alarms,
        )
        return scores, known

    def sums_without(self, part: Array) -> Array:
        """Return the scores of some rows by the model of the others."""
        upper = self.weights.copy()
        upper[part] = 0.0
        mass = float(self.alpha.sum())
        total = mass_without(mass, self.weights, part)
        coefficients, solution = coefficients_without(
            DenseMatrix(self.matrix), upper, self.linear, self.alpha, mass, total, tol=self.tol
        )
        self.solved &= is_optimal(solution, self.tol)
        return np.asarray(self.matrix[part] @ coefficients + self.linear[part])


def mass_without(mass: float, weights: Array, part: Array) -> float:
    """Return what the coefficients of a model without some of the distinct rows sum to.

    Without one row the bounds of the others stay, so that a row which is no support vector changes
    nothing. Without a tenth of the rows that would be a larger `nu`, whose scores are higher, and
    `nu` stays.
    """
    rest = float(weights.sum() - weights[part].sum())
    # With nu near 1 the others alone cannot carry the mass: each is at its bound then.
    return min(mass, rest) if part.size == 1 else mass * rest / float(weights.sum())


def coefficients_without(
    operator: Any,
    upper: Array,
    linear: Array,
    start: Array,
    mass: float,
    total: float,
    **options: Any,
) -> tuple[Array, Solution]:
    """Return the coefficients of a model of fewer rows, on the scale of the model of all.

    And the solution they come from.

    ``upper`` are weights, zero for rows left out that the operator still has; ``start`` are
    coefficients in the model of all rows, whose sum over all rows is ``mass``; those of the others
    are to sum to ``total``, and are scaled up to the mass.
    """
    program = QuadraticProgram(
        operator, totals=[total], upper=upper, linear=linear * (total / mass)
    )
    left = warm_start(np.where(upper > 0, start, 0.0), total)
    begin = None if left is None else feasible_start(program, left)
    solution = solve(program, start=begin, **options)
    return np.asarray(solution.alpha * (mass / total)), solution
