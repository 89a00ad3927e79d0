"""The linear kernel, whose features are the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scarce._arrays import Array
from scarce.kernels.functions._kernel import SINGLE_RANGE, Span
from scarce.kernels.functions._products import ProductKernel


@dataclass(frozen=True)
class LinearKernel(ProductKernel):
    """``k(x, z) = x'z``.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import LinearKernel
    >>> LinearKernel().values(np.eye(2), np.array([[3.0, 4.0]]))
    array([[3.],
           [4.]])
    """

    name: ClassVar[str] = "linear"
    definite: ClassVar[bool] = True
    explicit: ClassVar[bool] = True
    has_gradient: ClassVar[bool] = True

    def fits_single_precision(self, largest: float) -> bool:
        return largest < SINGLE_RANGE

    def accurate_in_single_precision(self, largest: float, width: int) -> bool:
        return largest < SINGLE_RANGE

    def largest_value(self, left: Span, right: Span) -> Array:
        return left[1] * right[1]

    def rounding(self, left: Span, right: Span, eps: float, width: int, differences: bool) -> Array:
        # width products, their sum, and two casts.
        return eps * (width + 4) * left[1] * right[1]
