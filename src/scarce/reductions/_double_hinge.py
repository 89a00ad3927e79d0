"""Positive and unlabelled rows with a known class prior: the unbiased risk of the double hinge."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array
from scarce.reductions._svc import MarginModel
from scarce.solvers import QuadraticProgram, Solution, SymmetricOperator


def double_hinge_program(
    operator: SymmetricOperator, labelled_sums: Array, costs: Array, total: float
) -> QuadraticProgram:
    """Return the dual of the unbiased risk of du Plessis, Niu and Sugiyama (2015).

    ``min 1/2 |w|^2 - sum_i c_i f(x_i) + sum_j C_j max(0, (1 + f(x_j)) / 2, f(x_j))`` over labelled
    rows ``i`` and unlabelled rows ``j``, with ``f(x) = w.x + b``. The last loss is the sum of the
    two hinges ``max(0, 1 + f) / 2`` and ``max(0, f - 1) / 2``, so that the dual has two variables
    per unlabelled row in ``[0, C_j / 2]``; each labelled row has the fixed coefficient ``c_i``, and
    the variables sum to what those sum to.

    ``operator``: the kernel matrix of the unlabelled rows. ``labelled_sums``: ``sum_i c_i k(x_i,
    x_j)``, what the labelled rows say of each unlabelled one. ``costs``: costs ``C_j`` of the
    unlabelled rows. ``total``: sum of the ``c_i``, at most that of the costs. Returned: of ``2 n``
    variables, whose solution `read_double_hinge` turns into a model.

    Examples
    --------
    A labelled row at 2, unlabelled ones at -1 and 2 of which half are positive:

    >>> import numpy as np
    >>> from scarce.reductions import double_hinge_program, read_double_hinge
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x = np.array([-1.0, 2.0])
    >>> program = double_hinge_program(
    ...     DenseMatrix(np.outer(x, x)), labelled_sums=2.0 * x, costs=np.ones(2), total=1.0
    ... )
    >>> model = read_double_hinge(program, solve(program, tol=1e-9))
    >>> w = float(model.coefficients @ x) + 2.0
    >>> round(w, 6), round(model.intercept, 6)
    (0.666667, -0.333333)
    """
    n = operator.n
    twice = operator.subset(np.tile(np.arange(n), 2))
    linear = np.concatenate([-labelled_sums - 1.0, -labelled_sums + 1.0])
    return QuadraticProgram(twice, totals=[total], upper=np.tile(costs / 2.0, 2), linear=linear)


def read_double_hinge(program: QuadraticProgram, solution: Solution) -> MarginModel:
    """Return the model of a solution.

    Returned: coefficients and scores of the unlabelled rows, intercept, and the objective without
    the part ``-1/2 sum_ii' c_i c_i' k(x_i, x_i')`` of the labelled rows alone.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import double_hinge_program, read_double_hinge
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x = np.array([-1.0, 2.0])
    >>> program = double_hinge_program(
    ...     DenseMatrix(np.outer(x, x)), labelled_sums=2.0 * x, costs=np.ones(2), total=1.0
    ... )
    >>> model = read_double_hinge(program, solve(program, tol=1e-9))
    >>> (model.scores + model.intercept).round(6)
    array([-1.,  1.])
    """
    n = solution.alpha.size // 2
    # The first half's gradient is -(f - b) - 1, and level with -b where f is -1.
    return MarginModel(
        coefficients=np.asarray(-(solution.alpha[:n] + solution.alpha[n:])),
        intercept=-float(solution.multipliers[0]),
        objective=solution.primal_objective,
        scores=np.asarray(-solution.gradient[:n] - 1.0),
    )
