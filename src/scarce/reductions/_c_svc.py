"""The C-SVC: two classes, a cost for every unit of slack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.reductions._terms import Terms, program_of
from scarce.solvers import QuadraticProgram, Solution, SymmetricOperator


@dataclass(frozen=True)
class MarginModel:
    """What a solution of `c_svc_program` says; see `read_c_svc`.

    Attributes
    ----------
    coefficients : ndarray of shape (n,)
        Signed dual variables, the coefficients of the rows in the decision function.
    intercept : float
        Constant of the decision function.
    objective : float
        Optimum of ``1/2 |w|^2 + sum_i C_i slack_i``.
    scores : ndarray of shape (n,)
        Decision values of the rows without the intercept.
    """

    coefficients: Array
    intercept: float
    objective: float
    scores: Array


@dataclass(frozen=True)
class MarginProblem:
    """The dual of a C-SVC, or of a nu-SVC in LIBSVM's scale.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The labels; the second is the positive one.
    costs : ndarray of shape (2,)
        Bound of a row of weight 1 of each class.
    mass : float or None
        For a nu-SVC, what the variables of each class sum to.
    """

    classes: Array
    costs: Array
    mass: float | None = None

    @property
    def totals(self) -> Array:
        """Zero, or the mass of each class."""
        return np.zeros(1) if self.mass is None else np.full(2, self.mass)

    @property
    def coupling(self) -> Array:
        """One weight vector for all groups."""
        return np.ones((1, 1) if self.mass is None else (2, 2))

    def terms(self, weights: Array, values: Mapping[str, Array]) -> Terms:
        """Return signs that are the labels ``y``, and bounds that are costs times weights."""
        codes = (values["y"] == self.classes[1]).astype(np.int64)
        labels = 2.0 * codes - 1.0
        upper = self.costs[codes] * weights
        ones = np.ones_like(labels)
        if self.mass is None:
            return Terms(np.zeros_like(codes), labels, labels, -ones, upper)
        return Terms(codes, ones, labels, np.zeros_like(labels), upper)


SIGNS = np.array([-1.0, 1.0])  # the labels of rows in memory


def check_signs(signs: Array) -> None:
    """Refuse classes that are not +1 and -1."""
    wrong = signs[np.abs(signs) != 1]
    if wrong.size:
        raise ValueError(f"signs must hold only +1 and -1, got {wrong[0]}")


def c_svc_program(operator: SymmetricOperator, signs: Array, costs: Array) -> QuadraticProgram:
    """Return the dual of a C-SVC.

    ``min 1/2 sum_ij y_i y_j a_i a_j k_ij - sum a`` with ``y'a = 0`` and ``0 <= a_i <= C_i``.

    Parameters
    ----------
    operator : operator
        The kernel matrix.
    signs : ndarray of shape (n,)
        The classes ``y``, +1 or -1.
    costs : ndarray of shape (n,)
        Cost ``C_i`` of a unit of each row's slack; infinite for none.

    Returns
    -------
    QuadraticProgram
        Whose solution `read_c_svc` turns into a model.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import c_svc_program, read_c_svc
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x, y = np.array([-1.0, 3.0]), np.array([-1.0, 1.0])
    >>> program = c_svc_program(DenseMatrix(np.outer(x, x)), y, np.full(2, 10.0))
    >>> model = read_c_svc(program, solve(program, tol=1e-9))
    >>> float(model.coefficients @ x), model.intercept, model.objective
    (0.5, -0.5, 0.125)
    """
    check_signs(signs)
    problem = MarginProblem(SIGNS, np.ones(2))
    return program_of(problem, operator, problem.terms(costs, {"y": signs}))


def read_c_svc(program: QuadraticProgram, solution: Solution) -> MarginModel:
    """Return the model of a solution.

    Parameters
    ----------
    program : QuadraticProgram
        Of `c_svc_program`.
    solution : Solution
        Its solution.

    Returns
    -------
    MarginModel
        Coefficients, intercept, objective and scores.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import c_svc_program, read_c_svc
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x, y = np.array([-1.0, 3.0]), np.array([-1.0, 1.0])
    >>> program = c_svc_program(DenseMatrix(np.outer(x, x)), y, np.full(2, 10.0))
    >>> read_c_svc(program, solve(program, tol=1e-9)).scores
    array([-0.5,  1.5])
    """
    signs = program.signs
    return MarginModel(
        coefficients=np.asarray(signs * solution.alpha),
        intercept=float(solution.multipliers[0]),
        objective=solution.primal_objective,
        scores=np.asarray(signs * (solution.gradient + 1.0)),
    )
