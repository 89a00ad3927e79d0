"""The one-class SVM: the hyperplane that keeps a sample away from the origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.solvers import (
    QuadraticProgram,
    Solution,
    SymmetricOperator,
    Terms,
    one_class_offset,
    program_of,
)


@dataclass(frozen=True)
class OneClassModel:
    """What a solution of `one_class_program` says; see `read_one_class`."""

    # (n,): coefficients of the rows in the score, LIBSVM's: the sum is nu times the total weight
    coefficients: Array
    offset: float  # rows of a score below it are outside
    # of this model: ``1/2 |w|^2 - rho + 1 / (nu W) sum_i w_i slack_i``, ``W`` the total weight
    objective: float


@dataclass(frozen=True)
class OneClassProblem:
    """The dual of a one-class SVM in LIBSVM's scale."""

    mass: float  # ``nu`` times the sum of all weights, which the dual variables sum to

    @property
    def totals(self) -> Array:
        """The mass."""
        return np.array([self.mass])

    @property
    def coupling(self) -> Array:
        """Nothing is coupled."""
        return np.array([[1.0]])

    def terms(self, weights: Array, values: Mapping[str, Array] | None = None) -> Terms:
        """Return bounds that are the weights."""
        n = weights.size
        ones = np.ones(n)
        return Terms(np.zeros(n, np.int64), ones, ones, np.zeros(n), weights)


def one_class_program(
    operator: SymmetricOperator, *, nu: float, weights: Array
) -> QuadraticProgram:
    """Return the dual of a one-class SVM in LIBSVM's scale.

    ``min 1/2 a'Ka`` with ``sum a = nu W`` and ``0 <= a_i <= w_i``.

    ``weights``: ``w_i``, all positive; ``W`` is their sum.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import one_class_program, read_one_class
    >>> from scarce.solvers import DenseMatrix, solve
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> program = one_class_program(DenseMatrix(X @ X.T), nu=0.5, weights=np.ones(2))
    >>> model = read_one_class(program, solve(program, tol=1e-9))
    >>> model.coefficients.round(6), round(model.offset, 6), round(model.objective, 6)
    (array([0.8, 0.2]), 0.8, -0.4)
    """
    problem = OneClassProblem(nu * float(weights.sum()))
    return program_of(problem, operator, problem.terms(weights))


def read_one_class(
    program: QuadraticProgram, solution: Solution, scores: Array | None = None
) -> OneClassModel:
    """Return the model of a solution.

    The offset is the equality's multiplier, an order statistic of the scores: rows of at most the
    proportion nu of the weight are below it. An approximated model is cut by its own scores.

    ``scores``: of the rows by an approximated model, or None.
    """
    mass = float(program.totals[0])
    if scores is None:
        offset = -float(solution.multipliers[0])
    else:
        offset = one_class_offset(scores, 1.0 / mass, program.upper)
    return OneClassModel(solution.alpha, offset, solution.primal_objective / mass / mass)
