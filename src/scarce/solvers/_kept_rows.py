"""The matrix of a small program: rows computed when they are first asked for, and kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._problem import DenseMatrix, SymmetricOperator

Array = NDArray[Any]

LARGEST = 2048  # variables of a program whose matrix may be kept
BATCH_VALUES = 1 << 16  # kernel values computed at a time: below, the call costs more than they do
SMALLEST_BATCH = 16  # rows
SPREAD = 16  # one of so many rows is computed before it is asked which others are needed


class KeptRows:
    """Rows of ``turn_i K[i, j] turn_j``, variables sorted by group.

    Positions in that order are called *places*. Operators that can compute single rows
    (`write_rows`) are asked for those that the solver needs, in batches; others for the whole.

    Parameters
    ----------
    kernel : operator
        The matrix ``K``.
    order : ndarray of int of shape (n,), optional
        The variable at every place; by default places are the variables themselves.
    turn : ndarray of shape (n,)
        Signs of the variables in the kernel part.
    space : ndarray of shape (n, n)
        Memory for the rows.
    lazily : bool
        Whether single rows will do.
    plainly : bool
        Whether to take the operator's plain values, which need no compiler.
    """

    def __init__(
        self,
        kernel: SymmetricOperator,
        order: Array | None,
        turn: Array,
        space: Array,
        *,
        lazily: bool = True,
        plainly: bool = False,
    ) -> None:
        self.n, self.definite, self.name = kernel.n, kernel.definite, kernel.name
        self._sorted = order is None or bool((order[1:] > order[:-1]).all())
        self.order = np.arange(self.n) if order is None else order
        self._turn = None if (turn == 1.0).all() else turn[self.order]
        self.kernel = kernel
        self._source = kernel if self._sorted else kernel.subset(self.order)
        self.values = space
        self.where: Array = np.full(self.n, -1)  # the line of every place, -1 for none
        self.count, self._in_order = 0, False
        self._plainly = plainly
        self.lazily = lazily and hasattr(kernel, "write_rows")
        if not self.lazily or 2 * self.batch >= self.n:
            self._keep_all()

    @property
    def batch(self) -> int:
        """How many rows to compute at a time: more, the more have been needed."""
        return min(max(SMALLEST_BATCH, BATCH_VALUES // self.n, self.count // 2), self.n)

    @property
    def is_sorted(self) -> bool:
        """Whether places are the variables themselves."""
        return self._sorted

    @property
    def precisions(self) -> tuple[type[np.floating[Any]], ...]:
        """One, the most accurate."""
        return (np.float64,)

    def diagonal(self) -> Array:
        """Return the diagonal of the kernel."""
        return self.kernel.diagonal()

    def own_values(self) -> Array:
        """Return the diagonal by place, as the rows have it."""
        if self.count < self.n:
            return self.diagonal()[self.order]
        if self._in_order:
            return self.values.diagonal()
        return self.values[self.where, np.arange(self.n)]

    def keep(self, places: Array) -> None:
        """Compute the rows of these places, unless they are kept already."""
        absent = places[self.where[places] < 0]
        if absent.size == 0:
            return
        if 2 * absent.size > self.n:
            self._keep_all()  # of which symmetry saves half
            return
        lines = np.arange(self.count, self.count + absent.size)
        rows = self.values[self.count : self.count + absent.size]
        self._source.write_rows(absent, rows)  # type: ignore[attr-defined]
        if self._turn is not None:
            rows *= self._turn
            rows *= self._turn[absent, None]
        self.where[absent] = lines
        self.count += absent.size

    def keep_some(self) -> None:
        """Compute the rows of a batch that is evenly spread over all places."""
        self.keep(np.arange(0, self.n, self.n // max(self.batch, self.n // SPREAD)))

    def keep_next(self, places: Array) -> None:
        """Compute the rows of a batch of these places, the first of them; of most rows, all."""
        self.keep(places if 2 * places.size > self.n else places[: self.batch])

    def compute_again(self) -> None:
        """Replace plain values by those that are computed otherwise."""
        self._plainly = False
        self._keep_all()

    def _keep_all(self) -> None:
        if isinstance(self._source, DenseMatrix) and self._source.values.dtype == np.float64:
            self.values = self._source.values
            if self._turn is not None or not self.values.flags.c_contiguous:
                self.values = self.values.copy()
        elif self._plainly:
            everyone = np.arange(self.n)
            self.values[...] = self._source.reference(everyone, everyone)
        else:
            self._source.write_block(self.order if self._sorted else np.arange(self.n), self.values)
        if self._turn is not None:
            self.values *= self._turn
            self.values *= self._turn[:, None]
        self.where[:] = np.arange(self.n)
        self.count, self._in_order = self.n, True

    def signed_block(self, indices: Array) -> Array:
        """Return ``turn_i K[i, j] turn_j`` of some variables."""
        places = self._places(indices)
        self.keep(places)
        return self.values[self.where[places][:, None], places]

    def accumulate(
        self, columns: Array, weights: Array, groups: Array, out: Array, precision: Any
    ) -> None:
        """Add ``sum_j weights[groups[i], j] * K[i, columns[j]]`` to ``out[i]`` for every row."""
        places = self._places(columns)
        self.keep(places)
        if self._turn is not None:
            weights = weights * self._turn[places]
        lines = self.where[places]
        sums = weights @ self.values[lines]
        if weights.shape[0] == 1:
            added = sums[0]
        else:
            added = sums[groups[self.order], np.arange(self.n)]
        if self._turn is not None:
            added *= self._turn
        if self._sorted:
            out += added
        else:
            out[self.order] += added

    def error_bound(self, traffic: Array, precision: Any) -> Array:
        """Return a bound of the rounding error of what `accumulate` added up, for every row."""
        return self.kernel.error_bound(traffic, precision)

    def _places(self, indices: Array) -> Array:
        return indices if self._sorted else self._place[indices]

    @cached_property
    def _place(self) -> Array:
        return np.argsort(self.order)
