"""The C-SVC: two classes, a price for every unit of slack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
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


def c_svc_program(operator: SymmetricOperator, signs: Array, prices: Array) -> QuadraticProgram:
    """Return the dual of a C-SVC.

    ``min 1/2 sum_ij y_i y_j a_i a_j k_ij - sum a`` with ``y'a = 0`` and ``0 <= a_i <= C_i``.

    Parameters
    ----------
    operator : operator
        The kernel matrix.
    signs : ndarray of shape (n,)
        The classes ``y``, +1 or -1.
    prices : ndarray of shape (n,)
        Price ``C_i`` of a unit of each row's slack; infinite for none.

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
    return QuadraticProgram(
        operator, totals=[0.0], upper=prices, linear=-1.0, signs=signs, kernel_signs=signs
    )


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
