"""Check a fitted model from its public attributes, in plain float64 NumPy.

Nothing here imports the library under test or shares code with it: a mistake in its kernels cannot
hide itself. All problems are stated in LIBSVM's scale, ``min 1/2 a'Qa + p'a`` with

=========  ========  ==  ==========================  ======
problem    Q         p   equalities                  bounds
=========  ========  ==  ==========================  ======
one_class  K         0   sum a = nu n                [0, 1]
svc        y y' * K  -1  y'a = 0                     [0, C]
nu_svc     y y' * K  0   sum a = nu n / 2 per class  [0, 1]
=========  ========  ==  ==========================  ======

With the gradient ``G = Qa + p``, a point is optimal within ``tol`` when no equality has a pair of
rows between which mass can move with a gain above ``tol`` (`Verification.kkt_violation`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

VALUES_PER_TILE = 1 << 21  # 16 MB of float64 kernel values at a time
MAX_VALUES = 3_000_000_000  # beyond this many kernel values only a sample of rows is checked


@dataclass(frozen=True)
class Dual:
    """A fitted model: support rows, their signed coefficients, and rho (one-class) or b."""

    support: np.ndarray
    coef: np.ndarray
    offset: float


@dataclass(frozen=True)
class Verification:
    """What the coefficients are worth.

    Attributes
    ----------
    objective : float
        Dual objective, minimised; lower is better among feasible points.
    kkt_violation : float
        Largest gain per unit of moved mass, compared with ``tol``.
    dual_gap : float
        (Primal at the model's own offset - dual) / abs(dual); NaN when rows were sampled.
    infeasibility : float
        Largest violation of bounds and equalities, relative to the bound and the sum.
    n_support, rows_checked : int
        Number of support vectors; number of rows whose gradient was computed.
    """

    objective: float
    kkt_violation: float
    dual_gap: float
    infeasibility: float
    n_support: int
    rows_checked: int


def scale_gamma(X: np.ndarray | sparse.csr_matrix) -> float:
    """Return the value of ``gamma="scale"``, 1 / (n_features * variance of all entries)."""
    if sparse.issparse(X):
        data = X.data.astype(np.float64)
        size = X.shape[0] * X.shape[1]
        variance = (data**2).sum() / size - (data.sum() / size) ** 2
    else:
        variance = X.astype(np.float64).var()
    return float(1.0 / (X.shape[1] * variance))


def scores(
    X: np.ndarray | sparse.csr_matrix,
    points: np.ndarray | sparse.csr_matrix,
    coef: np.ndarray,
    kernel: str,
    gamma: float,
) -> np.ndarray:
    """Return ``sum_j coef_j k(x_i, points_j)`` for every row of `X`."""
    coef = np.asarray(coef, dtype=np.float64)
    if kernel == "linear":
        weight = np.asarray(points.T.astype(np.float64) @ coef)
        return np.asarray(X.astype(np.float64) @ weight)
    if kernel != "rbf":
        raise ValueError(f"no independent check of kernel {kernel!r}")
    tile = max(1, VALUES_PER_TILE // max(1, coef.size))
    result = np.empty(X.shape[0])
    # Distances keep their digits when the data are centred; sparse data stay as they are.
    centre = 0.0 if sparse.issparse(X) else points.mean(axis=0, dtype=np.float64)
    points = points.astype(np.float64) - centre if not sparse.issparse(X) else points.astype(float)
    point_norms = _squared_norms(points)
    for start in range(0, X.shape[0], tile):
        rows = X[start : start + tile].astype(np.float64)
        if not sparse.issparse(rows):
            rows = rows - centre
        product = rows @ points.T
        values = product.toarray() if sparse.issparse(product) else product
        values *= 2.0
        values -= _squared_norms(rows)[:, None]
        values -= point_norms
        np.minimum(values, 0.0, out=values)
        values *= gamma
        np.exp(values, out=values)
        result[start : start + tile] = values @ coef
    return result


def verify(
    problem: str,
    X: np.ndarray | sparse.csr_matrix,
    y: np.ndarray | None,
    dual: Dual,
    *,
    kernel: str = "rbf",
    gamma: float | None = None,
    nu: float | None = None,
    C: float | None = None,
    max_values: int = MAX_VALUES,
) -> Verification:
    """Recompute gradient, objective, KKT violation and duality gap of a fitted model.

    Parameters
    ----------
    problem : {"one_class", "svc", "nu_svc"}
    X : array or CSR matrix of shape (n, d)
    y : array of shape (n,) with values -1 and +1, or None for "one_class"
    dual : Dual
    kernel : {"rbf", "linear"}
    gamma : float or None
        None computes ``gamma="scale"``.
    nu, C : float
        The parameter of the problem.
    max_values : int
        Kernel values to compute at most. All support vectors and a random sample of the other rows
        are checked when the whole would exceed it.
    """
    n = X.shape[0]
    rows = _rows_to_check(n, dual.support, max_values if kernel != "linear" else None)
    signs = np.ones(n) if problem == "one_class" else np.asarray(y, dtype=np.float64)
    coef = np.asarray(dual.coef, dtype=np.float64)
    # LIBSVM divides nu-SVC's coefficients (and b) by the margin; its sum tells the divisor.
    margin = nu * n / np.abs(coef).sum() if problem == "nu_svc" else 1.0
    coef = coef * margin
    upper = C if problem == "svc" else 1.0
    alpha = np.zeros(n)
    np.add.at(alpha, dual.support, coef * signs[dual.support])

    gamma = scale_gamma(X) if gamma is None and kernel == "rbf" else gamma or 0.0
    value = np.full(n, np.nan)  # w'phi(x) of the rows to check
    value[rows] = scores(X[rows], X[dual.support], coef, kernel, gamma)
    squared_norm = float(coef @ value[dual.support])

    linear = -1.0 if problem == "svc" else 0.0
    gradient = signs * value + linear
    if problem == "nu_svc":
        groups = [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)]
        directions = np.ones(n)  # within one class all signs are equal
    else:
        groups, directions = [np.arange(n)], signs
    slack = _bound_slack(dual.coef.dtype) * upper
    violation = max(
        _violation(gradient[g], alpha[g], directions[g], upper, slack)
        for g in (np.intersect1d(group, rows) for group in groups)
    )
    objective = 0.5 * squared_norm + linear * alpha.sum()
    primal = _primal(problem, value, signs, squared_norm, dual.offset * margin, margin, nu, C)
    return Verification(
        objective=float(objective),
        kkt_violation=float(max(violation, 0.0)),
        dual_gap=float((primal + objective) / max(abs(objective), np.finfo(float).tiny)),
        infeasibility=_infeasibility(problem, alpha, signs, upper, nu),
        n_support=dual.support.size,
        rows_checked=rows.size,
    )


def one_class_primal(
    squared_norm: float, score: np.ndarray, nu: float, rho: float | None = None
) -> float:
    """Return ``1/2 |w|^2 - rho + 1/(nu n) sum max(0, rho - s_i)``, at the best rho if None."""
    if rho is None:
        rank = max(int(np.ceil(nu * score.size - 1e-9)) - 1, 0)
        rho = float(np.partition(score, rank)[rank])
    return float(0.5 * squared_norm - rho + np.maximum(rho - score, 0.0).mean() / nu)


def _squared_norms(rows: np.ndarray | sparse.csr_matrix) -> np.ndarray:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows)


def _rows_to_check(n: int, support: np.ndarray, max_values: int | None) -> np.ndarray:
    """Return all rows, or the support vectors and a seeded sample of the others."""
    budget = n if max_values is None else max_values // max(1, support.size)
    if budget >= n:
        return np.arange(n)
    others = np.setdiff1d(np.arange(n), support)
    n_others = min(others.size, max(budget - support.size, 1))
    sample = np.random.default_rng(0).choice(others, n_others, replace=False)
    return np.sort(np.concatenate([support, sample]))


def _bound_slack(dtype: np.dtype) -> float:
    """Relative distance at which a coefficient counts as at its bound: rounding, no more."""
    return 1e-6 if dtype == np.float32 else 1e-9


def _violation(
    gradient: np.ndarray, alpha: np.ndarray, signs: np.ndarray, upper: float, slack: float
) -> float:
    can_rise = alpha < upper - slack
    can_fall = alpha > slack
    up = np.where(signs > 0, can_rise, can_fall)
    low = np.where(signs > 0, can_fall, can_rise)
    gain = -signs * gradient
    if not up.any() or not low.any():
        return 0.0
    return float(gain[up].max() - gain[low].min())


def _primal(
    problem: str,
    value: np.ndarray,
    signs: np.ndarray,
    squared_norm: float,
    offset: float,
    margin: float,
    nu: float | None,
    C: float | None,
) -> float:
    if problem == "one_class":
        slacks = np.maximum(offset - value, 0.0)
        return 0.5 * squared_norm - nu * value.size * offset + slacks.sum()
    if problem == "svc":
        return 0.5 * squared_norm + C * np.maximum(1.0 - signs * (value + offset), 0.0).sum()
    slacks = np.maximum(margin - signs * (value + offset), 0.0)
    return 0.5 * squared_norm - nu * value.size * margin + slacks.sum()


def _infeasibility(
    problem: str, alpha: np.ndarray, signs: np.ndarray, upper: float, nu: float | None
) -> float:
    bounds = max(float(-alpha.min()), float(alpha.max()) - upper, 0.0) / upper
    if problem == "one_class":
        equality = abs(alpha.sum() / (nu * alpha.size) - 1.0)
    else:  # both classes weigh the same
        equality = abs(signs @ alpha) / max(alpha.sum(), np.finfo(float).tiny)
    return float(max(bounds, equality))
