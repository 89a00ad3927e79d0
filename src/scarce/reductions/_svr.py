"""Regression inside a tube: its width is given (SVR), or the proportion outside it (nu-SVR)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.reductions._shares import RepeatedRows, shares_program
from scarce.solvers import QuadraticProgram, Solution, SymmetricOperator


@dataclass(frozen=True)
class TubeRegression:
    """What a solution of `svr_program` or `nu_svr_program` says."""

    # (n,): signed dual variables, the coefficients of the rows: positive where a value is too low
    coefficients: Array
    intercept: float  # constant of the values
    width: float  # half width of the tube
    # optimum of ``1/2 |w|^2 + sum_i C_i slack_i``, plus ``nu width sum_i C_i`` for nu-SVR
    objective: float


def svr_program(
    operator: SymmetricOperator, targets: Array, width: float, costs: Array
) -> QuadraticProgram:
    """Return the dual of a regression with absolute slacks outside a tube.

    Of ``2 n`` variables. ``width``: half width of the tube. ``costs``: of a unit of each row's
    slack.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import read_svr, svr_program
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x = np.array([-1.0, 1.0])
    >>> program = svr_program(DenseMatrix(np.outer(x, x)), 2.0 * x + 3.0, 0.5, np.full(2, 9.0))
    >>> model = read_svr(program, solve(program, tol=1e-9), 0.5)
    >>> float(model.coefficients @ x), model.intercept, model.objective
    (1.5, 3.0, 1.125)
    """
    return shares_program(operator, targets, np.full(targets.size, width), costs)


def read_svr(program: QuadraticProgram, solution: Solution, width: float) -> TubeRegression:
    """Return the model of a solution.

    ``width``: the half width given.
    """
    intercept = float(solution.multipliers[0])
    return TubeRegression(_signed(solution), intercept, width, solution.primal_objective)


def nu_svr_program(
    operator: SymmetricOperator, targets: Array, *, nu: float, costs: Array
) -> QuadraticProgram:
    """Return the dual of a regression whose tube is as wide as a proportion of rows allows.

    ``min 1/2 theta'K theta - t'theta`` for ``theta = a - a*``, both in ``[0, C_i]`` and both of the
    sum ``nu / 2 sum_i C_i``.

    Of ``2 n`` variables. ``costs``: ``C_i``, of a unit of each row's slack.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import nu_svr_program, read_nu_svr
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x, targets = np.zeros((3, 3)), np.array([0.0, 1.0, 4.0])
    >>> program = nu_svr_program(DenseMatrix(x), targets, nu=0.5, costs=np.ones(3))
    >>> model = read_nu_svr(program, solve(program, tol=1e-9))
    >>> model.intercept, model.width
    (2.0, 2.0)
    """
    sides = np.repeat([1.0, -1.0], targets.size)  # values too low and too high
    return QuadraticProgram(
        RepeatedRows(operator, np.tile(np.arange(targets.size), 2)),
        totals=[0.5 * nu * float(costs.sum())] * 2,
        upper=np.tile(costs, 2),
        linear=-sides * np.tile(targets, 2),
        groups=(sides > 0).astype(np.int64),
        kernel_signs=sides,
    )


def read_nu_svr(program: QuadraticProgram, solution: Solution) -> TubeRegression:
    """Return the model of a solution."""
    high, low = map(float, solution.multipliers)  # width - intercept, width + intercept
    return TubeRegression(
        _signed(solution), 0.5 * (low - high), 0.5 * (low + high), solution.primal_objective
    )


def _signed(solution: Solution) -> Array:
    low, high = np.split(solution.alpha, 2)
    return np.asarray(low - high)
