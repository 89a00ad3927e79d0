"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.spatial import distance

from scarce import _core
from scarce._arrays import Array
from scarce.kernels.functions._kernel import (
    SINGLE_EXPONENTS,
    SINGLE_RANGE,
    Kernel,
    Span,
    separation,
)

if TYPE_CHECKING:
    from scarce.kernels.rows._prepared import Panel, Prepared

# gamma |x|^2 from which distances are computed from differences, in general and of values that are
# themselves what a solution is certified against.
PACKED_ROWS = 64  # in a block of packed rows
LOST_DISTANCES, UNSURE_DISTANCES = 1e8, 1e4


@dataclass(frozen=True)
class RBFKernel(Kernel):
    """``k(x, z) = exp(-gamma |x - z|^2)``.

    Parameters
    ----------
    gamma : float or {"scale", "auto", "neighbors"}
        Inverse squared width. A word is turned into a number by `settled`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import RBFKernel
    >>> RBFKernel(gamma=0.5).values(np.zeros((1, 2)), np.array([[0.0, 2.0]])).round(4)
    array([[0.1353]])
    """

    name: ClassVar[str] = "rbf"
    definite: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    vanishes: ClassVar[bool] = True
    has_gradient: ClassVar[bool] = True
    direct: ClassVar[bool] = True
    separable: ClassVar[bool] = True

    gamma: Any = "scale"

    def neighbour_distance(self, X: Any, weights: Array | None = None) -> float:
        """Return the median squared distance to a near neighbour."""
        from scarce.kernels.functions._gamma import neighbour_distance

        return neighbour_distance(X, weights)

    def values(self, X: Any, Z: Any) -> Array:
        # From differences: nothing cancels, and no formula is shared with the tiles.
        dense = type(X) is type(Z) is np.ndarray
        if not dense and (sparse.issparse(X) or sparse.issparse(Z)):
            from scarce.kernels.rows._rows import sparse_distances

            squares = sparse_distances(X, Z, squared=True)
        else:
            X, Z = np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)
            squares = distance.cdist(X, Z, "sqeuclidean")
        squares *= -self.gamma
        return np.asarray(np.exp(squares, out=squares))

    def exponents(self, differences: Array) -> Array:
        return np.asarray(-self.gamma * differences**2)

    def diagonal(self, squared_norms: Array) -> Array:
        return np.ones_like(squared_norms, dtype=np.float64)

    def row_terms(self, squared_norms: Array) -> Array | None:
        return np.asarray(self.gamma * squared_norms)

    def write_tile(self, left: Prepared, start: int, stop: int, panel: Panel, out: Array) -> None:
        if left.differences:
            left.rows.distances(start, stop, panel.rows, out, squared=True)
            out *= -self.gamma
            np.exp(out, out=out)
            return
        left.rows.product(start, stop, panel.rows, out)
        assert left.terms is not None
        assert panel.terms is not None
        _core.exponentials(out, left.terms[start:stop], panel.terms, 2.0 * self.gamma)

    def packed(self, Z: Array, space: Array | None = None) -> Array:
        n, width = Z.shape
        size = -(-n // PACKED_ROWS) * PACKED_ROWS * width
        packed = np.empty(size) if space is None or space.size < size else space
        _core.pack(Z, packed)
        return packed

    def write_packed(self, X: Array, rows: Array, packed: Array, out: Array) -> None:
        _core.gaussian_rows(X, rows, packed, self.gamma, out)

    def write_square(self, X: Array, packed: Array, start: int, stop: int, out: Array) -> None:
        _core.gaussian_square(X, start, stop, packed, self.gamma, out)

    def packed_scores(
        self, X: Array, packed: Array, weights: Array, groups: Array, out: Array
    ) -> None:
        weights, groups = np.ascontiguousarray(weights), np.ascontiguousarray(groups)
        _core.gaussian_scores(X, packed, self.gamma, weights, groups, out)

    def plain_sums(
        self, X: Array, rows: Array, columns: Array, weights: Array, groups: Array
    ) -> Array:
        sums, weights = np.empty(rows.size), np.ascontiguousarray(weights)
        _core.gaussian_sums(X, rows, columns, self.gamma, weights, groups, sums)
        return sums

    def needs_differences(self, largest: float, exact: bool = False) -> bool:
        # |x|^2 + |z|^2 - 2 x'z is known to the last digit of the norms. With norms this large, in
        # units of the kernel's width, that is too little for rows near each other.
        return bool(self.gamma * largest >= (UNSURE_DISTANCES if exact else LOST_DISTANCES))

    def fits_single_precision(self, largest: float) -> bool:
        inside = largest < SINGLE_RANGE and 1 / SINGLE_RANGE < self.gamma < SINGLE_RANGE
        return bool(inside and not self.needs_differences(largest))

    def accurate_in_single_precision(self, largest: float, width: int) -> bool:
        return self.fits_single_precision(largest) and self.gamma * largest < SINGLE_EXPONENTS

    def largest_value(self, left: Span, right: Span) -> Array:
        return np.asarray(np.exp(-self.gamma * separation(left, right) ** 2))

    def rounding(self, left: Span, right: Span, eps: float, width: int, differences: bool) -> Array:
        reach = left[1] + right[1]
        if differences:
            # Coordinates lose eps times the norm when centred; exp(-t) sqrt(t) < 0.43.
            return np.asarray(np.minimum(eps * (np.sqrt(self.gamma) * reach + width + 8), 1.0))
        # The exponent: width products and sums, two squared norms, casts of all of them.
        wrong = self.gamma * eps * (width + 8) * reach**2
        nearest = np.maximum(self.gamma * separation(left, right) ** 2 - wrong, 0.0)
        floor = 1e-37 if eps > 1e-10 else 1e-300  # what underflows is set to about this
        return np.asarray(np.minimum(wrong + 8 * eps, 1.0) * np.exp(-nearest) + floor)

    def write_slopes(self, values: Array) -> None:
        values *= 2.0 * self.gamma
