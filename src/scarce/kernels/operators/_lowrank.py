"""Kernel matrices of low rank: every row seen through a few landmark rows (Nystroem)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from scarce._arrays import Array
from scarce.kernels.functions._kernel import Kernel
from scarce.kernels.operators._operator import EXACT_UP_TO
from scarce.kernels.operators._rounding import UNIT, NormBins, value_errors
from scarce.kernels.rows._prepared import Prepared, prepare
from scarce.kernels.sums._sums import PANEL_COLUMNS, add_sums
from scarce.solvers import SymmetricOperator

# Directions of the landmark matrix below this share of the largest are dropped: they would only
# multiply rounding errors.
CUTOFF = 1e-8
PRODUCTS = 32  # terms of an inner product that take as long as a kernel value
WELL_CONDITIONED = 1e5  # of the landmark matrix, for single precision to be worth a try


class LandmarkRoot(NamedTuple):
    """The kernel matrix ``K`` of landmarks as ``pinv(K) = root root'``."""

    root: Array
    smallest: float  # eigenvalue of K that was kept
    condition: float


def landmark_root(K: Array) -> LandmarkRoot:
    """Return a root of the pseudo-inverse of the landmarks' kernel matrix.

    ``k(x, landmarks) root`` are features of a row whose inner products are the low-rank kernel.

    ``K``: kernel values between landmarks. Returned: the root and what was kept.
    """
    values, vectors = linalg.eigh(K)
    kept = values > CUTOFF * values[-1]
    smallest = float(values[kept].min())
    return LandmarkRoot(
        np.asarray(vectors[:, kept] / np.sqrt(values[kept])),
        smallest,
        float(values[-1]) / smallest,
    )


class Effort:
    """Kernel values that steps have taken, and those that the same steps take without landmarks."""

    def __init__(self) -> None:
        self.spent = 0.0  # in single precision, which an exact fit mostly uses
        self.exact = 0.0

    def add(self, values: float, precision: Any) -> None:
        """Count values; those in double precision take twice as long."""
        self.spent += values * np.dtype(precision).itemsize / 4


