"""Kernel functions, written as what remains to be done to a tile of inner products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import distance

Array = NDArray[Any]

SINGLE_RANGE = 1e30  # kernel terms must stay below this for single precision
SINGLE_DISTANCES = 1e2  # gamma |x|^2 up to which float32 gives an RBF kernel to five digits
SINGLE_POWERS = 1e3  # values up to which float32 gives sums over a polynomial kernel to four digits
LOST_DISTANCES = 1e8  # gamma |x|^2 from which an RBF kernel is computed from differences
NAMES = ("linear", "rbf", "poly", "sigmoid", "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel by name, or a callable ``k(X, Z)`` that returns the matrix of values.

    Parameters
    ----------
    name : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable
        ``x'z``, ``exp(-gamma |x - z|^2)``, ``(gamma x'z + coef0)^degree``,
        ``tanh(gamma x'z + coef0)``, given values, or a function of two arrays of rows.
    gamma, degree, coef0 : float
        Parameters of the formulas above; those a kernel does not name are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> Kernel("poly", gamma=1.0, degree=2, coef0=1.0).values(np.eye(2), np.ones((1, 2)))
    array([[4.],
           [4.]])
    """

    name: str | Callable[[Any, Any], Any] = "rbf"
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.name) and self.name not in NAMES:
            raise ValueError(f"kernel must be one of {NAMES} or a callable, got {self.name!r}")

    def require_formula(self) -> None:
        """Raise an error for kernels without one."""
        if callable(self.name) or self.name == "precomputed":
            raise ValueError(
                f"kernel {self.name!r} has no formula; use linear, rbf, poly or sigmoid"
            )

    @property
    def needs_norms(self) -> bool:
        """Whether the squared norms of the rows enter beside the inner products."""
        return self.name == "rbf"

    def fits_single_precision(self, largest: float) -> bool:
        """Say whether rows of squared norms up to ``largest`` stay in the range of float32."""
        slope = abs(self.gamma)
        largest = max(1.0, largest)
        if largest > SINGLE_RANGE or not 1 / SINGLE_RANGE < slope < SINGLE_RANGE:
            return False
        if self.name != "poly":
            return True
        reach = max(1.0, slope * largest + abs(self.coef0))
        return bool(self.degree * np.log(reach) < np.log(SINGLE_RANGE))

    def accurate_in_single_precision(self, largest: float) -> bool:
        """Say whether float32 values are good to some digits when nothing checks them.

        An RBF exponent, and what the sigmoid is taken of, is known to the last digit of
        ``gamma |x|^2``. Sums over powers cancel down to decisions near 1, whatever their size.
        """
        if not self.fits_single_precision(largest):
            return False
        if self.name == "poly":
            reach = max(1.0, abs(self.gamma) * largest + abs(self.coef0))
            return bool(self.degree * np.log(reach) < np.log(SINGLE_POWERS))
        return self.name == "linear" or abs(self.gamma) * largest < SINGLE_DISTANCES

    def without_cancellation(self, largest: float) -> Kernel:
        """Return the kernel, or one from differences where squared norms would lose the distances.

        ``|x|^2 + |z|^2 - 2 x'z`` is known to the last digit of the norms. With norms this large,
        in units of the kernel's width, that is too little for rows near each other.
        """
        if self.name != "rbf" or self.gamma * largest < LOST_DISTANCES:
            return self
        return Kernel(partial(_rbf_of_differences, gamma=self.gamma))

    def norm_terms(self, squared_norms: Array) -> Array:
        """Return what a row takes from the exponent of the RBF kernel, ``gamma |x|^2``."""
        return self.gamma * squared_norms

    def finish(self, products: Array, row_terms: Array | None, column_terms: Array | None) -> None:
        """Turn a tile of inner products into kernel values, in place."""
        if self.name == "rbf":
            from scarce.kernels import _compiled

            wide = products.dtype == np.float64
            powers = np.empty(products.shape[1], products.dtype)
            bits = powers.view(np.int64 if wide else np.int32)
            slope = products.dtype.type(2.0 * self.gamma)
            exp_rows: Any = _compiled.exp_rows_64 if wide else _compiled.exp_rows_32
            exp_rows(products, row_terms, column_terms, slope, powers, bits)
        elif self.name in ("poly", "sigmoid"):
            products *= products.dtype.type(self.gamma)
            products += products.dtype.type(self.coef0)
            if self.name == "sigmoid":
                np.tanh(products, out=products)
            else:
                _power(products, self.degree)

    def of_products(self, products: Array, row_norms: Array, column_norms: Array) -> Array:
        """Turn inner products into kernel values with plain float64 NumPy, in place."""
        if self.name == "rbf":
            products *= -2.0
            products += row_norms[:, None]
            products += column_norms
            np.maximum(products, 0.0, out=products)
            products *= -self.gamma
            np.exp(products, out=products)
        elif self.name in ("poly", "sigmoid"):
            products *= self.gamma
            products += self.coef0
            if self.name == "poly":
                np.power(products, self.degree, out=products)
            else:
                np.tanh(products, out=products)
        return products

    def values(self, X: Any, Z: Any) -> Array:
        """Return the matrix of kernel values of two sets of rows, in float64.

        Parameters
        ----------
        X, Z : array-like or CSR of shape (n, d) and (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, m)
            ``k(x_i, z_j)``.
        """
        if callable(self.name):
            found = self.name(X, Z)
            found = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=float)
            if found.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    f"kernel must return an array of shape {(X.shape[0], Z.shape[0])}, "
                    f"got {found.shape}"
                )
            return found
        if self.name == "precomputed":
            raise ValueError("a precomputed kernel has no values of its own")
        if not sparse.issparse(X) and not sparse.issparse(Z):
            X, Z = np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)
            if self.name == "rbf":
                center = Z.mean(axis=0)
                X, Z = X - center, Z - center
            norms = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z)
            return self.of_products(X @ Z.T, *norms)
        X, Z = sparse.csr_array(X, dtype=np.float64), sparse.csr_array(Z, dtype=np.float64)
        norms = X.multiply(X).sum(axis=1), Z.multiply(Z).sum(axis=1)
        return self.of_products(np.asarray((X @ Z.T).toarray()), *norms)

    def of_squared_norms(self, squared_norms: Array) -> Array:
        """Return ``k(x, x)`` for rows of the given squared norms."""
        if self.name == "rbf":
            return np.ones_like(squared_norms)
        values = np.array(squared_norms, dtype=float, ndmin=2)
        self.finish(values, None, None)
        return np.asarray(values[0])


def _rbf_of_differences(X: Any, Z: Any, gamma: float) -> Array:
    return np.asarray(np.exp(-gamma * distance.cdist(X, Z, "sqeuclidean")))


def _power(values: Array, degree: float) -> None:
    """Raise to a power in place; whole degrees by multiplication, far faster than ``pow``."""
    if degree != int(degree):
        np.power(values, degree, out=values)
        return
    base = values.copy()
    values.fill(1)
    for _ in range(int(degree)):
        values *= base
