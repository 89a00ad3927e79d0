"""Bags in feature space: their kernel matrix, or features when those are fewer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from scarce._arrays import Array
from scarce.kernels import (
    Kernel,
    group_mean_kernel,
    group_mean_values,
    group_means,
    landmark_root,
    make_kernel,
    make_operator,
)
from scarce.parallel import single_threaded_blas
from scarce.proportions._groups import Bags
from scarce.solvers import (
    DenseMatrix,
    FeatureSystem,
    GramSystem,
    SymmetricOperator,
    TubeSystem,
)

LARGE_GROUP = 32  # rows a bag, from which on a matrix of rows by bags is small


@dataclass(frozen=True)
class Expansion:
    """A model as a sum over rows."""

    support: Array  # the rows
    coefficients: Array  # their coefficients
    coef: Array | None = None  # weights of the features, for a linear kernel
    # score of the point that the bags' features were moved to, to be taken off the offset
    shift: float = 0.0
    # scores of the rows that the space is to score, where it knows them
    scores: Array | None = None


class BagSpace(Protocol):
    """What an estimator asks of the bags of its rows."""

    @property
    def definite(self) -> bool:
        """Whether the kernel matrix of the bags is positive semidefinite for certain."""

    def operator(self) -> SymmetricOperator:
        """Return the kernel matrix of the bags for the grouped solver."""

    def system(self, scale: float) -> TubeSystem:
        """Return the bags, their kernel times ``scale``, for the tube solver."""

    def few_features(self) -> Any | None:
        """Return the bags' features, when those are fewer than bags."""

    def expansion(self, multipliers: Array, weights: Array | None) -> Expansion:
        """Return the model ``sum_u multipliers[u] mu_u``, whose weights may be known better."""


def bag_space(
    X: Any,
    bags: Bags,
    kernel: Kernel,
    landmarks: Array | None,
    scored: Array | None = None,
) -> BagSpace:
    """Return the bags of some rows.

    ``landmarks`` are rows through which an approximation sees the others; None for none. The
    scores of ``scored``, rows of whole groups, will be asked for.
    """
    if kernel.explicit:
        return LinearSpace(X, bags)
    if landmarks is not None:
        return LandmarkSpace(X, bags, kernel, landmarks)
    large = bags.n_bags * LARGE_GROUP <= bags.rows.size and kernel.has_formula
    return KernelSpace(X, bags, kernel, scored if large else None)


class KernelSpace:
    """Bags by their kernel matrix, the means of the rows' values.

    Values of the rows to be scored are computed with every bag and kept: the means over their
    groups are what the matrix needs of these rows, so that the scores cost nothing.
    """

    def __init__(self, X: Any, bags: Bags, kernel: Kernel, scored: Array | None) -> None:
        self.X, self.bags, self.kernel, self.scored = X, bags, kernel, scored
        self.definite = bool(kernel.definite)

    def _matrix(self) -> Array:
        n, bags = self.bags.n_bags, self.bags
        try:
            if self.scored is not None:
                return self._matrix_with(self.scored)
            return group_mean_kernel(self.X, bags.codes, self.kernel, n, bags.weights)
        except MemoryError:
            raise MemoryError(
                f"the kernel matrix of {n} common rows and groups takes {8 * n**2 / 1e9:.1f} GB; "
                'use approximation="nystroem", kernel="linear", or fewer groups'
            ) from None

    def _matrix_with(self, scored: Array) -> Array:
        bags, codes, n = self.bags, self.bags.codes, self.bags.n_bags
        self.values = group_mean_values(self.X, codes, self.kernel, n, self.X[scored], bags.weights)
        chosen, place = np.unique(codes[scored], return_inverse=True)
        shape = (chosen.size, scored.size)
        parts = (bags.in_means()[scored], (place, np.arange(scored.size)))
        rows = sparse.csr_array(parts, shape=shape) @ self.values.T
        K = np.empty((n, n))
        K[chosen], K[:, chosen] = rows, rows.T
        K[np.ix_(chosen, chosen)] = 0.5 * (rows[:, chosen] + rows[:, chosen].T)
        rest = np.setdiff1d(np.arange(n), chosen)
        if rest.size:
            renumbered = np.full(n + 1, -1)  # the last is for rows that take no part
            renumbered[rest] = np.arange(rest.size)
            others = group_mean_kernel(
                self.X, renumbered[codes], self.kernel, rest.size, bags.weights
            )
            K[np.ix_(rest, rest)] = others
        return K

    def operator(self) -> SymmetricOperator:
        """Return the matrix; for bags of one row each it is never stored."""
        if not self.bags.single:
            return DenseMatrix(self._matrix(), definite=self.definite, name=self.kernel.name)
        rows = self.bags.rows  # the bags are in the order of the rows
        part = self.X[np.ix_(rows, rows)] if self.kernel.pairwise else self.X[rows]
        return make_operator(part, self.kernel)

    def system(self, scale: float) -> TubeSystem:
        K = self._matrix()
        K *= scale
        return GramSystem(K, lambda theta: scale * self._score_errors(theta))

    def _score_errors(self, theta: Array) -> Array:
        """Return a bound of the rounding errors of the bags' scores, from those of the values."""
        rows, codes, parts = self.bags.rows, self.bags.codes, self.bags.in_means()
        if self.kernel.pairwise:  # the values are given, and sums of them are not
            largest = float(max(self.X.max(), -self.X.min()))
            error = np.finfo(np.float64).eps * rows.size * largest * float(np.abs(theta).sum())
            return np.full(self.bags.n_bags, error)
        operator = make_operator(self.X[rows], self.kernel)
        errors = operator.error_bound(np.abs(theta)[codes[rows]] * parts[rows], np.float64)
        return np.bincount(codes[rows], parts[rows] * errors, minlength=self.bags.n_bags)

    def few_features(self) -> Any | None:
        return None

    def expansion(self, multipliers: Array, weights: Array | None) -> Expansion:
        scores = None if self.scored is None else multipliers @ self.values
        return Expansion(*over_rows(self.bags, multipliers), scores=scores)


