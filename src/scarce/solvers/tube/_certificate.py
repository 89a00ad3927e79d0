"""How far multipliers and an offset of a tube problem are from optimal, from the problem alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array
from scarce.solvers.tube._systems import UNIT, TubeSystem

FEASIBLE = 1e-9  # share by which a multiplier may differ from its cap and still be there


@dataclass(frozen=True)
class TubeCertificate:
    """How far multipliers and offset are from optimal; see `certify_tube`."""

    # objective, dual_objective: values of the primal and of the dual
    objective: float
    dual_objective: float
    dual_gap: float  # their difference, relative to the larger
    kkt_violation: float  # largest violation of the optimality conditions
    imbalance: float  # sum of the multipliers, which should be zero


def certify_tube(
    system: TubeSystem,
    targets: ArrayLike,
    tube: ArrayLike,
    costs: ArrayLike,
    theta: ArrayLike,
    intercept: float,
    caps: ArrayLike = np.inf,
) -> TubeCertificate:
    """Judge multipliers and an offset from the problem alone.

    ``w = sum theta mu`` and the offset give a value of the primal, the multipliers one of the dual;
    the optimum is between the two when the multipliers sum to zero.

    Gap and violation are the largest that scores within their rounding errors would have.
    """
    n = system.n
    t, eps = tube_values("targets", targets, n), tube_values("tube", tube, n)
    C, theta = tube_values("costs", costs, n), tube_values("theta", theta, n)
    U = tube_values("caps", caps, n, finite=False)
    w = system.combination(theta)
    field = system.scores(w)
    quadratic = system.inner(w, w, field)
    residual = t - field - intercept
    error = system.score_errors(theta) + 4.0 * UNIT * (np.abs(t) + abs(intercept))
    low, high = outside_tubes(residual - error, eps), outside_tubes(residual + error, eps)
    farthest = np.maximum(np.abs(low), np.abs(high))
    primal = float(0.5 * quadratic + slack_loss(outside_tubes(residual, eps), C, U))
    dual = float(t @ theta - eps @ np.abs(theta) - 0.5 * quadratic - 0.5 * (theta**2 / C).sum())
    if (np.abs(theta) > U * (1.0 + FEASIBLE)).any():
        dual = -np.inf  # proves nothing
    unknown = float(np.abs(theta) @ error)
    # The bound of the optimum holds for multipliers that sum to zero; others are moved there.
    imbalance = float(abs(theta.sum()))
    largest = 0.5 * quadratic + 0.5 * unknown + slack_loss(farthest, C, U)
    gap = max(0.0, largest - dual + 0.5 * unknown + imbalance * abs(intercept))
    scale = max(abs(primal), abs(dual)) - unknown
    violations = [np.abs(violations_of(each, theta, C, U)).max() for each in (low, high)]
    return TubeCertificate(
        objective=primal,
        dual_objective=dual,
        dual_gap=gap / scale if 0 < scale < np.inf else gap,
        kkt_violation=float(max(violations)),
        imbalance=imbalance,
    )


def outside_tubes(residual: Array, eps: Array) -> Array:
    """Return the part of the residuals outside the tubes, with its sign."""
    return np.asarray(np.sign(residual) * np.maximum(np.abs(residual) - eps, 0.0))


def negative_gradients(outside: Array, C: Array, U: Array) -> Array:
    """Return the multipliers of residuals outside the tubes, negative gradients of the loss."""
    return np.asarray(np.clip(C * outside, -U, U))


def slack_loss(outside: Array, C: Array, U: Array) -> float:
    """Return the cost of all slacks: squares, and lines from the caps on."""
    size = np.abs(outside)
    bent = np.minimum(size, U / C)
    with np.errstate(over="ignore"):  # an infinite cost is one
        return float((C * bent * (size - 0.5 * bent)).sum())


def violations_of(outside: Array, theta: Array, C: Array, U: Array) -> Array:
    """Return how far each residual is from those that its multiplier allows."""
    gap = outside - theta / C
    at_cap = (np.abs(theta) >= U * (1.0 - FEASIBLE)) & (outside * np.sign(theta) > U / C)
    return np.where(at_cap, 0.0, gap)


def tube_values(name: str, given: ArrayLike, n: int, finite: bool = True) -> Array:
    values = np.asarray(given, dtype=np.float64)
    if values.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a number or {n} numbers, got shape {values.shape}")
    if finite and not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got {values[~np.isfinite(values)].flat[0]}")
    return np.broadcast_to(values, (n,))
