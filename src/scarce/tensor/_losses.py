"""What the two machines differ in: the program of a half-step and the value of its solution.

Tensors are divided by the largest of their norms, so that tolerances mean the same for all data.
Each class says what that division does to its weights, multipliers and objective.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.solvers import QuadraticProgram, Solution, SymmetricOperator, one_class_offset

Array = NDArray[Any]


class OneClassLoss:
    """``1/2 |W|^2 - rho + C sum_i w_i max(0, rho - <W, X_i>)`` with ``C = 1 / (nu sum_i w_i)``.

    Parameters
    ----------
    nu : float
        Share of the weight that may be rejected.
    weights : ndarray of shape (n,)
        Weights, all positive.
    norm : float
        What the tensors are divided by.
    """

    half_step_tol = 1e-12  # of scores; the objective may be far below 1, the largest they can be

    def __init__(self, nu: float, weights: Array, norm: float) -> None:
        self.weights = weights
        self.price = 1.0 / (nu * float(weights.sum()))
        self.pull = weights
        self.weight_unit = norm
        self.multiplier_unit = 1.0
        self.objective_unit = norm**2
        self._program: QuadraticProgram | None = None  # of the first half-step

    def program(self, gram: SymmetricOperator) -> QuadraticProgram:
        """Return the dual of a half-step, (17): multipliers up to the price, their sum one."""
        if self._program is None:
            self._program = QuadraticProgram(gram, totals=[1.0], upper=self.price * self.weights)
        return self._program.with_kernel(gram)

    def coefficients(self, alpha: Array) -> Array:
        """Return the coefficients of the weight tensor."""
        return alpha

    def primal(self, solution: Solution) -> float:
        """Return the objective at the solution's weights and the offset that is best for them."""
        scores = solution.gradient
        rho = one_class_offset(scores, self.price, self.weights)
        slack = self.weights @ np.maximum(rho - scores, 0.0)
        return float(0.5 * (solution.alpha @ scores) - rho + self.price * slack)

    def violation_unit(self, objective: float) -> float:
        """Return the size of the scores: a violation of so much is an error of the objective."""
        return abs(objective)


class HingeLoss:
    """``1/2 |W|^2 + C sum_i w_i max(0, 1 - y_i (<W, X_i> + b))``.

    Parameters
    ----------
    C : float
        Price of a unit of slack.
    signs : ndarray of shape (n,)
        +1 or -1.
    weights : ndarray of shape (n,)
        Weights, all positive.
    norm : float
        What the tensors are divided by.
    """

    half_step_tol = 1e-10  # of margins

    def __init__(self, C: float, signs: Array, weights: Array, norm: float) -> None:
        self.signs = signs
        self.prices = C * weights * norm**2
        self.pull = signs * weights
        self.weight_unit = 1.0 / norm
        self.multiplier_unit = self.objective_unit = 1.0 / norm**2
        self._program: QuadraticProgram | None = None  # of the first half-step

    def program(self, gram: SymmetricOperator) -> QuadraticProgram:
        """Return the dual of a half-step, that of a C-SVC."""
        if self._program is None:
            self._program = QuadraticProgram(
                gram,
                totals=[0.0],
                upper=self.prices,
                linear=-1.0,
                signs=self.signs,
                kernel_signs=self.signs,
            )
        return self._program.with_kernel(gram)

    def coefficients(self, alpha: Array) -> Array:
        """Return the coefficients of the weight tensor."""
        return np.asarray(self.signs * alpha)

    def primal(self, solution: Solution) -> float:
        """Return the objective at the solution's weights and constant."""
        margins = solution.gradient + 1.0  # without the constant
        slacks = np.maximum(1.0 - margins - self.signs * solution.multipliers[0], 0.0)
        return float(0.5 * (solution.alpha @ margins) + self.prices @ slacks)

    def violation_unit(self, objective: float) -> float:
        """Return the size of the margins, which is one."""
        return 1.0


Loss = OneClassLoss | HingeLoss
