"""Offsets as order statistics: of one-class models, and of points that are not optimal."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array

_WHOLE = 1e-9  # 1 / cost this near to a whole weight counts as whole


def one_class_offset(scores: ArrayLike, cost: float, weights: ArrayLike | None = None) -> float:
    """Return the offset that minimises ``-rho + cost * sum_i w_i max(0, rho - s_i)``.

    It is the smallest score at which the cumulative weight reaches ``1 / cost``. When the weight
    is reached exactly every value up to the next score is optimal and the midpoint is taken; after
    the last score, the last score.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores of the training rows.
    cost : float
        Cost ``C`` of one unit of slack, ``1 / (nu * total weight)`` in the usual parameter.
    weights : array-like of shape (n,), optional
        Weights, not negative; a weight of 2 is the same as the row given twice.

    Returns
    -------
    float
        The offset.

    Examples
    --------
    >>> one_class_offset([3.0, 1.0, 2.0, 4.0], cost=1 / 1.5)
    2.0
    >>> one_class_offset([3.0, 1.0, 2.0, 4.0], cost=1 / 2)
    2.5
    """
    values: Array = np.asarray(scores, dtype=np.float64)
    masses = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or masses.shape != values.shape:
        raise ValueError(
            f"scores and weights must be equally long, got {values.shape} and {masses.shape}"
        )
    if not (np.isfinite(values).all() and np.isfinite(masses).all() and (masses >= 0).all()):
        raise ValueError("scores must be finite, weights finite and not negative")
    if not masses.any():
        raise ValueError("weights must not all be zero")
    values, masses = values[masses > 0], masses[masses > 0]
    total = float(masses.sum())
    wanted = 1.0 / cost if cost > 0 else np.inf
    if wanted > total * (1 + _WHOLE):
        raise ValueError(f"cost must be at least 1 / total weight = {1 / total:g}, got {cost:g}")
    order = np.argsort(values)  # the order of equal ones does not matter
    reached = np.cumsum(masses[order])
    at = int(np.searchsorted(reached, wanted * (1 - _WHOLE)))
    at = min(at, values.size - 1)
    whole = abs(reached[at] - wanted) <= _WHOLE * wanted
    if whole and at + 1 < values.size:
        return float(0.5 * (values[order[at]] + values[order[at + 1]]))
    return float(values[order[at]])


def best_multipliers(
    x: Array, gradient: Array, lower: Array, upper: Array, groups: Array, n_groups: int
) -> Array:
    """Return the multipliers at which a point of bounded boxes has its smallest duality gap.

    ``sum_i (x_i - l_i) max(G_i + beta, 0) + (u_i - x_i) max(-G_i - beta, 0)`` is, up to a constant
    and a factor, what `one_class_offset` minimises. Of a point that is not optimal the middle of
    ``[m_g, M_g]`` means little: one row whose variable is mere rounding can move it anywhere.
    """
    found = np.zeros(n_groups)
    for g in range(n_groups):
        own = groups == g
        width = (upper - lower)[own]
        mass = min(float((x - lower)[own].sum()), float(width.sum()))
        # A group at its lower bounds: any multiplier up to the smallest gradient will do.
        best = (
            one_class_offset(gradient[own], 1.0 / mass, width) if mass > 0 else gradient[own].min()
        )
        found[g] = -best
    return found