class LinearSpace:
    """Bags of a linear kernel: the means of the rows themselves."""

    definite = True

    def __init__(self, X: Any, bags: Bags) -> None:
        self.bags = bags
        self.means = group_means(X, bags.codes, bags.n_bags, bags.weights)
        self.center = np.zeros(X.shape[1])
        if not sparse.issparse(self.means):
            # The multipliers sum to zero, so that a shift changes nothing but rounding errors.
            self.center = self.means.mean(axis=0)
            self.means -= self.center

    def operator(self) -> SymmetricOperator:
        return make_operator(self.means, make_kernel("linear"))

    def system(self, scale: float) -> TubeSystem:
        return feature_system(
            np.sqrt(scale) * self.means, lambda theta: scale * self._score_errors(theta)
        )

    def _score_errors(self, theta: Array) -> Array:
        """Return what the shift of the means may do to the bags' scores.

        It rounds them, and multipliers whose sum is not quite zero have a score at the centre.
        """
        norms, center = row_norms(self.means), float(np.linalg.norm(self.center))
        mass = np.abs(theta)
        rounded = (norms + center) * float(mass @ norms) + norms * float(mass @ (norms + center))
        eps = float(np.finfo(np.float64).eps)
        return np.asarray(4.0 * eps * rounded + abs(float(theta.sum())) * center * (norms + center))

    def few_features(self) -> Any | None:
        return self.means if self.means.shape[1] < self.means.shape[0] else None

    def expansion(self, multipliers: Array, weights: Array | None) -> Expansion:
        support, coefficients = over_rows(self.bags, multipliers)
        coef = np.asarray(multipliers @ self.means if weights is None else weights)
        return Expansion(support, coefficients, coef, float(self.center @ coef))


class FeatureSpace:
    """Bags by given features, which are moved to their mean."""

    definite = True

    def __init__(self, features: Array) -> None:
        # The multipliers sum to zero, so that a shift changes nothing but rounding errors.
        self.center = features.mean(axis=0)
        self.features = features - self.center

    def operator(self) -> SymmetricOperator:
        return make_operator(self.features, make_kernel("linear"))

    def system(self, scale: float) -> TubeSystem:
        return feature_system(np.sqrt(scale) * self.features)

    def few_features(self) -> Any | None:
        return self.features if self.features.shape[1] < self.features.shape[0] else None

    def expansion(self, multipliers: Array, weights: Array | None) -> Expansion:
        """Return the weights of the features, and no rows."""
        own = np.asarray(multipliers @ self.features if weights is None else weights)
        return Expansion(np.zeros(0, np.intp), np.zeros(0), own, float(self.center @ own))


class LandmarkSpace(FeatureSpace):
    """Bags seen through landmark rows (Nystroem): features ``k(x, landmarks) R``."""

    def __init__(self, X: Any, bags: Bags, kernel: Kernel, landmarks: Array) -> None:
        self.landmarks = landmarks
        chosen = X[landmarks]
        means = group_mean_values(X, bags.codes, kernel, bags.n_bags, chosen, bags.weights)
        with single_threaded_blas:  # the same answer whatever the number of threads
            self.root = landmark_root(kernel.values(chosen, chosen)).root
            super().__init__(means @ self.root)

    def expansion(self, multipliers: Array, weights: Array | None) -> Expansion:
        own = super().expansion(multipliers, weights)
        return Expansion(self.landmarks, self.root @ own.coef, shift=own.shift)


def feature_system(Z: Any, score_errors: Callable[[Array], Array] | None = None) -> TubeSystem:
    """Return the bags by features, or by the kernel matrix of these if there are fewer bags."""
    if Z.shape[1] < Z.shape[0]:
        return FeatureSystem(Z, score_errors)
    with single_threaded_blas:
        K = (Z @ Z.T).toarray() if sparse.issparse(Z) else Z @ Z.T
    return GramSystem(K, score_errors)


def over_rows(bags: Bags, multipliers: Array) -> tuple[Array, Array]:
    """Return the rows with a coefficient other than zero, and the coefficients."""
    coefficients = np.zeros(bags.codes.size)
    rows = bags.rows
    coefficients[rows] = multipliers[bags.codes[rows]] * bags.in_means()[rows]
    support = np.flatnonzero(coefficients)
    return support, coefficients[support]
