"""Bounds of the rounding errors of sums of kernel values, for every row from its own norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels.functions._kernel import Kernel

RATIO = 1.2  # of the largest to the smallest norm in a bin
BINS = 96  # 1.2^96 = 4e7: smaller norms than that share the last bin
UNIT = float(np.finfo(np.float64).eps)  # sums are taken in float64 whatever the values are


class NormBins:
    """Rows sorted into bins of about equal norms, so that bounds are computed per bin.

    ``squared_norms``: squared norms of the rows.
    """

    def __init__(self, squared_norms: Array) -> None:
        norms = np.sqrt(squared_norms)
        top = float(norms.max(initial=0.0)) or 1.0
        with np.errstate(divide="ignore"):
            steps = np.log(norms / top) / -np.log(RATIO)
        raw = np.minimum(steps, BINS - 1).astype(np.int64)
        _, self.codes = np.unique(raw, return_inverse=True)
        n_bins = int(self.codes.max(initial=-1)) + 1
        low, high = np.full(n_bins, np.inf), np.zeros(n_bins)
        np.minimum.at(low, self.codes, norms)
        np.maximum.at(high, self.codes, norms)
        self.low, self.high, self.n_bins = low, high, n_bins

    def as_left(self) -> tuple[Array, Array]:
        """Return the bins' smallest and largest norms as lines of a table."""
        return self.low[:, None], self.high[:, None]

    def as_right(self) -> tuple[Array, Array]:
        """Return them as columns of a table."""
        return self.low[None, :], self.high[None, :]


def value_errors(
    kernel: Kernel, left: NormBins, right: NormBins, eps: float, width: int, differences: bool
) -> Array:
    """Return a bound of the error of one value, for every bin of the left and of the right."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        table = kernel.rounding(left.as_left(), right.as_right(), eps, width, differences)
        # The weight that multiplies the value is cast to the precision of the tile.
        table = table + eps * kernel.largest_value(left.as_left(), right.as_right())
    return _without_nan(np.asarray(table, dtype=np.float64))


def sum_errors(
    kernel: Kernel,
    left: NormBins,
    right: NormBins,
    absolute_weights: Array,
    eps: float,
    width: int,
    differences: bool,
) -> Array:
    """Return a bound of the error of ``sum_j weight_j k(x_i, z_j)`` for every row on the left.

    ``absolute_weights``: sum of the absolute weights that each row on the right had. ``eps``,
    ``width``, ``differences``: precision of the values, terms of an inner product, and how
    distances are computed.
    """
    return ErrorTable(kernel, left, right, eps, width, differences).sum_errors(absolute_weights)


class ErrorTable:
    """Bounds of `sum_errors` for every two bins, for several sums over the same rows."""

    def __init__(
        self,
        kernel: Kernel,
        left: NormBins,
        right: NormBins,
        eps: float,
        width: int,
        differences: bool,
    ) -> None:
        self.left, self.right = left, right
        self.errors = value_errors(kernel, left, right, eps, width, differences)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            self.sizes = kernel.largest_value(left.as_left(), right.as_right())

    def sum_errors(self, absolute_weights: Array, rows: Any = slice(None)) -> Array:
        """Return the bounds for every row on the left, or some of them on both sides."""
        mass = np.bincount(self.right.codes[rows], absolute_weights, minlength=self.right.n_bins)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            table = self.errors + UNIT * (8 + np.count_nonzero(absolute_weights)) * self.sizes
            bounds = np.where(mass > 0, table, 0.0) @ mass
        return np.asarray(_without_nan(bounds)[self.left.codes[rows]])


def _without_nan(bounds: Array) -> Array:
    bounds[np.isnan(bounds)] = np.inf
    return bounds
