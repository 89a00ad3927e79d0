"""The program in signed variables, in which every equality is a plain sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._certificate import AT_BOUND, widths
from scarce.solvers._problem import DenseMatrix, QuadraticProgram, SymmetricOperator

Array = NDArray[Any]


class SignedForm:
    """Substitute ``x = signs * alpha``.

    Equalities become ``sum of x over the group = total``. With ``turn = signs * kernel_signs`` the
    gradient in ``x`` is ``turn * field + diagonal * x + linear``, where the *field*
    ``sum_j A[g_i, g_j] K[i, j] turn_j x_j`` is the only part that needs kernel values.
    """

    def __init__(self, problem: QuadraticProgram) -> None:
        positive = problem.signs > 0
        self.problem = problem
        self.kernel: SymmetricOperator = problem.kernel
        self.n = problem.kernel.n
        self.n_groups = problem.n_groups
        self.groups: Array = problem.groups
        self.totals: Array = problem.totals
        self.signs: Array = problem.signs
        self.lower: Array = np.where(positive, problem.lower, -problem.upper)
        self.upper: Array = np.where(positive, problem.upper, -problem.lower)
        self.linear: Array = problem.signs * problem.linear
        self.diagonal: Array = problem.diagonal
        self.coupling: Array = problem.coupling
        # Nearer to a bound than this is at the bound.
        self.near: Array = AT_BOUND * widths(self.lower, self.upper)
        self.turn: Array = problem.signs * problem.kernel_signs

        self.stored = False  # whether the kernel is a matrix in memory
        # Nothing to do to a block of kernel values.
        same = bool((self.turn == self.turn[0]).all())
        self.plain = same and bool((self.coupling == 1).all()) and not self.diagonal.any()

    def snap(self, x: Array, indices: Array | slice = slice(None)) -> None:
        """Put values that are at a bound up to rounding exactly there."""
        lower, upper, near = self.lower[indices], self.upper[indices], self.near[indices]
        x[indices] = np.where(x[indices] <= lower + near, lower, x[indices])
        x[indices] = np.where(x[indices] >= upper - near, upper, x[indices])

    def store_small(self, space: Array, cache_size: float) -> None:
        """Keep the whole matrix of a small program in the space: its blocks then cost nothing."""
        if self.n**2 <= min(space.size, cache_size * 1e6 / space.itemsize):
            values = space[: self.n**2].reshape(self.n, self.n)
            self.kernel.write_block(np.arange(self.n), values)
            self.kernel = DenseMatrix(values)
            self.stored = True

    def gradient(self, x: Array, field: Array) -> Array:
        """Return the gradient in ``x``."""
        return np.asarray(self.turn * field + self.diagonal * x + self.linear)

    def objective(self, x: Array, field: Array) -> float:
        """Return ``1/2 x'Qx + linear'x``."""
        return float(x @ (0.5 * (self.turn * field + self.diagonal * x) + self.linear))

    def add(self, field: Array, columns: Array, change: Array, precision: Any) -> None:
        """Update the field for a change of some variables."""
        if columns.size:
            weights = self.coupling[:, self.groups[columns]] * (self.turn[columns] * change)
            self.kernel.accumulate(columns, weights, self.groups, field, precision)

    def field(self, x: Array, precision: Any) -> Array:
        """Return the field of a point, computed from nothing."""
        field = np.zeros(self.n)
        support = np.flatnonzero(x)
        self.add(field, support, x[support], precision)
        return field

    def block(self, indices: Array, precision: Any, space: Array | None = None) -> Array:
        """Return ``Q`` in ``x`` for some variables, in the space if given."""
        ordered = self.n_groups == 1 and indices.size == self.n  # else the block sorts by group
        if ordered and self.plain and isinstance(self.kernel, DenseMatrix):
            return self.kernel.values
        size = indices.size**2
        Q = np.empty(size, precision) if space is None else space[:size]
        Q = Q.reshape(indices.size, indices.size)
        self.kernel.write_block(indices, Q)
        if not self.plain:
            # Rows and columns in turn: an outer product would be as large as the block.
            groups, turn = self.groups[indices], self.turn[indices].astype(Q.dtype)
            Q *= turn
            Q *= turn[:, None]
            if not (self.coupling == 1).all():
                scales = self.coupling[:, groups].astype(Q.dtype)
                for g in range(self.n_groups):
                    Q[groups == g] *= scales[g]
            Q.flat[:: indices.size + 1] += self.diagonal[indices]
        return Q
