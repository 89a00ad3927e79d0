"""The same dual, given to generic solvers of quadratic programs through cvxpy."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from benchmarks.multitask import rbf_dual

# Both solvers measure residuals with absolute parts in the scale of the problem, which here is the
# one of our own `tol`. An interior-point method hardly gains from a loose tolerance.
SETTINGS = {
    "Clarabel": lambda tol: {"tol_feas": tol, "tol_gap_abs": tol, "tol_gap_rel": tol},
    "OSQP": lambda tol: {"eps_abs": tol, "eps_rel": 0.0, "max_iter": 20_000},
}


@dataclass(frozen=True)
class Answer:
    """Multipliers, the solver's word on them, and the time it spent in its own code."""

    alpha: np.ndarray
    status: str
    solver_s: float


def solve_generic(solver: str, X: np.ndarray, domain: np.ndarray, nu: float, tol: float) -> Answer:
    """Compute the kernel matrix, state the program and let `solver` find the multipliers."""
    dual = rbf_dual(X, domain, nu)
    alpha = cp.Variable(dual.tasks.size)
    constraints = [alpha >= 0, alpha <= dual.upper]
    constraints += [
        cp.sum(alpha[np.flatnonzero(dual.tasks == task)]) == total
        for task, total in enumerate(dual.totals)
    ]
    # psd_wrap spares cvxpy the eigenvalues of a matrix that a kernel has made.
    objective = cp.Minimize(0.5 * cp.quad_form(alpha, cp.psd_wrap(dual.Q)))
    problem = cp.Problem(objective, constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is reported
        problem.solve(solver=solver.upper(), **SETTINGS[solver](tol))
    if alpha.value is None:
        raise RuntimeError(f"{solver}: {problem.status}")
    return Answer(
        np.asarray(alpha.value), problem.status, float(problem.solver_stats.solve_time or np.nan)
    )
