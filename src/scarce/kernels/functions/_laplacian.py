"""The Laplacian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.spatial import distance

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


@dataclass(frozen=True)
class LaplacianKernel(Kernel):
    """``k(x, z) = exp(-gamma |x - z|_1)``; "scale" is ``1 / (n_features * standard deviation)``.

    Parameters
    ----------
    gamma : float or {"scale", "auto", "neighbors"}
        Inverse width. A word is turned into a number by `settled`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import LaplacianKernel
    >>> LaplacianKernel(gamma=0.5).values(np.zeros((1, 2)), np.array([[1.0, -1.0]])).round(4)
    array([[0.3679]])
    """

    name: ClassVar[str] = "laplacian"
    definite: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    vanishes: ClassVar[bool] = True
    separable: ClassVar[bool] = True

    gamma: Any = "scale"

    @classmethod
    def scale(cls, per_variance: float, n_features: int) -> float:
        """Return ``1 / (n_features * standard deviation)``."""
        return float(np.sqrt(per_variance / n_features))

    def neighbour_distance(self, X: Any, weights: Array | None = None) -> float:
        """Return the median distance to a near neighbour."""
        from scarce.kernels.functions._gamma import neighbour_distance

        return neighbour_distance(X, weights, "manhattan")

    def values(self, X: Any, Z: Any) -> Array:
        if sparse.issparse(X) or sparse.issparse(Z):
            from scarce.kernels.rows._rows import sparse_distances

            lengths = sparse_distances(X, Z, squared=False)
        else:
            X, Z = np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)
            lengths = distance.cdist(X, Z, "cityblock")
        lengths *= -self.gamma
        return np.asarray(np.exp(lengths, out=lengths))

    def exponents(self, differences: Array) -> Array:
        return np.asarray(-self.gamma * np.abs(differences))

    def diagonal(self, squared_norms: Array) -> Array:
        return np.ones_like(squared_norms, dtype=np.float64)

    def write_tile(self, left: Prepared, start: int, stop: int, panel: Panel, out: Array) -> None:
        left.rows.distances(start, stop, panel.rows, out, squared=False)
        out *= out.dtype.type(-self.gamma)
        np.exp(out, out=out)

    def needs_differences(self, largest: float, exact: bool = False) -> bool:
        return True

    def fits_single_precision(self, largest: float) -> bool:
        return bool(largest < SINGLE_RANGE and 1 / SINGLE_RANGE < self.gamma < SINGLE_RANGE)

    def accurate_in_single_precision(self, largest: float, width: int) -> bool:
        reach = self.gamma * np.sqrt(width * largest)  # |x|_1 <= sqrt(width) |x|
        return self.fits_single_precision(largest) and bool(reach < SINGLE_EXPONENTS)

    def largest_value(self, left: Span, right: Span) -> Array:
        # |x - z|_1 >= |x - z|
        return np.asarray(np.exp(-self.gamma * separation(left, right)))

    def rounding(self, left: Span, right: Span, eps: float, width: int, differences: bool) -> Array:
        # Each coordinate is centred and cast, each difference rounded, the sum of width terms.
        wrong = self.gamma * eps * (width + 4) * np.sqrt(width) * (left[1] + right[1])
        nearest = np.maximum(self.gamma * separation(left, right) - wrong, 0.0)
        return np.asarray(np.minimum(wrong + 8 * eps, 1.0) * np.exp(-nearest))
