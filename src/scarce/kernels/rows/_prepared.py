"""The one preparation behind every entry point: centre, norms, guard, precision, tiles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels.functions._kernel import Kernel
from scarce.kernels.rows._rows import OpaqueRows, Rows, as_rows
from scarce.kernels.rows._tensors import prepared_rows
from scarce.parallel import TILE_ROWS, tile_runner

CENTRED_BY = 128  # rows, about, that say where most rows are


class Panel(NamedTuple):
    """The right-hand side of tiles."""

    first: int  # position of its first row among all
    n: int
    rows: Any
    terms: Array | None


class Prepared:
    """Rows in one precision, ready to be compared by a kernel, tile by tile.

    ``norms``: squared norms of the rows in float64, if known. ``differences``: whether distances
    are computed from differences, because norms would lose them.
    """

    def __init__(
        self, rows: Rows, kernel: Kernel, norms: Array | None = None, differences: bool = False
    ) -> None:
        self.rows = rows
        self.n = rows.n
        self.kernel = kernel
        self.norms: Array = rows.squared_norms() if norms is None else norms
        self.differences = differences
        terms = kernel.row_terms(self.norms)
        self.terms: Array | None = None if terms is None else terms.astype(rows.dtype)

    @property
    def largest(self) -> float:
        """The largest squared norm."""
        return float(self.norms.max(initial=0.0))

    def cast(self, dtype: Any) -> Prepared:
        """Return the same rows in another precision."""
        if self.rows.dtype == dtype:
            return self
        return Prepared(self.rows.cast(dtype), self.kernel, self.norms, self.differences)

    def take(self, indices: Array) -> Prepared:
        """Return some of the rows."""
        part = object.__new__(Prepared)
        part.rows, part.n, part.kernel = self.rows.take(indices), indices.size, self.kernel
        part.norms, part.differences = self.norms[indices], self.differences
        part.terms = None if self.terms is None else self.terms[indices]
        return part

    def panels(self, width: int = TILE_ROWS) -> Iterator[Panel]:
        """Cut the rows into right-hand sides of so many rows."""
        if self.n <= width:
            yield Panel(0, self.n, self.rows.panel(self.differences), self.terms)
            return
        for first in range(0, self.n, width):
            part = self.take(np.arange(first, min(self.n, first + width)))
            yield Panel(first, part.n, part.rows.panel(self.differences), part.terms)

    def write(self, start: int, stop: int, panel: Panel, out: Array) -> None:
        """Write the kernel values of rows ``start:stop`` with a panel's rows to ``out``."""
        self.kernel.write_tile(self, start, stop, panel, out)

    def effort(self, columns: int) -> int:
        """Return roughly how many nanoseconds the values with so many columns take."""
        return self.n * columns * (2 + self.rows.width // 16)

    @contextmanager
    def runner(self, effort: int) -> Iterator[Any]:
        """Give a function that runs tiles, in threads where the kernel is this library's own."""
        with tile_runner(effort if self.kernel.has_formula else 0) as run:
            yield run


def center_of(X: Any, kernel: Kernel) -> Array | None:
    """Return the point to shift dense rows by, for shift-invariant kernels: among most of them.

    The median, because a cluster far away must not spoil the precision of all others.
    """
    if not kernel.shift_invariant or sparse.issparse(X) or X.shape[0] == 0:
        return None
    some = X[:: max(1, X.shape[0] // CENTRED_BY)]
    middle = some.shape[0] // 2
    center = np.partition(some, middle, axis=0)[middle]
    return np.asarray(center if X.dtype == np.float32 else center.astype(np.float64))


def prepare(kernel: Kernel, X: Any, exact: bool = False) -> Prepared:
    """Return rows ready to be compared with each other, in their own precision.

    ``kernel``: any kernel but a precomputed one. ``X``: the rows. ``exact``: whether values are to
    be as exact as float64 allows, because nobody bounds their errors.
    """
    return _prepared(kernel, X, X, exact)[0]


def prepare_pair(kernel: Kernel, X: Any, Z: Any, exact: bool = False) -> tuple[Prepared, Prepared]:
    """Return two sets of rows ready to be compared, both in the precision their values need.

    That is float32 when both sets are and nothing is lost, else float64.

    ``X``, ``Z``: the rows, both dense or both sparse.
    """
    left, right = _prepared(kernel, X, Z, exact)
    single = left.rows.dtype == right.rows.dtype == np.float32
    if single and not kernel.accurate_in_single_precision(
        max(left.largest, right.largest), max(left.rows.longest, right.rows.longest)
    ):
        single = False
    dtype = np.float32 if single else np.float64
    return left.cast(dtype), right.cast(dtype)


def _prepared(kernel: Kernel, X: Any, Z: Any, exact: bool) -> tuple[Prepared, Prepared]:
    if not kernel.has_formula:
        left: Rows = OpaqueRows(prepared_rows(kernel, X))  # type: ignore[assignment]
        right: Rows = left if Z is X else OpaqueRows(prepared_rows(kernel, Z))  # type: ignore[assignment]
        return Prepared(left, kernel), Prepared(right, kernel)
    if not sparse.issparse(X):
        X, Z = np.asarray(X), X if Z is X else np.asarray(Z)
    center = center_of(Z, kernel)
    left = as_rows(X, center)
    right = left if Z is X else as_rows(Z, center)
    norms = left.squared_norms()
    theirs = norms if right is left else right.squared_norms()
    largest = max(float(norms.max(initial=0.0)), float(theirs.max(initial=0.0)))
    differences = kernel.needs_differences(largest, exact)
    one = Prepared(left, kernel, norms, differences)
    return one, one if right is left else Prepared(right, kernel, theirs, differences)
