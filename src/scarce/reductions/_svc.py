"""Two classes: the C-SVC with a cost of slack, the nu-SVC with a fraction of margin errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.solvers import QuadraticProgram, Solution, SymmetricOperator, Terms, program_of


@dataclass(frozen=True)
class MarginModel:
    """What a solution of `c_svc_program` says; see `read_c_svc`."""

    # (n,): signed dual variables, the coefficients of the rows in the decision function
    coefficients: Array
    intercept: float  # constant of the decision function
    objective: float  # optimum of ``1/2 |w|^2 + sum_i C_i slack_i``
    scores: Array  # (n,): decision values of the rows without the intercept


@dataclass(frozen=True)
class MarginProblem:
    """The dual of a C-SVC, or of a nu-SVC in LIBSVM's scale."""

    classes: Array  # (2,): the labels; the second is the positive one
    costs: Array  # (2,): bound of a row of weight 1 of each class
    mass: float | None = None  # for a nu-SVC, what the variables of each class sum to

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
        n = codes.size
        if self.mass is None:
            return Terms(np.zeros(n, np.int64), labels, labels, np.full(n, -1.0), upper)
        return Terms(codes, np.ones(n), labels, np.zeros(n), upper)


SIGNS = np.array([-1.0, 1.0])  # the labels of rows in memory


def check_signs(signs: Array) -> None:
    """Refuse classes that are not +1 and -1."""
    wrong = signs[np.abs(signs) != 1]
    if wrong.size:
        raise ValueError(f"signs must hold only +1 and -1, got {wrong[0]}")


