"""Logistic regression on soft labels, with a bound of how far it is from its optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from scarce._arrays import Array
from scarce.proportions._share_loss import RowGroups, share_loss

MOST_STEPS = 1000
MEMORY = 20  # steps that L-BFGS remembers
SHARE_TOL = 1e-3
# The constants are nearly free. A little ridge makes the objective strongly convex in everything,
# so that the gradient bounds the distance from the minimum.
NEARLY_FREE = 1e3


@dataclass(frozen=True)
class SoftLogistic:
    """A logistic model: ``features @ weights + slope * source + constants``."""

    weights: Array  # (n_features, n_columns): weights of the features
    constants: Array  # (n_columns,): constants
    slope: float  # factor of the source's scores; 0 without a source
    gap: float  # bound of how far the objective is above its minimum, relative to the minimum
    n_iter: int  # steps taken

    def logits(self, features: Any, source: Array | None = None) -> Array:
        """Return the logits of rows, whose source scores are given if there is a source."""
        own = np.asarray(features @ self.weights) + self.constants
        return own if source is None else own + self.slope * source

    def times(self, factor: float, shift: Array) -> SoftLogistic:
        """Return the model whose logits are a factor times these plus a shift."""
        constants = factor * self.constants + shift
        return replace(
            self, weights=factor * self.weights, constants=constants, slope=factor * self.slope
        )


Loss = Callable[[Array], tuple[float, Array]]


def fit_soft_logistic(
    features: Any,
    soft: Array,
    weights: Array,
    C: float,
    *,
    source: Array | None = None,
    start: SoftLogistic | None = None,
    tol: float = 1e-6,
) -> SoftLogistic:
    """Minimise the weighted cross-entropy of soft labels plus ``|w|^2 / (2 C)``.

    ``features``: the rows. ``soft``: soft labels: one column for two classes, else one a class.
    ``weights``: weights of the rows. ``C``: inverse strength of the ridge on the weights; that of
    the constants and of the slope is a thousand times weaker. ``source``: scores of a source model,
    whose factor is fitted too. ``tol``: largest entry of the gradient of the mean loss at which the
    fit ends, in scales in which the Hessian is about 1. Returned: the minimum, which is the only
    one.
    """

    def loss(logits: Array) -> tuple[float, Array]:
        losses, p = _losses(logits, soft)
        return float(weights @ losses), weights[:, None] * (p - soft)

    return _fitted(loss, features, weights, soft.shape[1], C, source, start, tol)


def fit_share_logistic(
    features: Any, in_groups: RowGroups, shares: Array, C: float, source: Array | None = None
) -> SoftLogistic:
    """Make the mean probabilities of groups meet their proportions, with a ridge on the weights.

    The loss, `share_loss`, is not convex: what is found is the local optimum reached from zero
    weights, and its `gap` says nothing.
    """
    weights = in_groups.parts * in_groups.sizes[in_groups.codes]

    def loss(logits: Array) -> tuple[float, Array]:
        return share_loss(logits, in_groups, shares)

    return _fitted(loss, features, weights, shares.shape[1], C, source, None, SHARE_TOL)


def _fitted(
    loss: Loss,
    features: Any,
    weights: Array,
    n_columns: int,
    C: float,
    source: Array | None,
    start: SoftLogistic | None,
    tol: float,
) -> SoftLogistic:
    """Minimise a loss of the logits, which returns its gradient too, plus the ridge."""
    n_features = features.shape[1]
    total = float(weights.sum())
    ridge = np.full((n_features + 1) * n_columns + 1, 1.0 / (NEARLY_FREE * C))
    ridge[: n_features * n_columns] = 1.0 / C
    # In these units every diagonal entry of the Hessian is about 1, whatever the columns' sizes.
    squares = np.repeat(_mean_squares(features, weights), n_columns)
    of_source = 1.0 if source is None else float(_mean_squares(source, weights).mean())
    scales = np.sqrt(
        0.25 * np.concatenate([squares, np.ones(n_columns), [of_source]]) + ridge / total
    )

    n_weights = n_features * n_columns

    def read(place: Array) -> tuple[Array, Array, float]:
        own = place[:n_weights].reshape(n_features, n_columns)
        return own, place[n_weights:-1], float(place[-1])

    def objective(place: Array) -> tuple[float, Array]:
        place = place / scales
        own, constants, slope = read(place)
        logits = np.asarray(features @ own) + constants
        if source is not None:
            logits = logits + slope * source
        value, residuals = loss(logits)
        gradient = ridge * place
        gradient[:n_weights] += np.asarray(features.T @ residuals).ravel()
        gradient[n_weights:-1] += residuals.sum(axis=0)
        if source is not None:
            gradient[-1] += np.vdot(residuals, source)
        value += 0.5 * float(place @ (ridge * place))
        return value / total, gradient / (scales * total)

    first = np.zeros(ridge.size)
    if start is not None:
        first = np.concatenate([start.weights.ravel(), start.constants, [start.slope]]) * scales
    found = minimize(
        objective,
        first,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MOST_STEPS, "maxcor": MEMORY, "gtol": tol, "ftol": 0.0},
    )
    # A function that is strongly convex, with the ridge for its modulus, has its minimum no further
    # below than half the squared gradient divided by the modulus.
    below = 0.5 * total * float(((found.jac * scales) ** 2 / ridge).sum())
    least = float(found.fun) - below  # the minimum is no less; it is positive
    gap = below / least if least > 0 else np.inf
    return SoftLogistic(*read(found.x / scales), gap, int(found.nit))


def _losses(logits: Array, soft: Array) -> tuple[Array, Array]:
    """Return the cross-entropy of every row, and the probabilities."""
    if logits.shape[1] == 1:
        return np.logaddexp(0.0, logits[:, 0]) - soft[:, 0] * logits[:, 0], expit(logits)
    sums, p = log_sums(logits)
    return sums - np.einsum("ij,ij->i", soft, logits), p


def log_sums(logits: Array) -> tuple[Array, Array]:
    """Return the logarithm of the sum of exponentials of every row, and the softmax."""
    # By columns: NumPy's sums along so short an axis take several times as long, and SciPy's more.
    columns = np.ascontiguousarray(logits.T)
    largest = columns.max(axis=0)
    each = np.exp(columns - largest)
    sums = each.sum(axis=0)
    return np.log(sums) + largest, (each / sums).T


def _mean_squares(features: Any, weights: Array) -> Array:
    """Return the mean square of every column."""
    squares = features.multiply(features) if sparse.issparse(features) else features**2
    return np.asarray((squares.T @ weights) / weights.sum())
