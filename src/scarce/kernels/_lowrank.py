"""Kernel matrices of low rank: every row seen through a few landmark rows (Nystroem)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from scarce.kernels._kernel import Kernel
from scarce.kernels._operator import EXACT_UP_TO, KernelOperator, center_of
from scarce.kernels._rows import Rows, as_rows
from scarce.kernels._sums import Scored, add_sums

Array = NDArray[Any]

# Directions of the landmark matrix below this share of the largest are dropped: they would only
# multiply rounding errors.
CUTOFF = 1e-8
WELL_CONDITIONED = 1e5  # of the landmark matrix, for single precision to be worth a try


class NystroemOperator:
    """The matrix ``K_nm pinv(K_mm) K_mn`` of rank at most ``m``; no row's features are ever stored.

    A sum over columns costs one pass over the rows against the landmarks, whatever the number of
    columns, and its result is again a combination of landmarks: the fitted model has ``m`` terms.
    """

    def __init__(
        self, rows: Rows, kernel: Kernel, landmarks: Rows, inverse: tuple[Array, float]
    ) -> None:
        self.kernel = kernel
        self.n = rows.n
        self._rows = rows
        self._landmarks = landmarks
        self.inverse, self.condition = inverse
        self._norms = rows.squared_norms()
        self._largest = float(self._norms.max())
        self._scored: dict[Any, tuple[Scored, Scored]] = {}

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer: float32 first when combinations of landmarks cancel little."""
        single = self.n > EXACT_UP_TO and self.condition < WELL_CONDITIONED
        single = single and self.kernel.fits_single_precision(self._largest)
        return (np.float32, np.float64) if single else (np.float64,)

    def _in(self, precision: Any) -> tuple[Scored, Scored]:
        if precision not in self._scored:
            self._scored[precision] = (
                Scored(self._rows.cast(precision), self.kernel, self._norms),
                Scored(self._landmarks.cast(precision), self.kernel),
            )
        return self._scored[precision]

    def subset(self, indices: Array) -> NystroemOperator:
        """Return the operator of some of the rows, with the same landmarks."""
        return NystroemOperator(
            self._rows.take(indices),
            self.kernel,
            self._landmarks,
            (self.inverse, self.condition),
        )

    def diagonal(self) -> Array:
        """Return ``k(x_i, x_i)``, which the projection can only make smaller."""
        return self.kernel.of_squared_norms(self._norms)

    def _to_landmarks(self, indices: Array, precision: Any) -> Array:
        rows, landmarks = self._in(precision)
        part = rows.take(indices)
        values = np.empty((indices.size, landmarks.n), precision)
        panel = landmarks.rows.panel()
        for start in range(0, indices.size, 1024):
            stop = min(indices.size, start + 1024)
            part.write(start, stop, panel, landmarks.terms, values[start:stop])
        return values

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``."""
        values = self._to_landmarks(indices, out.dtype.type)
        out[...] = values @ self.inverse @ values.T

    def landmark_weights(
        self, columns: Array, weights: Array, precision: Any = np.float64
    ) -> Array:
        """Return the combination of landmarks that a combination of rows amounts to."""
        total = np.zeros((weights.shape[0], self.inverse.shape[0]))
        for first in range(0, columns.size, 4096):
            some = slice(first, first + 4096)
            total += weights[:, some] @ self._to_landmarks(columns[some], precision)
        return np.asarray(total @ self.inverse)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] K[i, columns[j]]`` to ``out[i]`` for every row."""
        rows, landmarks = self._in(precision)
        combination = self.landmark_weights(columns, weights, precision)
        add_sums(rows, landmarks, combination, groups, out)

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 with plain NumPy."""
        left, right = (self._plain(indices) for indices in (rows, columns))
        return np.asarray(left @ self.inverse @ right.T)

    def _plain(self, indices: Array) -> Array:
        rows, landmarks = self._rows.take(indices), self._landmarks
        values = rows.plain_products(landmarks)
        return self.kernel.of_products(values, self._norms[indices], landmarks.squared_norms())


def nystroem_operator(X: Any, kernel: Kernel, landmarks: Array) -> NystroemOperator:
    """Return the low-rank kernel matrix of some rows, seen through those of the given indices.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The rows.
    kernel : Kernel
        A kernel with a formula: not precomputed, not a callable.
    landmarks : ndarray of int
        Indices of the landmark rows.

    Returns
    -------
    operator
        What `QuadraticProgram` takes as its `kernel`.
    """
    kernel.require_formula()
    rows = as_rows(X, center_of(X, kernel))
    largest = float(rows.squared_norms().max())
    if kernel.without_cancellation(largest) is not kernel:
        raise ValueError(
            f"gamma={kernel.gamma:g} is too narrow for rows of squared norm {largest:g}: every row "
            "is on its own, and no few rows can stand for the others"
        )
    chosen = rows.take(landmarks)
    among = np.empty((chosen.n, chosen.n))
    KernelOperator(chosen, kernel).write_block(np.arange(chosen.n), among)
    return NystroemOperator(rows, kernel, chosen, _pseudo_inverse(among))


def _pseudo_inverse(K: Array) -> tuple[Array, float]:
    """Return the pseudo-inverse and the condition of what was kept."""
    values, vectors = linalg.eigh(K)
    kept = values > CUTOFF * values[-1]
    scaled = vectors[:, kept] / np.sqrt(values[kept])
    return np.asarray(scaled @ scaled.T), float(values[-1] / values[kept].min())
