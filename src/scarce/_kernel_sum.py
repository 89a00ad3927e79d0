"""A fitted model as a formula: sums of kernel functions, for whoever takes it apart."""

from __future__ import annotations

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


def log_scores_and_offset(estimator: Any, X: Any, offset: float) -> tuple[Array, float, float]:
    """Return logarithms of the kernel sums of a one-class model, and of an offset in its scale.

    Sums are divided by the largest there is, so that logarithms are not above zero. The third
    number is the power of a logarithm that grows like a distance. Rows so far away that the sum
    underflows have a logarithm too.
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
    return np.minimum(logs, 0.0), _log_share(estimator, offset, dual), _power(kernel)


def distance_ratios_at(estimator: Any, scores: Array, offset: float) -> Array | None:
    """Return distances from the class that scores stand for, as multiples of the boundary's.

    NaN where a sum is so small that its score has lost it. None where there is no distance.
    """
    kernel, dual = _kernel_of_distances(estimator)
    if kernel is None:
        return None
    shares, log_offset = (
        estimator._sum_at(scores) / float(dual.sum()),
        _log_share(estimator, offset, dual),
    )
    lost = shares < LOST * np.exp(log_offset)
    logs = np.log(np.clip(shares, TINY, 1.0))
    return np.where(lost, np.nan, (logs / log_offset) ** _power(kernel))


def _log_share(estimator: Any, offset: float, dual: Array) -> float:
    """Return the logarithm of the kernel sum at the boundary, divided by the largest there is."""
    share = estimator._sum_at(offset) / float(dual.sum())
    return float(np.log(min(max(share, TINY), 1.0 - UNIT)))


def closeness(estimator: Any, scores: Array, weights: Array) -> Array | None:
    """Return minus the distances from the class that scores stand for; None where they do not.

    As in `log_scores_and_offset`, and none beyond three times their median.
    """
    kernel, dual = _kernel_of_distances(estimator)
    if kernel is None:
        return None
    shares = np.clip(estimator._sum_at(scores) / float(dual.sum()), TINY, 1.0)
    distances = (-np.log(shares)) ** _power(kernel)
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
