"""The least-squares problems inside the tube solver, by kernel matrix or by features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from scarce._arrays import Array

ScoreErrors = Callable[[Array], Array]
UNIT = float(np.finfo(np.float64).eps)
FEW = 0.2  # share of the samples that may be taken out of a factored system of all
BENT_SHARE = 1e-6  # share of the largest eigenvalue below which a negative one is rounding


class TubeSystem(Protocol):
    """Samples ``mu_u`` in a feature space, and how a weight vector ``w`` there is written down."""

    n: int
    negative_curvature: bool  # whether a direction of it was met

    def origin(self) -> Array:
        """Return ``w = 0``."""

    def ridge(
        self, active: Array, right: Array, costs: Array, forces: Array
    ) -> tuple[Array, float]:
        """Return the ``w`` and ``b`` of one piece of the objective.

        They minimise ``1/2 |w|^2 + sum over active of C/2 (right - w'mu - b)^2`` minus the sum over
        all samples of ``force (w'mu + b)``; the force of an active sample is zero.
        """

    def scores(self, w: Array) -> Array:
        """Return ``w'mu_u`` of every sample."""

    def inner(self, v: Array, w: Array, scores_of_w: Array) -> float:
        """Return ``v'w``."""

    def combination(self, theta: Array) -> Array:
        """Return ``w = sum_u theta_u mu_u``."""

    def multipliers(self, w: Array, implied: Array) -> Array:
        """Return multipliers of ``w``, where the residuals imply some."""

    def score_errors(self, theta: Array) -> Array:
        """Return a bound of the rounding errors of the scores of ``combination(theta)``."""


class GramSystem:
    """Samples known by their kernel matrix; ``w`` is written as its multipliers.

    The system of all samples is factored once for given costs. Those inside their tubes or at their
    caps are taken out of it by a small system of their own, while they are few.

    ``K``: float64, not copied. ``score_errors``: what multipliers are turned by into a bound of the
    rounding errors of the samples' scores, those of the values in ``K`` included; None if these are
    exact.
    """

    def __init__(self, K: ArrayLike, score_errors: ScoreErrors | None = None) -> None:
        self.K: Array = np.asarray(K, dtype=np.float64)
        if self.K.ndim != 2 or self.K.shape[0] != self.K.shape[1]:
            raise ValueError(f"K must be a square matrix, got shape {self.K.shape}")
        if not np.isfinite(self.K).all():
            raise ValueError("K must not contain NaN or infinity")
        self.n = self.K.shape[0]
        self.negative_curvature = False
        self._value_errors = score_errors
        self._whole: _Factored | None = None

    def origin(self) -> Array:
        return np.zeros(self.n)

    def ridge(
        self, active: Array, right: Array, costs: Array, forces: Array
    ) -> tuple[Array, float]:
        """Solve ``(K + 1/C) theta + b = right - K forces`` on the active samples, all summing to 0.

        With ``theta = sqrt(C) y`` the matrix is ``I + sqrt(C) K sqrt(C)``, its eigenvalues are at
        least one, and very unequal costs do no harm.
        """
        rows = np.flatnonzero(active)
        if forces.any():
            right = right - self.scores(forces)
        root = np.sqrt(costs)
        both = np.column_stack([root * right, root])
        idle = np.flatnonzero(~active)
        answer = self._by_factor(both, costs, idle) if idle.size <= FEW * self.n else None
        if answer is None:
            answer, bent = _eigen_or_cholesky(self._scaled(root, rows), both[rows])
            self.negative_curvature |= bent
        else:
            answer = answer[rows]
        plain, border = answer.T
        root = root[rows]
        b = (float(root @ plain) + float(forces.sum())) / float(root @ border)
        theta = forces.copy()
        theta[rows] = root * (plain - b * border)
        return theta, b

    def _scaled(self, root: Array, rows: Array) -> Array:
        """Return ``I + sqrt(C) K sqrt(C)`` of some samples."""
        part = self.K.copy() if rows.size == self.n else self.K[rows][:, rows]
        part *= root[rows]
        part *= root[rows][:, None]
        part.flat[:: rows.size + 1] += 1.0
        return part

    def _by_factor(self, right: Array, costs: Array, idle: Array) -> Array | None:
        """Solve by the factored system of all samples; None when rounding makes it indefinite."""
        try:
            if self._whole is None or not np.array_equal(self._whole.costs, costs):
                self._whole = None  # its memory first
                self._whole = _Factored(self._scaled(np.sqrt(costs), np.arange(self.n)), costs)
            return self._whole.solve(right, idle)
        except linalg.LinAlgError:
            return None

    def scores(self, w: Array) -> Array:
        support = np.flatnonzero(w)
        if 2 * support.size < self.n:
            return np.asarray(w[support] @ self.K[support])
        return np.asarray(self.K @ w)

    def inner(self, v: Array, w: Array, scores_of_w: Array) -> float:
        return float(v @ scores_of_w)

    def combination(self, theta: Array) -> Array:
        return theta

    def multipliers(self, w: Array, implied: Array) -> Array:
        return w

    def score_errors(self, theta: Array) -> Array:
        used = np.flatnonzero(theta)
        own = UNIT * used.size * (np.abs(self.K[:, used]) @ np.abs(theta[used]))
        return np.asarray(own if self._value_errors is None else own + self._value_errors(theta))


class FeatureSystem:
    """Samples known by their features, fewer than samples; ``w`` is written as itself.

    They are scaled inside, so that very large or small ones lose no digits. Features far from the
    origin do; a shift changes only the offset, so let them have mean zero.

    ``score_errors``: as for `GramSystem`, the errors that the features themselves bring.
    """

    negative_curvature = False  # a sum of squares has none

    def __init__(self, Z: Any, score_errors: ScoreErrors | None = None) -> None:
        self.n, self.p = Z.shape
        self._feature_errors = score_errors
        values = Z.data if sparse.issparse(Z) else Z
        largest = float(max(values.max(), -values.min())) if values.size else 0.0
        self.scale = largest if largest > 0 else 1.0
        self.Z = Z / self.scale

    def origin(self) -> Array:
        return np.zeros(self.p)

    def ridge(
        self, active: Array, right: Array, costs: Array, forces: Array
    ) -> tuple[Array, float]:
        """Solve ``(1 / scale^2 + sum C z z') w = sum C z right``, both centred on the active.

        Forces add ``sum force (z - mean)`` on the right.
        """
        rows = np.flatnonzero(active)
        Z = self.Z if rows.size == self.n else self.Z[rows]
        C, right = costs[rows], right[rows]
        mass = float(C.sum())
        mean, level = np.asarray(C @ Z) / mass, float(C @ right) / mass
        H = _weighted_square(Z, C)
        H -= mass * np.outer(mean, mean)
        rhs = np.asarray((C * (right - level)) @ Z)
        total = float(forces.sum())
        if forces.any():
            rhs = rhs + np.asarray(forces @ self.Z) - total * mean
        w = _ridge_solve(H, rhs, 1.0 / self.scale**2)
        return w, level + total / mass - float(mean @ w)

    def scores(self, w: Array) -> Array:
        return np.asarray(self.Z @ w)

    def inner(self, v: Array, w: Array, scores_of_w: Array) -> float:
        return float((v / self.scale) @ (w / self.scale))  # the square of the scale may overflow

    def combination(self, theta: Array) -> Array:
        return np.asarray(theta @ self.Z) * self.scale**2

    def multipliers(self, w: Array, implied: Array) -> Array:
        return implied

    def score_errors(self, theta: Array) -> Array:
        terms = UNIT * (self.n + self.p) * self.scale**2
        own = terms * (abs(self.Z) @ (np.abs(theta) @ abs(self.Z)))
        return np.asarray(
            own if self._feature_errors is None else own + self._feature_errors(theta)
        )

    def in_given_scale(self, w: Array) -> Array:
        """Return ``w`` for the features as they were given."""
        return w / self.scale


def _weighted_square(Z: Any, C: Array) -> Array:
    """Return ``Z' diag(C) Z``."""
    if sparse.issparse(Z):
        return np.asarray((Z.T @ Z.multiply(C[:, None])).toarray())
    scaled = Z * np.sqrt(C)[:, None]
    return np.asarray(scaled.T @ scaled)  # a symmetric product, at half the cost


class _Factored:
    """A positive definite system, and what its inverse does to single samples, as far as asked."""

    def __init__(self, system: Array, costs: Array) -> None:
        self.costs = costs.copy()
        # The transposed view is in the order LAPACK wants: no copy.
        self.factor = linalg.cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)
        self.known = np.empty(0, np.intp)
        self.columns = np.empty((system.shape[0], 0))

    def solve(self, right: Array, out: Array) -> Array:
        """Solve with the unknowns ``out`` held at zero and their equations left out."""
        answer = linalg.cho_solve(self.factor, right, check_finite=False)
        if out.size == 0:
            return np.asarray(answer)
        new = np.setdiff1d(out, self.known)
        if new.size:
            columns = np.zeros((right.shape[0], new.size))
            columns[new, np.arange(new.size)] = 1.0
            fresh = linalg.cho_solve(self.factor, columns, overwrite_b=True, check_finite=False)
            self.known = np.concatenate([self.known, new])
            self.columns = np.hstack([self.columns, fresh])
        order = np.argsort(self.known)
        columns = self.columns[:, order[np.searchsorted(self.known, out, sorter=order)]]
        among = linalg.cho_factor(columns[out], lower=True, check_finite=False)
        return np.asarray(answer - columns @ linalg.cho_solve(among, answer[out]))


def _eigen_or_cholesky(system: Array, right: Array) -> tuple[Array, bool]:
    """Solve a system whose eigenvalues should be at least one, and say whether one is negative.

    The system is overwritten.
    """
    diagonal = np.einsum("ii->i", system)
    kept = diagonal.copy()
    try:
        factor = linalg.cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(linalg.cho_solve(factor, right, check_finite=False)), False
    except linalg.LinAlgError:
        # Rounding errors of a very large kernel have drowned the identity, or the kernel is none.
        # LAPACK wrote to the lower triangle of the transposed matrix; that of the matrix itself is
        # as it was.
        diagonal[:] = kept
        values, vectors = linalg.eigh(system, lower=True, check_finite=False)
        inverse = 1.0 / np.maximum(values, 1.0)
        bent = bool(values.min() < -BENT_SHARE * values.max())
        return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ right))), bent


def _ridge_solve(H: Array, right: Array, ridge: float) -> Array:
    """Solve ``(ridge I + H) w = right`` for a positive semidefinite ``H``."""
    values = H + ridge * np.eye(H.shape[0])
    try:
        factor = linalg.cho_factor(values, lower=True, overwrite_a=True, check_finite=False)
        found = linalg.cho_solve(factor, right, check_finite=False)
        if np.isfinite(found).all():
            return np.asarray(found)
    except linalg.LinAlgError:
        pass
    return np.asarray(linalg.lstsq(H + ridge * np.eye(H.shape[0]), right, cond=1e-14)[0])
