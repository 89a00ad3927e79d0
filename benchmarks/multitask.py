"""The dual of several coupled one-class tasks in plain float64 NumPy, and what a point is worth.

Nothing here imports the library under test. In the scale in which an optimum is compared with
``tol`` (the smallest box is 1) the problem is ``min 1/2 a'Qa`` with

    Q_ij = 1/2 (1 + [same task] / m) k(x_i, x_j),   sum of a task's a = totals_t,   0 <= a <= upper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.data import load
from benchmarks.verify import scale_gamma

TARGET_SHARE = 0.1  # of the rows, when there are sources
TASK_DISTANCE = 0.3  # of a source from the target, in standard deviations of each feature
BISECTIONS = 100


@dataclass(frozen=True)
class Dual:
    """The quadratic program of one inner problem, with all tasks' masses 1."""

    Q: np.ndarray
    tasks: np.ndarray  # 0 for the target
    totals: np.ndarray
    upper: np.ndarray
    unit: float  # a / unit is the spec's multiplier, which sums to 1 in every task
    coupling: float


@dataclass(frozen=True)
class Check:
    """What a point is worth.

    Attributes
    ----------
    objective : float
        Dual value (minimised) in the spec's scale, after projection onto the feasible set.
    kkt_violation : float
        Largest gain per unit of moved mass, compared with ``tol``, after projection. Multipliers
        that are nearly zero count in full, which interior-point methods always have.
    dual_gap : float
        Relative duality gap at the best offsets, after projection.
    infeasibility : float
        Distance of the point as given from the feasible set, largest component; a box is 1.
    """

    objective: float
    kkt_violation: float
    dual_gap: float
    infeasibility: float


def related_tasks(
    n: int, d: int, n_tasks: int, dtype: str, n_target: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and domains: a mixture, moved a little for each source; few target rows."""
    X = load("mixture", n, d).X
    domain = np.full(n, -1)
    if n_tasks > 1:
        sources = np.arange(n_target or round(TARGET_SHARE * n), n)
        domain[sources] = sources % (n_tasks - 1)
        moves = TASK_DISTANCE * np.random.default_rng(1).standard_normal((n_tasks - 1, d))
        X = X.copy()
        X[sources] += moves[domain[sources]].astype(np.float32)
    return X.astype(dtype), domain


def rbf_dual(X: np.ndarray, domain: np.ndarray, nu: float, coupling: float = 1.0) -> Dual:
    """Return the dual for ``gamma="scale"``, the same nu and coupling for every task."""
    _, tasks = np.unique(domain, return_inverse=True)  # the target's -1 comes first
    sizes = np.bincount(tasks)
    unit = nu * sizes.max()  # 1 / the smallest cost 1 / (nu size)
    X = X.astype(np.float64)
    norms = np.einsum("ij,ij->i", X, X)
    squared = np.maximum(norms[:, None] + norms - 2.0 * (X @ X.T), 0.0)
    Q = np.exp(-scale_gamma(X) * squared)
    Q *= 0.5 * (1.0 + (tasks[:, None] == tasks) / coupling)
    return Dual(
        Q, tasks, np.full(sizes.size, unit), unit / (nu * sizes[tasks]), float(unit), coupling
    )


def multipliers(model: Any, dual: Dual) -> np.ndarray:
    """Return the multipliers of a fitted `TransferOneClassSVM` from its public attributes."""
    same = dual.tasks[model.support_] == 0
    mixing = 0.5 * (1.0 + same / dual.coupling)  # how the target's plane weighs each row
    alpha = np.zeros(dual.tasks.size)
    alpha[model.support_] = np.ravel(model.task_dual_coef_[0]) / mixing * dual.unit
    return alpha


def check(dual: Dual, alpha: np.ndarray) -> Check:
    """Project `alpha` onto the feasible set, so that objectives compare, and judge it."""
    feasible = _projected(dual, alpha)
    gradient = dual.Q @ feasible
    can_rise = feasible < dual.upper * (1.0 - 1e-9)
    can_fall = feasible > dual.upper * 1e-9
    quadratic = float(feasible @ gradient)
    violation, gap = 0.0, quadratic
    for task, total in enumerate(dual.totals):
        own = dual.tasks == task
        rank = max(int(np.ceil(total / dual.upper[own][0] - 1e-9)) - 1, 0)
        offset = np.partition(gradient[own], rank)[rank]
        gap += (dual.upper[own] * np.maximum(offset - gradient[own], 0.0)).sum() - total * offset
        if (own & can_rise).any() and (own & can_fall).any():
            worst = gradient[own & can_fall].max() - gradient[own & can_rise].min()
            violation = max(violation, float(worst))
    return Check(
        objective=0.5 * quadratic / dual.unit**2,
        kkt_violation=violation,
        dual_gap=float(gap / (0.5 * quadratic)),
        infeasibility=float(np.abs(feasible - alpha).max()),
    )


def linear_primal(model: Any, X: Any, domain: np.ndarray, nu: float, radius: float) -> float:
    """Return the primal objective of a linear model's weights, at the best offsets and shifts.

    It is ``|w_0|^2 + sum_t |v_t|^2 - rho_t + sum of slacks / (nu size)``, couplings and masses 1.
    The best shift adds ``radius |w_t|`` to a row's score. No kernel and no multiplier takes part.
    """
    _, tasks = np.unique(domain, return_inverse=True)
    support = model.support_vectors_.astype(np.float64)
    planes = np.asarray((support.T @ np.asarray(model.task_dual_coef_).T).T)
    # w_t = w_0 + v_t and, at the optimum, w_0 = sum of v_t.
    shared = planes.sum(axis=0) / (planes.shape[0] + 1)
    value = float(shared @ shared)
    for task, plane in enumerate(planes):
        scores = np.asarray(X[tasks == task].astype(np.float64) @ plane)
        scores += radius * np.linalg.norm(plane)
        rank = max(int(np.ceil(nu * scores.size - 1e-9)) - 1, 0)
        offset = float(np.partition(scores, rank)[rank])
        own = plane - shared
        value += float(own @ own) - offset + np.maximum(offset - scores, 0.0).mean() / nu
    return value


def _projected(dual: Dual, alpha: np.ndarray) -> np.ndarray:
    result = np.empty_like(alpha)
    for task, total in enumerate(dual.totals):
        own = np.flatnonzero(dual.tasks == task)
        values, upper = alpha[own], dual.upper[own]
        low, high = -values.max() - 1.0, upper.max() - values.min() + 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if np.clip(values + middle, 0.0, upper).sum() < total:
                low = middle
            else:
                high = middle
        # Bisection leaves rounding errors, and interior-point methods leave dust at every bound.
        shift = 0.5 * (low + high)
        result[own] = values if abs(shift) < 1e-12 else np.clip(values + shift, 0.0, upper)
    return np.clip(result, 0.0, dual.upper)
