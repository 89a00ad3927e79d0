"""Half-steps of tensor machines: one mode's factor, the others held.

Tensors are divided by the largest of their norms, so that tolerances mean the same for all data.
Each class says what that division does to its weights, dual variables and objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scarce._arrays import Array
from scarce.reductions._svc import c_svc_program
from scarce.solvers import (
    QuadraticProgram,
    Solution,
    SymmetricOperator,
    certify,
    one_class_offset,
)


@dataclass(frozen=True)
class HalfStepModel:
    """What a solution of a half-step says."""

    coefficients: Array  # (n,): coefficients of the samples in the weight tensor
    objective: float  # the primal objective at these weights and the constant that is best for them
    # violation of the optimality conditions, relative to the size of scores or margins
    kkt_violation: float
    dual_gap: float  # relative duality gap


@dataclass(frozen=True)
class OneClassHalfStep:
    """``1/2 |W|^2 - rho + C sum_i w_i max(0, rho - <W, X_i>)`` with ``C = 1 / (nu sum_i w_i)``.

    ``nu``: proportion of the weight that may be rejected. ``weights``: weights, all positive.
    ``norm``: what the tensors are divided by.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import OneClassHalfStep
    >>> from scarce.solvers import DenseMatrix, solve
    >>> problem = OneClassHalfStep(nu=0.5, weights=np.ones(2), norm=1.0)
    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0]])  # contracted with the other factors
    >>> gram = DenseMatrix(rows @ rows.T, definite=True)
    >>> solution = solve(problem.program(gram), tol=problem.tol)
    >>> problem.read(solution, gram).coefficients
    array([0.5, 0.5])
    """

    nu: float
    weights: Array
    norm: float

    tol = 1e-12  # of scores; the objective may be far below 1, the largest they can be

    @cached_property
    def cost(self) -> float:
        """Cost of a unit of slack."""
        return 1.0 / (self.nu * float(self.weights.sum()))

    @property
    def slack_coefficients(self) -> Array:
        """Coefficients of the weight tensor of a model that is all slack, up to a factor."""
        return self.weights

    @property
    def weight_scale(self) -> float:
        """What the weights of the data's own scale are in those of divided tensors."""
        return self.norm

    @property
    def coefficient_scale(self) -> float:
        """The same of coefficients."""
        return 1.0

    @property
    def objective_scale(self) -> float:
        """The same of objectives."""
        return self.norm**2

    def program(self, gram: SymmetricOperator) -> QuadraticProgram:
        """Return the dual of a half-step, (17): variables up to the cost, their sum one."""
        return QuadraticProgram(gram, totals=[1.0], upper=self.cost * self.weights)

    def read(self, solution: Solution, gram: SymmetricOperator) -> HalfStepModel:
        """Return what a solution says; violations count against the size of the scores."""
        scores = solution.gradient
        rho = one_class_offset(scores, self.cost, self.weights)
        slack = self.weights @ np.maximum(rho - scores, 0.0)
        objective = float(0.5 * (solution.alpha @ scores) - rho + self.cost * slack)
        size = max(abs(objective), SMALLEST_SIZE)
        violation = solution.kkt_violation / size
        return HalfStepModel(solution.alpha, objective, violation, solution.dual_gap)


# Of tensors of norm one: dual variables above it would leave the margins no correct digit. Where
# none gets there, a larger cost has the same solution.
LARGEST_COST = 1e12
SLACK_ROUNDING = 16 * float(np.finfo(np.float64).eps)
SMALLEST_SIZE = 1e-6  # of scores of tensors of norm one, whose violations are known to `tol`


@dataclass(frozen=True)
class BinaryHalfStep:
    """``1/2 |W|^2 + C sum_i w_i max(0, 1 - y_i (<W, X_i> + b))``.

    ``C``: cost of a unit of slack. ``signs``: the classes ``y``, +1 or -1. ``weights``: weights,
    all positive. ``norm``: what the tensors are divided by.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import BinaryHalfStep
    >>> from scarce.solvers import DenseMatrix, solve
    >>> problem = BinaryHalfStep(C=9.0, signs=np.array([-1.0, 1.0]), weights=np.ones(2), norm=1.0)
    >>> rows = np.array([[-1.0], [1.0]])  # contracted with the other factors
    >>> gram = DenseMatrix(rows @ rows.T, definite=True)
    >>> solution = solve(problem.program(gram), tol=problem.tol)
    >>> problem.read(solution, gram).coefficients @ rows
    array([1.])
    """

    C: float
    signs: Array
    weights: Array
    norm: float

    tol = 1e-10  # of margins

    @property
    def costs(self) -> Array:
        """Costs of a unit of each sample's slack."""
        return np.asarray(self.C * self.weights * self.norm**2)

    @property
    def slack_coefficients(self) -> Array:
        """Coefficients of the weight tensor of a model that is all slack, up to a factor."""
        return np.asarray(self.signs * self.weights)

    @property
    def weight_scale(self) -> float:
        """What the weights of the data's own scale are in those of divided tensors."""
        return 1.0 / self.norm

    @property
    def coefficient_scale(self) -> float:
        """The same of coefficients."""
        return 1.0 / self.norm**2

    @property
    def objective_scale(self) -> float:
        """The same of objectives."""
        return 1.0 / self.norm**2

    def program(self, gram: SymmetricOperator) -> QuadraticProgram:
        """Return the dual of a half-step, that of a C-SVC."""
        return c_svc_program(gram, self.signs, np.minimum(self.costs, LARGEST_COST))

    def read(self, solution: Solution, gram: SymmetricOperator) -> HalfStepModel:
        """Return what a solution says; violations count against margins of one."""
        costs, alpha = self.costs, solution.alpha
        margins = solution.gradient + 1.0  # without the constant
        slacks = np.maximum(1.0 - margins - self.signs * solution.multipliers[0], 0.0)
        # Samples on the margin have none: at a high cost its rounding would cost more than weights.
        rounding = slacks <= SLACK_ROUNDING * (1.0 + alpha.sum())
        slacks[rounding & (alpha < np.minimum(costs, LARGEST_COST))] = 0.0
        objective = float(0.5 * (alpha @ margins) + costs @ slacks)
        violation, gap = solution.kkt_violation, solution.dual_gap
        if ((alpha >= LARGEST_COST) & (costs > LARGEST_COST)).any():
            # What was solved is the problem of a lower cost. Claims are of the one that was asked.
            asked = certify(c_svc_program(gram, self.signs, costs), alpha)
            violation, gap = max(violation, asked.kkt_violation), max(gap, asked.dual_gap)
        return HalfStepModel(np.asarray(self.signs * alpha), objective, violation, gap)


HalfStep = OneClassHalfStep | BinaryHalfStep
