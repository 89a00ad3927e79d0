"""Rows moved along a few common directions, without a moved copy of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels.functions._kernel import Kernel
from scarce.kernels.rows._rows import Rows


class ShiftedRows:
    """The rows ``x_i + amounts[i] * directions[tasks[i]]``, for a linear kernel.

    Sparse rows stay sparse: only their inner products with the few directions are added.

    ``amounts``: how far each row is shifted. ``tasks``: along which direction. ``directions``: the
    directions. ``along``: inner products of the rows with the directions, if they are known.
    """

    def __init__(
        self,
        rows: Rows,
        amounts: Array,
        tasks: Array,
        directions: Array,
        along: Array | None = None,
    ) -> None:
        self.rows = rows
        self.n, self.width, self.dtype = rows.n, rows.width, rows.dtype
        self.longest = rows.longest + 4  # terms of an inner product, the shifts' included
        self.amounts = amounts
        self.tasks = tasks
        self.directions = directions
        self.along = self._all_along() if along is None else along

    def _all_along(self) -> Array:
        """Return the inner product of every row with every direction."""
        along = np.zeros((self.directions.shape[0], self.n))
        for group, products in enumerate(along):
            groups = np.full(self.n, group)
            self.rows.project(0, self.n, self.directions, groups, products)
        return along.T

    def cast(self, dtype: Any) -> ShiftedRows:
        rows = self.rows.cast(dtype)
        return ShiftedRows(rows, self.amounts, self.tasks, self.directions, self.along)

    def take(self, indices: Array) -> ShiftedRows:
        return ShiftedRows(
            self.rows.take(indices),
            self.amounts[indices],
            self.tasks[indices],
            self.directions,
            self.along[indices],
        )

    def _corrections(self, start: int, stop: int, other: ShiftedRows) -> Array:
        """Return what the shifts add to the inner products of some rows with all others."""
        amounts, tasks = self.amounts[start:stop, None], self.tasks[start:stop]
        theirs = self.along[start:stop][:, other.tasks] * other.amounts
        ours = amounts * other.along[:, tasks].T
        both = (self.directions @ self.directions.T)[np.ix_(tasks, other.tasks)]
        return np.asarray(theirs + ours + amounts * both * other.amounts)

    def squared_norms(self) -> Array:
        own = self.along[np.arange(self.n), self.tasks]
        lengths = np.einsum("ij,ij->i", self.directions, self.directions)[self.tasks]
        return np.asarray(
            self.rows.squared_norms() + 2.0 * self.amounts * own + self.amounts**2 * lengths
        )

    def panel(self, differences: bool = False) -> Any:
        return self.rows.panel(), self

    def product(self, start: int, stop: int, panel: Any, out: Array) -> None:
        inner, other = panel
        self.rows.product(start, stop, inner, out)
        out += self._corrections(start, stop, other)

    def reference(self, kernel: Kernel, rows: Array, columns: Array) -> Array:
        if not kernel.explicit:
            raise ValueError(f"shifted rows are for a linear kernel, got {kernel.name!r}")
        part, other = self.take(rows), self.take(columns)
        plain = self.rows.reference(kernel, rows, columns)
        return np.asarray(plain + part._corrections(0, part.n, other))

    def combine(self, weights: Array) -> Array:
        members = np.eye(self.directions.shape[0])[self.tasks]
        moved = (weights * self.amounts) @ members
        return np.asarray(self.rows.combine(weights) + moved @ self.directions)

    def project(
        self, start: int, stop: int, weight_vectors: Array, groups: Array, out: Array
    ) -> None:
        self.rows.project(start, stop, weight_vectors, groups, out)
        table = weight_vectors @ self.directions.T
        tile = slice(start, stop)
        out[tile] += self.amounts[tile] * table[groups[tile], self.tasks[tile]]
