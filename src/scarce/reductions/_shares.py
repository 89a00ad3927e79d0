"""Label proportions by absolute slacks: tubes around the bags' mean scores (IC-SVM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.solvers import (
    FeatureSystem,
    QuadraticProgram,
    Solution,
    SymmetricOperator,
    one_class_offset,
    solve_tube,
)


@dataclass(frozen=True)
class SharesModel:
    """What a solution of `shares_program` says; see `read_shares`."""

    # (n,): signed dual variables of the bags, positive where a score is too low
    coefficients: Array
    offset: float  # constant of the scores, the best for these coefficients
    objective: float  # optimum of ``1/2 |w|^2 + sum_u C_u max(0, |t_u - w'mu_u - b| - eps_u)``


def shares_program(
    operator: SymmetricOperator, targets: Array, tubes: Array, costs: Array
) -> QuadraticProgram:
    """Return the dual of a regression with absolute slacks outside tubes.

    Every bag of rows with a label proportion has two dual variables: for a score too low,
    and for one too high.

    ``operator``: the kernel matrix of the bags. ``targets``, ``tubes``: wanted scores ``t`` and
    half widths ``eps`` of the tubes around them. ``costs``: cost ``C_u`` of a unit of slack.
    Returned: of ``2 n`` variables; `read_shares` turns its solution into a model.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import read_shares, shares_program
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x, targets, tubes = np.array([-1.0, 1.0]), np.array([-2.0, 2.0]), np.full(2, 0.5)
    >>> program = shares_program(DenseMatrix(np.outer(x, x)), targets, tubes, np.full(2, 9.0))
    >>> model = read_shares(program, solve(program, tol=1e-9))
    >>> float(model.coefficients @ x), model.offset, model.objective
    (1.5, 0.0, 1.125)
    """
    sides = np.repeat([1.0, -1.0], targets.size)  # scores too low and too high
    return QuadraticProgram(
        RepeatedRows(operator, np.tile(np.arange(targets.size), 2)),
        totals=[0.0],
        upper=np.tile(costs, 2),
        linear=np.concatenate([tubes - targets, tubes + targets]),
        signs=sides,
        kernel_signs=sides,
    )


def read_shares(program: QuadraticProgram, solution: Solution) -> SharesModel:
    """Return the model of a solution.

    Returned: coefficients of the bags, offset and objective.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import read_shares, shares_program
    >>> from scarce.solvers import DenseMatrix, solve
    >>> targets, tubes = np.array([1.0, 1.2, 4.0]), np.zeros(3)  # no rows tell them apart
    >>> program = shares_program(DenseMatrix(np.ones((3, 3))), targets, tubes, np.ones(3))
    >>> round(read_shares(program, solve(program)).offset, 6)  # the median
    1.2
    """
    n = program.linear.size // 2
    costs = program.upper[:n]
    low, high = program.linear[:n], program.linear[n:]  # eps - t and eps + t
    means = solution.gradient[:n] - low  # w'mu
    # The slacks are least between the middle ones of all ends of tubes.
    ends = np.concatenate([-low - means, high - means])
    largest = float(costs.max())  # costs may be tiny or huge, shares of them are neither
    weights = np.tile(costs / largest, 2)
    offset = one_class_offset(ends, 2.0 / weights.sum(), weights)
    coefficients = np.asarray(solution.alpha[:n] - solution.alpha[n:])
    return SharesModel(coefficients, offset, solution.primal_objective)


def rounded_shares(
    system: FeatureSystem, targets: Array, tubes: Array, costs: Array, tol: float
) -> Array:
    """Return dual variables near the solution, of losses whose kinks are rounded ever less.

    Where bags have few features nearly all dual variables are at their bounds, and pairwise steps
    take very long to find which are not. Newton steps on the rounded problem find them at once.

    ``system``: the bags by their features. ``targets``, ``tubes``, ``costs``: as for
    `shares_program`. ``tol``: tolerance in the scale of the targets. Returned: A start for that
    program.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import rounded_shares
    >>> from scarce.solvers import FeatureSystem
    >>> bags, targets = FeatureSystem(np.array([[-1.0], [1.0]])), np.array([-2.0, 2.0])
    >>> rounded_shares(bags, targets, np.full(2, 0.5), np.full(2, 9.0), 1e-3).round(3)
    array([0.  , 0.75, 0.75, 0.  ])
    """
    solution, kink = None, 1.0
    while kink > 0.05 * tol:  # in the scale of the scores
        solution = solve_tube(system, targets, tubes, costs / kink, costs, tol=tol, start=solution)
        kink *= 0.1
    assert solution is not None
    return np.concatenate([np.maximum(solution.theta, 0.0), np.maximum(-solution.theta, 0.0)])


class RepeatedRows(SymmetricOperator):
    """The matrix of an operator with some of its rows, each any number of times."""

    def __init__(self, base: SymmetricOperator, index: Array) -> None:
        self.base, self.index = base, index
        self.n = index.size
        self.name, self.definite = base.name, base.definite
        self.in_threads = base.in_threads

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Those of the operator."""
        return self.base.precisions

    def subset(self, indices: Array) -> RepeatedRows:
        """Return some of the rows."""
        return RepeatedRows(self.base, self.index[indices])

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(self.base.diagonal()[self.index])

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of some rows to ``out``."""
        self.base.write_block(self.index[indices], out)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[0, j] K[i, columns[j]]`` to every row; one group of variables."""
        distinct, where = np.unique(self.index[columns], return_inverse=True)
        merged = np.bincount(where, weights[0], minlength=distinct.size)[None, :]
        sums = np.zeros(self.base.n)
        self.base.accumulate(distinct, merged, np.zeros(self.base.n, np.int64), sums, precision)
        out += sums[self.index]

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64."""
        return self.base.reference(self.index[rows], self.index[columns])

    def error_bound(self, absolute_weights: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        merged = np.bincount(self.index, absolute_weights, minlength=self.base.n)
        return np.asarray(self.base.error_bound(merged, precision)[self.index])
