"""Kernel matrices in which one direction of the feature space counts for less."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.kernels.operators._rounding import UNIT
from scarce.solvers import SymmetricOperator

TILE = 256  # rows of a block corrected at a time


class DeflatedOperator(SymmetricOperator):
    """The matrix ``K - d d'`` of an operator ``K`` and a vector ``d``; neither term is stored.

    With ``d_i`` proportional to the inner product of row ``i`` with a direction of the feature
    space, it is the kernel matrix after that direction was shortened.

    ``operator``: the matrix ``K``, of `make_operator` for instance. ``along``: the vector ``d``.
    ``K - d d'`` must be positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import DeflatedOperator
    >>> from scarce.solvers import DenseMatrix
    >>> deflated = DeflatedOperator(DenseMatrix([[2.0, 1.0], [1.0, 1.0]]), [1.0, 0.5])
    >>> deflated.reference(np.array([0, 1]), np.array([0, 1]))
    array([[1.  , 0.5 ],
           [0.5 , 0.75]])
    """

    def __init__(self, operator: SymmetricOperator, along: Any) -> None:
        self.operator = operator
        self.n = operator.n
        self.name, self.definite = operator.name, operator.definite
        self.in_threads = operator.in_threads
        self.along: Array = np.asarray(along, dtype=np.float64)
        if self.along.shape != (self.n,) or not np.isfinite(self.along).all():
            raise ValueError(
                f"along must be {self.n} finite numbers, one per row of the operator, got shape "
                f"{self.along.shape}"
            )

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """Arithmetic on offer, that of the operator inside."""
        return self.operator.precisions

    def subset(self, indices: Array) -> DeflatedOperator:
        """Return the operator of some of the rows."""
        return DeflatedOperator(self.operator.subset(indices), self.along[indices])

    def diagonal(self) -> Array:
        """Return the diagonal, or an upper bound where the operator inside gives one."""
        return np.asarray(self.operator.diagonal() - self.along**2)

    def write_block(self, indices: Array, out: Array) -> None:
        """Write the square block of the given rows to ``out``, in its precision."""
        self.operator.write_block(indices, out)
        along = self.along[indices].astype(out.dtype)
        for start in range(0, along.size, TILE):
            out[start : start + TILE] -= np.multiply.outer(along[start : start + TILE], along)

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K'[i, columns[j]]`` to ``out[i]`` for every row."""
        self.operator.accumulate(columns, weights, groups, out, precision)
        out -= (weights @ self.along[columns])[groups] * self.along

    def reference(self, rows: Array, columns: Array) -> Array:
        """Return a block in float64 by plain means."""
        correction = np.multiply.outer(self.along[rows], self.along[columns])
        return np.asarray(self.operator.reference(rows, columns) - correction)

    def error_bound(self, absolute_weights: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        own = (
            UNIT
            * (8 + np.count_nonzero(absolute_weights))
            * float(np.abs(self.along) @ absolute_weights)
        )
        return np.asarray(
            self.operator.error_bound(absolute_weights, precision) + own * np.abs(self.along)
        )
