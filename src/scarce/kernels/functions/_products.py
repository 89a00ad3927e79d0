"""Kernels that are a function of the inner product of two rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels.functions._kernel import Kernel, plain_products

if TYPE_CHECKING:
    from scarce.kernels.rows._prepared import Panel, Prepared


class ProductKernel(Kernel):
    """A kernel of the inner product alone: a tile of products, finished in place."""

    def write_tile(self, left: Prepared, start: int, stop: int, panel: Panel, out: Array) -> None:
        left.rows.product(start, stop, panel.rows, out)
        self.finish(out)

    def finish(self, products: Array) -> None:
        """Turn inner products into kernel values, in place."""

    def values(self, X: Any, Z: Any) -> Array:
        values = plain_products(X, Z)
        self.finish_plainly(values)
        return values

    def finish_plainly(self, products: Array) -> None:
        """Do what `finish` does with plain float64 NumPy."""

    def diagonal(self, squared_norms: Array) -> Array:
        values = np.array(squared_norms, dtype=np.float64)
        self.finish_plainly(values)
        return values
