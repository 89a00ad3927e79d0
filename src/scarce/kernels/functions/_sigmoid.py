"""The sigmoid kernel, which is not positive semidefinite in general."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scarce._arrays import Array
from scarce.kernels.functions._kernel import SINGLE_EXPONENTS, SINGLE_RANGE, Span
from scarce.kernels.functions._products import ProductKernel


@dataclass(frozen=True)
class SigmoidKernel(ProductKernel):
    """``k(x, z) = tanh(gamma x'z + coef0)``.

    Parameters
    ----------
    gamma : float or {"scale", "auto"}
        Slope. A word is turned into a number by `settled`.
    coef0 : float
        Constant term.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import SigmoidKernel
    >>> SigmoidKernel(gamma=1.0).values(np.eye(1), np.eye(1)).round(4)
    array([[0.7616]])
    """

    name: ClassVar[str] = "sigmoid"
    definite: ClassVar[bool] = False
    has_gradient: ClassVar[bool] = True

    gamma: Any = "scale"
    coef0: float = 0.0

    def finish(self, products: Array) -> None:
        products *= products.dtype.type(self.gamma)
        products += products.dtype.type(self.coef0)
        np.tanh(products, out=products)

    def finish_plainly(self, products: Array) -> None:
        np.tanh(self.gamma * products + self.coef0, out=products)

    def fits_single_precision(self, largest: float) -> bool:
        return bool(largest < SINGLE_RANGE and 1 / SINGLE_RANGE < abs(self.gamma) < SINGLE_RANGE)

    def accurate_in_single_precision(self, largest: float, width: int) -> bool:
        # What tanh is taken of is known to the last digit of its terms.
        return self.fits_single_precision(largest) and bool(
            abs(self.gamma) * largest < SINGLE_EXPONENTS
        )

    def largest_value(self, left: Span, right: Span) -> Array:
        return np.minimum(self._reach(left, right), 1.0)

    def _reach(self, left: Span, right: Span) -> Array:
        return np.asarray(abs(self.gamma) * left[1] * right[1] + abs(self.coef0))

    def rounding(self, left: Span, right: Span, eps: float, width: int, differences: bool) -> Array:
        # tanh is nowhere steeper than 1.
        return np.minimum(eps * ((width + 6) * self._reach(left, right) + 4), 2.0)

    def write_slopes(self, values: Array) -> None:
        np.multiply(values, values, out=values)
        np.subtract(1.0, values, out=values)
        values *= self.gamma
