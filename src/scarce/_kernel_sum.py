"""A fitted model as a formula: sums of kernel functions, for whoever takes it apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from scarce._arrays import Array
from scarce.kernels import Kernel, weighted_median

UNDERFLOW_64, UNDERFLOW_32 = 1e-250, 1e-25  # sums below which kernel values are lost
TINY, UNIT = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).eps)
LOST = 1e-6  # share of the boundary's sum below which digits may be rounding errors
BLOCK = 1 << 20  # exponents that are held at a time


@dataclass(frozen=True)
class KernelSum:
    """``f_o(x) = sum_j weights[o, j] k(x, vectors[j]) + own k(x, x) + constants[o]``."""

    kernel: Kernel  # with numbers for its parameters
    vectors: Any  # (n_terms, n_features): the rows it is compared with
    weights: Array  # (n_outputs, n_terms): one line for each decision value
    constants: Array  # (n_outputs,): what is added
    own: float = 0.0  # factor of the row's value with itself: not zero for distances to a centre
    # whether outputs are pairs of classes that are voted on, rather than decision values
    voted: bool = False
    # (n_features,): what the columns of `x` are multiplied by first; the vectors already are
    factors: Array | None = None

    @property
    def dense_vectors(self) -> Array:
        """The vectors as an array of float64."""
        vectors = self.vectors.toarray() if sparse.issparse(self.vectors) else self.vectors
        return np.asarray(vectors, dtype=np.float64)

    def scaled(self, factor: float, shift: float = 0.0) -> KernelSum:
        """Return ``factor f(x) + shift``."""
        return replace(
            self,
            weights=factor * self.weights,
            constants=factor * self.constants + shift,
            own=factor * self.own,
        )

    def plus(self, other: KernelSum) -> KernelSum:
        """Return the sum with another of the same kernel and number of outputs."""
        return replace(
            self,
            vectors=np.vstack([self.dense_vectors, other.dense_vectors]),
            weights=np.hstack([self.weights, other.weights]),
            constants=self.constants + other.constants,
            own=self.own + other.own,
        )


def log_sums(rows: Any, vectors: Any, weights: Array, kernel: Kernel) -> Array:
    """Return the logarithm of ``sum_j weights_j k(x, vectors_j)``, however far a row is.

    ``kernel``: a separable kernel, whose values are exponentials of sums over the columns.
    Returned: the logarithms, exact where the sum itself is too small for a number.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce._kernel_sum import log_sums
    >>> from scarce.kernels import make_kernel
    >>> kernel = make_kernel("rbf", gamma=1.0)
    >>> log_sums(np.array([[0.0], [1e3]]), np.zeros((2, 1)), np.array([0.5, 0.5]), kernel)
    array([       0., -1000000.])
    """
    Z = vectors.toarray() if sparse.issparse(vectors) else vectors
    found = np.empty(rows.shape[0])
    step = max(1, BLOCK // max(1, Z.shape[0]))
    for start in range(0, rows.shape[0], step):
        some = rows[start : start + step]
        X = some.toarray() if sparse.issparse(some) else some
        exponents = np.zeros((X.shape[0], Z.shape[0]))
        for x, z in zip(X.T.astype(np.float64), Z.T.astype(np.float64), strict=True):
            exponents += kernel.exponents(x[:, None] - z)
        found[start : start + step] = logsumexp(exponents, axis=1, b=weights)
    return found


def in_order(estimator: Any, scores: Array, rows: Callable[[Array], Any]) -> Array:
    """Return scores of a one-class model, those that underflow in the order of the distances.

    Kernel sums below 1e-250 of the largest become positive numbers below it that fall with the
    logarithm. Other scores than such sums are returned as they are.

    ``rows``: from places to rows as the model takes them.
    """
    kernel, dual = _kernel_of_distances(estimator)
    if kernel is None or estimator._sum_at(0.0) != 0.0:
        return scores
    total = float(dual.sum())
    single = estimator.support_vectors_.dtype == np.float32
    lost = np.flatnonzero(scores < total * (UNDERFLOW_32 if single else UNDERFLOW_64))
    if lost.size:
        X = estimator._validated(rows(lost), reset=False)
        logs = log_sums(X, estimator.support_vectors_, dual / total, kernel)
        scores = scores.copy()
        scores[lost] = total * _squeezed(logs)
    return scores


def _squeezed(logs: Array) -> Array:
    """Return the exponentials, below 1e-250 numbers that are never zero and keep their order."""
    limit = np.log(UNDERFLOW_64)
    far = UNDERFLOW_64 * limit / np.minimum(logs, limit)
    return np.asarray(np.where(logs > limit, np.exp(logs), far))


def _logs(shares: Any, squeezed: bool) -> Array:
    """Return the logarithms of sums divided by the largest, some of which may be `_squeezed`."""
    logs = np.log(np.clip(shares, TINY, 1.0))
    if not squeezed:
        return np.asarray(logs)
    far = np.log(UNDERFLOW_64) * (UNDERFLOW_64 / np.clip(shares, TINY, UNDERFLOW_64))
    return np.asarray(np.where(np.less(shares, UNDERFLOW_64), far, logs))


def log_scores_and_offset(
    estimator: Any, X: Any, offset: float, squeezed: bool = False
) -> tuple[Array, float, float]:
    """Return logarithms of the kernel sums of a one-class model, and of an offset in its scale.

    Sums are divided by the largest there is, so that logarithms are not above zero. The third
    number is the power of a logarithm that grows like a distance. Rows so far away that the sum
    underflows have a logarithm too. ``squeezed``: whether the offset is a score as of `in_order`.
    """
    kernel, dual = _kernel_of_distances(estimator)
    if kernel is None:
        raise ValueError(
            f"{estimator} has no distance from the class, which needs a kernel that vanishes with "
            "the distance (rbf, laplacian), without approximation"
        )
    X, shares = estimator._validated(X, reset=False), dual / dual.sum()
    sums = estimator._scores_of(X, shares[None, :], np.zeros(X.shape[0], np.int64))
    single = X.dtype == estimator.support_vectors_.dtype == np.float32
    lost = np.flatnonzero(sums < (UNDERFLOW_32 if single else UNDERFLOW_64))
    logs = np.log(np.maximum(sums, TINY))
    if lost.size:
        logs[lost] = log_sums(X[lost], estimator.support_vectors_, shares, kernel)
    log_offset = _log_share(estimator, offset, dual, squeezed)
    return np.minimum(logs, 0.0), log_offset, _power(kernel)


def distance_ratios_at(
    estimator: Any, scores: Array, offset: float, squeezed: bool = False
) -> Array | None:
    """Return distances from the class that scores stand for, as multiples of the boundary's.

    NaN where a sum is so small that its score has lost it. None where there is no distance.
    """
    kernel, dual = _kernel_of_distances(estimator)
    if kernel is None:
        return None
    shares = estimator._sum_at(scores) / float(dual.sum())
    log_offset = _log_share(estimator, offset, dual, squeezed)
    lost = shares < LOST * np.exp(log_offset)
    return np.where(lost, np.nan, (_logs(shares, squeezed) / log_offset) ** _power(kernel))


def _log_share(estimator: Any, offset: float, dual: Array, squeezed: bool) -> float:
    """Return the logarithm of the kernel sum at the boundary, divided by the largest there is."""
    share = estimator._sum_at(offset) / float(dual.sum())
    return float(_logs(min(share, 1.0 - UNIT), squeezed))


def closeness(
    estimator: Any, scores: Array, weights: Array, squeezed: bool = False
) -> Array | None:
    """Return minus the distances from the class that scores stand for; None where they do not.

    As in `log_scores_and_offset`, and none beyond three times their median.
    """
    kernel, dual = _kernel_of_distances(estimator)
    if kernel is None:
        return None
    logs = _logs(estimator._sum_at(scores) / float(dual.sum()), squeezed)
    distances = (-logs) ** _power(kernel)
    return np.asarray(-np.minimum(distances, 3.0 * weighted_median(distances, weights)))


def _kernel_of_distances(estimator: Any) -> tuple[Kernel | None, Array]:
    """Return the kernel if a sum of its values says how far a row is, and the dual variables."""
    if not hasattr(estimator, "_fitted_kernel"):
        return None, np.empty(0)
    kernel, dual = estimator._fitted_kernel(), estimator._dense_dual()[0]
    exact = (
        estimator.approximation is None and (dual >= 0).all()
    )  # sums over landmarks have both signs
    fits = exact and kernel.vanishes and kernel.separable
    return (kernel if fits else None), dual


def _power(kernel: Kernel) -> float:
    """Return the power of a kernel's exponent that grows like a distance."""
    near, far = kernel.exponents(np.array([1.0, 2.0]))
    return 1.0 / float(np.log2(far / near))
