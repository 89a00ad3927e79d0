"""Support vector data description: the smallest ball around a sample in feature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.reductions._one_class import OneClassProblem
from scarce.solvers import (
    QuadraticProgram,
    Solution,
    SymmetricOperator,
    one_class_offset,
    program_of,
)


@dataclass(frozen=True)
class SVDDModel:
    """What a solution of `svdd_program` says; see `read_svdd`."""

    coefficients: Array  # (n,): the centre is ``c = sum_i coefficients[i] phi(x_i)``; the sum is 1
    # ``|c|^2 - R^2``, to be compared with the score ``|c|^2 - |phi(x) - c|^2``, which is ``2 sum_j
    # coefficients[j] k(x, x_j) - k(x, x)``
    offset: float
    objective: float  # optimum of ``R^2 + 1 / (nu W) sum_i w_i slack_i``, ``W`` the total weight


def svdd_program(
    operator: SymmetricOperator, diagonal: Array, *, nu: float, weights: Array
) -> QuadraticProgram:
    """Return the dual of a support vector data description, in the scale of a one-class SVM.

    ``min b'Kb - sum_i b_i k_ii`` with ``sum b = 1`` and ``0 <= b_i <= w_i / (nu W)``, written in
    ``a = nu W b``: ``min 1/2 a'Ka - nu W / 2 sum_i a_i k_ii``. Where ``k_ii`` is constant it is
    the dual of the one-class SVM, with the same solution.

    ``operator``: the kernel matrix ``K``, or that of the rows' projections: the centre then lies in
    the span of what they are projected on. ``diagonal``: the squared norms ``k_ii`` of the rows,
    not projected. ``weights``: ``w_i``, all positive; ``W`` is their sum.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import read_svdd, svdd_program
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x = np.array([0.0, 1.0, 4.0])
    >>> program = svdd_program(DenseMatrix(np.outer(x, x)), x**2, nu=0.3, weights=np.ones(3))
    >>> model = read_svdd(program, solve(program, tol=1e-9))
    >>> float(model.coefficients @ x), model.objective  # centre and squared radius
    (2.0, 4.0)
    """
    mass = nu * float(weights.sum())
    problem = OneClassProblem(mass)
    linear = svdd_linear_term(mass, diagonal)
    return program_of(problem, operator, problem.terms(weights), linear=linear)


def svdd_linear_term(mass: float, diagonal: Array) -> Array:
    """Return the linear term, ``-nu W / 2 k_ii``, for ``nu W`` and the squared norms."""
    return np.asarray(-0.5 * mass * diagonal)


def read_svdd(
    program: QuadraticProgram, solution: Solution, scores: Array | None = None
) -> SVDDModel:
    """Return the model of a solution.

    The offset is that of the equality's multiplier, as in `read_one_class`; an approximated model
    is cut by its own scores.

    ``scores``: of the rows by an approximated model, or None.
    """
    mass = float(program.totals[0])
    to_scores = 2.0 / mass  # from the gradient, K a - nu W / 2 k_ii
    if scores is None:
        offset = -to_scores * float(solution.multipliers[0])
    else:
        offset = one_class_offset(scores, 1.0 / mass, program.upper)
    objective = to_scores * (solution.primal_objective / mass)
    return SVDDModel(solution.alpha / mass, offset, objective)