class NystroemOperator(SymmetricOperator):
    """The matrix ``K_nm pinv(K_mm) K_mn`` of rank at most ``m``; no row's features are ever stored.

    A sum over columns costs one pass over the rows against the landmarks, whatever the number of
    columns, and its result is again a combination of landmarks: the fitted model has ``m`` terms.

    ``effort``: of the operator that these rows are a part of.
    """

    definite = True  # as a product of a matrix with its transpose

    def __init__(
        self,
        prepared: Prepared,
        landmarks: Prepared,
        root: LandmarkRoot,
        effort: Effort | None = None,
    ) -> None:
        self.kernel = prepared.kernel
        self.name = prepared.kernel.name
        self.n = prepared.n
        self.prepared = prepared
        self.landmarks = landmarks
        self.root = root
        self.inverse: Array = root.root @ root.root.T
        self.effort = Effort() if effort is None else effort
        self._cast: dict[Any, tuple[Prepared, Prepared]] = {}

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer: float32 first when combinations of landmarks cancel little."""
        single = self.n > EXACT_UP_TO and self.root.condition < WELL_CONDITIONED
        single = single and self.kernel.fits_single_precision(self.prepared.largest)
        return (np.float32, np.float64) if single else (np.float64,)

    def _in(self, precision: Any) -> tuple[Prepared, Prepared]:
        if precision not in self._cast:
            self._cast[precision] = self.prepared.cast(precision), self.landmarks.cast(precision)
        return self._cast[precision]

    def subset(self, indices: Array) -> NystroemOperator:
        """Return the operator of some of the rows, with the same landmarks."""
        return NystroemOperator(self.prepared.take(indices), self.landmarks, self.root, self.effort)

    def diagonal(self) -> Array:
        """Return ``k(x_i, x_i)``, which the projection can only make smaller."""
        return self.kernel.diagonal(self.prepared.norms)

    def _to_landmarks(self, indices: Array, precision: Any) -> Array:
        rows, landmarks = self._in(precision)
        part = rows.take(indices)
        values = np.empty((indices.size, landmarks.n), precision)
        for panel in landmarks.panels(PANEL_COLUMNS):
            columns = slice(panel.first, panel.first + panel.n)
            for start in range(0, indices.size, 1024):
                stop = min(indices.size, start + 1024)
                tile = np.empty((stop - start, panel.n), precision)
                part.write(start, stop, panel, tile)
                values[start:stop, columns] = tile
        return values

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``."""
        size, m = indices.size, self.landmarks.n
        self.effort.add(size * m + size**2 * m / PRODUCTS, out.dtype)
        self.effort.exact += size**2 / 2  # a symmetric block
        values = self._to_landmarks(indices, out.dtype.type)
        out[...] = values @ self.inverse @ values.T

    def landmark_weights(self, columns: Array, weights: Array) -> Array:
        """Return the combination of landmarks that a combination of rows amounts to.

        From plain values: it is what a fitted model keeps, and what the certificate speaks of.
        """
        return self._combined(weights, (self._plain(some) for some in _parts(columns)))

    def _combined(self, weights: Array, values: Iterable[Array]) -> Array:
        """Return the combination of landmarks from the values of the rows, part by part."""
        total, first = np.zeros((weights.shape[0], self.landmarks.n)), 0
        for part in values:
            total += weights[:, first : first + len(part)] @ part
            first += len(part)
        root = self.root.root  # by the inverse itself rounding would grow with its square
        return np.asarray((total @ root) @ root.T)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] K[i, columns[j]]`` to ``out[i]`` for every row."""
        self.effort.add((self.n + columns.size) * self.landmarks.n, precision)
        self.effort.exact += self.n * columns.size
        rows, landmarks = self._in(precision)
        values = (self._to_landmarks(some, precision) for some in _parts(columns))
        add_sums(rows, landmarks, self._combined(weights, values), groups, out)

    def _plain(self, indices: Array) -> Array:
        rows, landmarks = self.prepared.rows, self.landmarks.rows
        return self.kernel.values(rows.plain(indices), landmarks.plain(slice(None)))

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means."""
        return np.asarray(self._plain(rows) @ self.inverse @ self._plain(columns).T)

    def reference_sums(self, rows: Array, columns: Array, weights: Array, groups: Array) -> Array:
        """Return ``sum_j weights[groups[i], j] K[rows[i], columns[j]]`` in float64."""
        combination = self.landmark_weights(columns, weights)
        sums = np.empty(rows.size)
        for start in range(0, rows.size, 4096):
            tile = slice(start, start + 4096)
            sums[tile] = np.einsum("ij,ij->i", self._plain(rows[tile]), combination[groups[tile]])
        return sums

    @cached_property
    def _bins(self) -> tuple[NormBins, NormBins]:
        return NormBins(self.prepared.norms), NormBins(self.landmarks.norms)

    def error_bound(self, absolute_weights: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row.

        With values to the landmarks that are off by at most ``e_i`` for row ``i``, and as
        ``|pinv(K)^(1/2)|`` is ``smallest^(-1/2)``, the row's own error and that of the combination
        are at most ``sqrt(m k / smallest)`` times ``e_i`` and ``e_j`` per unit of weight, where
        ``k`` is the largest value of the kernel's diagonal. Sums over the columns and over the
        landmarks are rounded too, by a fraction of ``k`` per unit of weight and term.
        """
        rows, landmarks = self._bins
        longest = self.prepared.rows.longest + self.landmarks.n
        table = value_errors(
            self.kernel,
            rows,
            landmarks,
            float(np.finfo(precision).eps),
            longest,
            self.prepared.differences,
        )
        largest, m = float(np.abs(self.diagonal()).max()), self.landmarks.n
        terms = 8 + np.count_nonzero(absolute_weights) + m * np.sqrt(m)
        errors = table.max(axis=1)[rows.codes] + UNIT * terms * largest
        reach = np.sqrt(m * largest / self.root.smallest)
        with np.errstate(over="ignore"):
            return np.asarray(
                reach * (errors * float(absolute_weights.sum()) + float(errors @ absolute_weights))
            )


def _parts(indices: Array) -> list[Array]:
    return [indices[first : first + 4096] for first in range(0, indices.size, 4096)]


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

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import make_kernel, nystroem_operator
    >>> X = np.array([[0.0], [0.1], [5.0]])
    >>> nystroem_operator(X, make_kernel("rbf"), np.array([0, 2])).landmarks.n
    2
    """
    kernel.require_formula()
    rows = prepare(kernel, X)
    chosen = rows.take(landmarks)
    among = kernel.values(chosen.rows.plain(slice(None)), chosen.rows.plain(slice(None)))
    if rows.differences and np.count_nonzero(among) == chosen.n:
        raise ValueError(
            f"gamma={kernel.parameters().get('gamma'):g} is too large for approximation="
            '"nystroem": kernel values between rows are zero, so that no few rows can represent '
            "the others; give a smaller gamma, or approximation=None"
        )
    return NystroemOperator(rows, chosen, landmark_root(among))
