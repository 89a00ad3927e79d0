"""A C-SVC that keeps the domains' mean scores together (LMPROJ).

``1/2 |w|^2 + penalty/2 (w'd)^2``, ``d`` the difference of the means, is a norm of its own: that of
the kernel ``k(x, x') - factor D(x) D(x')`` with ``D(x) = phi(x)'d`` and
``factor = penalty / (1 + penalty |d|^2)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.kernels import DeflatedOperator
from scarce.reductions._svc import c_svc_program, read_c_svc
from scarce.solvers import QuadraticProgram, Solution, SymmetricOperator


@dataclass(frozen=True)
class MeanShift:
    """The difference of two domains' means in feature space; see `mean_shift`."""

    coefficients: Array  # (n,): the difference as a combination of the rows; zeros for one domain
    along: Array  # (n,): inner product of every row with it
    squared: float  # its squared norm
    factor: float  # what the kernel loses along it
    rest: float  # ``1 / (1 + penalty squared)``: what is left of a difference of mean scores


@dataclass(frozen=True)
class DeflatedModel:
    """What a solution of `deflated_margin_program` says; see `read_deflated_margin`."""

    # (n,): coefficients of all rows in the decision function, with the plain kernel
    coefficients: Array
    intercept: float  # constant of the decision function
    objective: float  # optimum of ``1/2 |w|^2 + penalty/2 (w'd)^2 + sum_i C_i slack_i``
    mean_difference: float  # ``w'd``, what is left of the difference of the mean scores


def mean_shift(
    operator: SymmetricOperator, weights: Array, source: Array, penalty: float
) -> MeanShift:
    """Return the difference of the weighted means of source and target rows.

    ``operator``: the kernel matrix of the rows of both domains. ``weights``: weights of the rows.
    ``source``: which rows are of the source; where all are, there is no difference. ``penalty``:
    cost of half the squared difference of the mean scores. Returned: the difference, for
    `deflated_margin_program`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import mean_shift
    >>> from scarce.solvers import DenseMatrix
    >>> K = DenseMatrix(np.outer([1.0, 3.0], [1.0, 3.0]))
    >>> shift = mean_shift(K, np.ones(2), np.array([True, False]), penalty=0.5)
    >>> shift.along, shift.squared, round(shift.factor, 6)
    (array([-2., -6.]), 4.0, 0.166667)
    """
    coefficients, along = np.zeros(weights.size), np.zeros(weights.size)
    if not source.all():
        ours, theirs = np.where(source, weights, 0.0), np.where(source, 0.0, weights)
        coefficients = ours / ours.sum() - theirs / theirs.sum()
        columns, every = np.flatnonzero(coefficients), np.zeros(operator.n, np.int64)
        operator.accumulate(columns, coefficients[None, columns], every, along, np.float64)
    squared = max(float(coefficients @ along), 0.0)  # below 0 by rounding, or of no true kernel
    rest = 1.0 / (1.0 + penalty * squared)
    return MeanShift(coefficients, along, squared, penalty * rest, rest)


def deflated_margin_program(
    operator: SymmetricOperator, shift: MeanShift, labelled: Array, signs: Array, costs: Array
) -> QuadraticProgram:
    """Return the dual of a C-SVC on the labelled rows with the deflated kernel.

    ``operator``: the kernel matrix of the rows of both domains. ``shift``: the difference of the
    domains' means. ``labelled``: the rows of the source. ``signs``, ``costs``: their classes, +1 or
    -1, and the costs of their slacks. Returned: whose solution `read_deflated_margin` turns into a
    model.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import deflated_margin_program, mean_shift, read_deflated_margin
    >>> from scarce.solvers import DenseMatrix, solve
    >>> X = np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 3.0], [2.0, 4.0]])
    >>> K, source = DenseMatrix(X @ X.T), np.array([True, True, False, False])
    >>> shift = mean_shift(K, np.ones(4), source, penalty=1e6)
    >>> labelled, signs = np.array([0, 1]), np.array([-1.0, 1.0])
    >>> program = deflated_margin_program(K, shift, labelled, signs, np.full(2, 9.0))
    >>> model = read_deflated_margin(shift, labelled, program, solve(program, tol=1e-9))
    >>> (model.coefficients @ X).round(3) + 0.0
    array([1., 0.])
    """
    part = operator if labelled.size == operator.n else operator.subset(labelled)
    deflated = DeflatedOperator(part, np.sqrt(shift.factor) * shift.along[labelled])
    return c_svc_program(deflated, signs, costs)


def read_deflated_margin(
    shift: MeanShift, labelled: Array, program: QuadraticProgram, solution: Solution
) -> DeflatedModel:
    """Return the model of a solution, over the rows of both domains.

    ``shift``: as given to `deflated_margin_program`. ``labelled``: likewise. Returned:
    coefficients, intercept, objective and the difference that is left.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import deflated_margin_program, mean_shift, read_deflated_margin
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x, labelled, signs = np.array([-1.0, 1.0, 3.0]), np.array([0, 1]), np.array([-1.0, 1.0])
    >>> K = DenseMatrix(np.outer(x, x))
    >>> shift = mean_shift(K, np.ones(3), np.array([True, True, False]), penalty=1.0)
    >>> program = deflated_margin_program(K, shift, labelled, signs, np.full(2, 99.0))
    >>> model = read_deflated_margin(shift, labelled, program, solve(program, tol=1e-9))
    >>> round(model.mean_difference, 6)
    -3.0
    """
    plain = read_c_svc(program, solution)
    coefficients = np.zeros(shift.along.size)
    coefficients[labelled] = plain.coefficients
    # w = sum of the labelled rows' terms - factor * (their sum along the difference) * difference.
    before = float(coefficients @ shift.along)
    coefficients -= shift.factor * before * shift.coefficients
    # Summed up from the coefficients, a small rest of a large difference would be rounding.
    return DeflatedModel(coefficients, plain.intercept, plain.objective, shift.rest * before)
