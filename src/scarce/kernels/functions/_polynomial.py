"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from scarce._arrays import Array
from scarce.kernels.functions._kernel import SINGLE_RANGE, Kernel, Span
from scarce.kernels.functions._products import ProductKernel

SINGLE_POWERS = 1e3  # values up to which float32 gives sums over powers to four digits


@dataclass(frozen=True)
class PolynomialKernel(ProductKernel):
    """``k(x, z) = (gamma x'z + coef0)^degree``.

    Parameters
    ----------
    gamma : float or {"scale", "auto"}
        Slope. A word is turned into a number by `settled`.
    degree : float
        The power.
    coef0 : float
        Constant term.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import PolynomialKernel
    >>> kernel = PolynomialKernel(gamma=1.0, degree=2, coef0=1.0)
    >>> kernel.values(np.eye(2), np.ones((1, 2)))
    array([[4.],
           [4.]])
    """

    name: ClassVar[str] = "poly"
    has_gradient: ClassVar[bool] = True

    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 0.0

    @property
    def definite(self) -> bool:
        """For whole degrees and a constant that is not negative: products and sums of kernels."""
        return self.degree == int(self.degree) and self.coef0 >= 0 and self.gamma >= 0

    def finish(self, products: Array) -> None:
        products *= products.dtype.type(self.gamma)
        products += products.dtype.type(self.coef0)
        if self.degree != int(self.degree):
            np.power(products, self.degree, out=products)
            return
        base = products.copy()  # by multiplication, far faster than pow
        products.fill(1)
        for _ in range(int(self.degree)):
            products *= base

    def finish_plainly(self, products: Array) -> None:
        products *= self.gamma
        products += self.coef0
        np.power(products, self.degree, out=products)

    def _reach(self, left: Array, right: Array) -> Array:
        """Return a bound of what the power is taken of, from norms."""
        return np.asarray(abs(self.gamma) * left * right + abs(self.coef0))

    def fits_single_precision(self, largest: float) -> bool:
        if (
            max(1.0, largest) > SINGLE_RANGE
            or not 1 / SINGLE_RANGE < abs(self.gamma) < SINGLE_RANGE
        ):
            return False
        return self._power_below(SINGLE_RANGE, largest)

    def accurate_in_single_precision(self, largest: float, width: int) -> bool:
        # Sums over powers cancel down to decisions near 1, whatever their size.
        return self.fits_single_precision(largest) and self._power_below(SINGLE_POWERS, largest)

    def _power_below(self, limit: float, largest: float) -> bool:
        reach = max(1.0, abs(self.gamma) * largest + abs(self.coef0))
        return bool(self.degree * np.log(reach) < np.log(limit))

    def largest_value(self, left: Span, right: Span) -> Array:
        return self._reach(left[1], right[1]) ** self.degree

    def rounding(self, left: Span, right: Span, eps: float, width: int, differences: bool) -> Array:
        # d t^degree = degree t^(degree - 1) dt, and t is known to (width + 6) units of its terms.
        return eps * self.degree * (width + 8) * self.largest_value(left, right)

    def slope_kernel(self) -> Kernel:
        return replace(self, degree=self.degree - 1)

    def write_slopes(self, values: Array) -> None:
        values *= self.gamma * self.degree
