"""A primal problem in explicit features, solved by an interior-point method."""

from dataclasses import dataclass, field

import cvxpy as cp
import numpy as np

_TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def minimise(objective, constraints=()):
    """Minimise a convex expression; the variables keep the solution. Returns the value."""
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    problem.solve(solver=cp.CLARABEL, **_TIGHT)
    if problem.status != cp.OPTIMAL:
        raise ArithmeticError(f"the reference solver ended with status {problem.status}")
    return float(problem.value)


@dataclass(frozen=True)
class Primal:
    """Objective in weights and offsets only: slacks are eliminated as positive parts.

    Therefore `value_at` is the true primal objective of any pair, whoever computed it, and a pair
    is optimal exactly when it reaches the value found by `solve`.
    """

    objective: cp.Expression
    weights: cp.Variable
    offsets: cp.Variable
    scores: cp.Expression
    constraints: tuple = field(default=())

    def solve(self):
        """Optimal value; `weights.value`, `offsets.value` and `scores.value` are set."""
        return minimise(self.objective, self.constraints)

    def value_at(self, weights, offsets):
        """Objective of a given pair."""
        self.weights.value = np.asarray(weights, dtype=float)
        self.offsets.value = np.atleast_1d(np.asarray(offsets, dtype=float))
        return float(np.sum(self.objective.value))


def feature_map(kernel):
    """Rows whose inner products are the kernel matrix (eigenvalues that are rounding dropped)."""
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2)
    keep = values > 1e-14 * max(values[-1], 0.0)
    if not keep.any():
        return np.zeros((len(kernel), 1))
    return vectors[:, keep] * np.sqrt(values[keep])
