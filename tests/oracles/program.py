"""The family of quadratic programs as plain arrays, and its direct convex solution."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from .convex import feature_map, minimise


@dataclass(frozen=True)
class Program:
    """``min 1/2 a'Qa + p'a`` with ``sum_{i in g} s_i a_i = e_g`` for each group and a box.

    ``Q_ij = y_i y_j A[g_i, g_j] K_ij + [i = j] d_i``.
    """

    kernel: np.ndarray
    totals: np.ndarray
    groups: np.ndarray
    signs: np.ndarray
    kernel_signs: np.ndarray
    coupling: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    linear: np.ndarray
    diagonal: np.ndarray

    def arguments(self):
        """Everything but the kernel, as keyword arguments."""
        return {name: value for name, value in vars(self).items() if name != "kernel"}

    def matrix(self):
        """Q, entry by entry as in the definition."""
        y, g = self.kernel_signs, self.groups
        return np.outer(y, y) * self.coupling[np.ix_(g, g)] * self.kernel + np.diag(self.diagonal)

    def gradient(self, alpha):
        """Q a + p."""
        return self.matrix() @ alpha + self.linear

    def objective(self, alpha):
        """1/2 a'Qa + p'a."""
        return float(alpha @ (0.5 * self.matrix() @ alpha + self.linear))

    def infeasibility(self, alpha):
        """Largest violation of an equality or of a bound."""
        sums = np.bincount(self.groups, self.signs * alpha, minlength=len(self.totals))
        outside = np.maximum(self.lower - alpha, alpha - self.upper).max()
        return float(max(np.abs(sums - self.totals).max(), outside, 0.0))


def program(kernel, totals, **parts):
    """Fill the defaults of `Program` and expand scalars to one value per row."""
    n, n_groups = len(kernel), len(totals)
    values = {"lower": 0.0, "upper": np.inf, "linear": 0.0, "diagonal": 0.0}
    values |= {"signs": 1.0, "kernel_signs": 1.0, "groups": 0} | parts
    coupling = np.asarray(values.pop("coupling", np.ones((n_groups, n_groups))), dtype=float)
    groups = np.broadcast_to(values.pop("groups"), n).astype(np.intp)
    rows = {name: np.broadcast_to(v, n).astype(float) for name, v in values.items()}
    return Program(np.asarray(kernel), np.asarray(totals, float), groups, coupling=coupling, **rows)


def dual_optimum(problem):
    """Value and minimiser of a `Program` by the convex solver."""
    alpha = cp.Variable(len(problem.kernel))
    factor = feature_map(problem.matrix())
    membership = np.eye(len(problem.totals))[problem.groups]
    constraints = [(membership * problem.signs[:, None]).T @ alpha == problem.totals]
    for bound, side in ((problem.lower, 1), (problem.upper, -1)):
        finite = np.flatnonzero(np.isfinite(bound))
        if finite.size:
            constraints.append(side * alpha[finite] >= side * bound[finite])
    value = minimise(cp.sum_squares(factor.T @ alpha) / 2 + problem.linear @ alpha, constraints)
    return value, alpha.value