def c_svc_program(operator: SymmetricOperator, signs: Array, costs: Array) -> QuadraticProgram:
    """Return the dual of a C-SVC.

    ``min 1/2 sum_ij y_i y_j a_i a_j k_ij - sum a`` with ``y'a = 0`` and ``0 <= a_i <= C_i``.

    ``signs``: the classes ``y``, +1 or -1. ``costs``: ``C_i``; infinite for no slack.

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
    """Return the model of a solution."""
    signs = program.signs
    return MarginModel(
        coefficients=np.asarray(signs * solution.alpha),
        intercept=float(solution.multipliers[0]),
        objective=solution.primal_objective,
        scores=np.asarray(signs * (solution.gradient + 1.0)),
    )


ROUNDING = 64 * float(np.finfo(np.float64).eps)  # margins below this share are not there


class NoMarginError(ValueError):
    """The exact solution is ``w = 0``, and its decisions mean nothing."""


@dataclass(frozen=True)
class NuMarginModel:
    """What a solution of `nu_svc_program` says; see `read_nu_svc`."""

    # (n,): signed coefficients of the rows in the decision function, LIBSVM's: dual variables over
    # the margin, so that decisions are +1 and -1 on its edges
    coefficients: Array
    intercept: float  # constant of the decision function
    margin: float  # the margin ``rho`` in the scale of the dual
    # optimum of ``1/2 |w|^2 - nu rho + 1 / W sum_i w_i slack_i``, ``W`` the total weight
    objective: float
    flat: bool  # whether weight vector and margin are next to nothing; see `is_flat`
    # norm, unit_margin: ``|w|`` and ``rho`` in the scale of the objective
    norm: float
    unit_margin: float


def largest_nu(signs: Array, weights: Array) -> float:
    """Return the largest feasible nu, twice the smaller class's proportion of the weight.

    ``signs``: the classes, +1 or -1. ``weights``: weights of the rows. Returned: in (0, 1] where
    both classes have rows.

    Examples
    --------
    >>> import numpy as np
    >>> largest_nu(np.array([1.0, -1.0, -1.0, -1.0]), np.ones(4))
    0.5
    """
    smaller = min(float(weights[signs > 0].sum()), float(weights[signs < 0].sum()))
    return 2.0 * smaller / float(weights.sum())


def is_flat(norm: float, margin: float, nu: float, radius: float) -> bool:
    """Say whether weight vector and margin of a nu-SVC are next to nothing: the classes overlap.

    Free of scale: the norm of the weight vector is at most nu times the largest norm of a row.

    ``norm``, ``margin``: ``|w|`` and ``rho`` where the dual variables sum to nu. ``radius``:
    largest norm of a row in feature space. Returned: whether both are small.

    Examples
    --------
    >>> is_flat(norm=1e-4, margin=1e-6, nu=0.1, radius=1.0)
    True
    """
    return bool(norm < 1e-2 * nu * radius and margin < 1e-4 * nu * radius**2)


def nu_svc_program(
    operator: SymmetricOperator, signs: Array, *, nu: float, weights: Array
) -> QuadraticProgram:
    """Return the dual of a nu-SVC in LIBSVM's scale.

    ``min 1/2 sum_ij y_i y_j a_i a_j k_ij`` with ``0 <= a_i <= w_i``, the dual variables of each
    class summing to half of nu times the total weight. Raises a ValueError with the admissible
    range when the class sizes do not allow that.

    ``signs``: the classes ``y``, +1 or -1. ``weights``: ``w_i``, all positive.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import nu_svc_program, read_nu_svc
    >>> from scarce.solvers import DenseMatrix, solve
    >>> x, y = np.array([-1.0, 3.0]), np.array([-1.0, 1.0])
    >>> program = nu_svc_program(DenseMatrix(np.outer(x, x)), y, nu=1.0, weights=np.ones(2))
    >>> model = read_nu_svc(program, solve(program, tol=1e-9))
    >>> float(model.coefficients @ x), model.intercept, model.margin, model.objective
    (0.5, -0.5, 8.0, -2.0)
    """
    check_signs(signs)
    check_nu(nu, largest_nu(signs, weights))
    problem = MarginProblem(SIGNS, np.ones(2), 0.5 * nu * float(weights.sum()))
    return program_of(problem, operator, problem.terms(weights, {"y": signs}))


def check_nu(nu: float, largest: float) -> None:
    """Refuse a nu above the largest that the class sizes allow.

    ``nu``, ``largest``: the parameter, and twice the smaller class's proportion of the weight.

    Examples
    --------
    >>> check_nu(0.5, 0.5)
    """
    if nu > largest * (1 + 1e-12):
        raise ValueError(
            f"specified nu is infeasible: nu={nu:g}, but the class sizes only allow "
            f"0 < nu <= {largest:g} (twice the smaller class's proportion)"
        )


def read_nu_svc(program: QuadraticProgram, solution: Solution) -> NuMarginModel:
    """Return the model of a solution; a `NoMarginError` when the exact solution is ``w = 0``."""
    return nu_margin_model(
        np.asarray(program.kernel_signs * solution.alpha),
        solution.multipliers,
        solution.objective,
        primal=solution.primal_objective,
        nu=2.0 * float(program.totals[0]) / float(program.upper.sum()),
        total=float(program.upper.sum()),
        largest=float(np.max(program.kernel.diagonal())),
    )


def nu_margin_model(
    coefficients: Array,
    multipliers: Array,
    objective: float,
    *,
    primal: float | None = None,
    nu: float,
    total: float,
    largest: float,
) -> NuMarginModel:
    """Return the model of dual variables, wherever they come from; see `read_nu_svc`.

    ``coefficients``: signed dual variables, or what they amount to in another expansion.
    ``multipliers``: of the equalities of the negative and the positive class. ``primal``: of the
    primal problem, at this model; minus the dual's by default. ``total``: sum of all weights.
    ``largest``: largest value of the kernel's diagonal. Returned: coefficients, intercept, margin
    and objective.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import nu_margin_model
    >>> nu_margin_model(
    ...     np.array([-1.0, 1.0]), np.array([-10.0, -6.0]), 8.0, nu=1.0, total=2.0, largest=9.0
    ... ).margin
    8.0
    """
    below, above = multipliers
    margin, constant = -0.5 * float(above + below), 0.5 * float(above - below)
    radius = float(np.sqrt(max(largest, 0.0)))
    norm = float(np.sqrt(max(2.0 * objective, 0.0))) / total
    if not margin / total > ROUNDING * nu * radius**2:
        raise NoMarginError(
            f"nu={nu:g} leaves no margin: the classes overlap so much that the exact solution is "
            "w = 0. Raise nu, use a narrower kernel, or use SVC."
        )
    with np.errstate(over="ignore"):  # found where the coefficients are kept
        scaled = np.asarray(coefficients / margin)
    return NuMarginModel(
        coefficients=scaled,
        intercept=constant / margin,
        margin=margin,
        objective=(-objective if primal is None else primal) / total / total,
        flat=is_flat(norm, margin / total, nu, radius),
        norm=norm,
        unit_margin=margin / total,
    )
