"""From scores to probabilities by the proportions of groups: a slope and a shift for each class."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from scarce._arrays import Array
from scarce.proportions._share_loss import RowGroups, share_loss

RIDGE = 0.1  # a few groups may want any slope
LOG_SLOPES = (-3.0, 4.0)


def fit_share_calibration(
    scores: Array, in_groups: RowGroups, shares: Array
) -> tuple[float, Array]:
    """Return slope and shifts that make the mean probabilities of groups meet their proportions.

    Makes small the cross-entropy of proportions and means of ``sigmoid(a f + b)``, for several
    classes of ``softmax(a f_c + b_c)``, plus ``0.05 (log(a)^2 + |b|^2)``, groups counted by their
    sizes.

    ``scores``: scores of the rows, one column for two classes, else one a class. ``shares``:
    proportions of the second of two classes, or of every class.
    """
    total = in_groups.sizes.sum()

    def objective(place: Array) -> tuple[float, Array]:
        scaled = np.exp(place[0]) * scores
        loss, gradient = share_loss(scaled + place[1:], in_groups, shares)
        steps = np.concatenate([[np.vdot(gradient, scaled)], gradient.sum(axis=0)])
        return (loss + 0.5 * RIDGE * place @ place) / total, (steps + RIDGE * place) / total

    found = minimize(
        objective,
        np.zeros(1 + scores.shape[1]),
        jac=True,
        method="L-BFGS-B",
        bounds=[LOG_SLOPES, *[(None, None)] * scores.shape[1]],
        options={"ftol": 1e-14, "gtol": 1e-8, "maxiter": 200},
    )
    return float(np.exp(found.x[0])), np.asarray(found.x[1:])
