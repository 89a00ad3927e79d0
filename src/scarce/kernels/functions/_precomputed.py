"""Kernel values that were computed elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scarce._arrays import Array
from scarce.kernels.functions._kernel import Kernel, Span

if TYPE_CHECKING:
    from scarce.kernels.rows._prepared import Panel, Prepared


@dataclass(frozen=True)
class PrecomputedKernel(Kernel):
    """The rows are the values; whether the matrix is positive semidefinite is unknown."""

    name: ClassVar[str] = "precomputed"
    definite: ClassVar[bool] = False
    pairwise: ClassVar[bool] = True
    has_formula: ClassVar[bool] = False

    def values(self, X: Any, Z: Any) -> Array:
        raise ValueError("a precomputed kernel has no values of its own: the rows are the values")

    def diagonal(self, squared_norms: Array) -> Array:
        raise ValueError("a precomputed kernel has no formula for its diagonal")

    def write_tile(self, left: Prepared, start: int, stop: int, panel: Panel, out: Array) -> None:
        raise ValueError("a precomputed kernel has no values of its own: the rows are the values")

    def largest_value(self, left: Span, right: Span) -> Array:
        raise ValueError("a precomputed kernel has no bound from norms")

    def rounding(self, left: Span, right: Span, eps: float, width: int, differences: bool) -> Array:
        raise ValueError("a precomputed kernel has no bound from norms")
