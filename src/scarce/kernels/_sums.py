"""Weighted sums of kernel values, streamed over tiles: training gradients and scores alike."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.kernels._kernel import Kernel
from scarce.kernels._rows import Rows
from scarce.kernels._threads import TILE_ROWS, tile_runner, tile_steps

Array = NDArray[Any]

PANEL_COLUMNS = 512  # a tile of 256 x 512 float32 values fills a usual second-level cache


class Scored:
    """Rows in one precision beside what the kernel needs of them."""

    def __init__(self, rows: Rows, kernel: Kernel, norms: Array | None = None) -> None:
        self.rows = rows
        self.n = rows.n
        self.kernel = kernel
        self.terms: Array | None = None
        if kernel.needs_norms:
            norms = rows.squared_norms() if norms is None else norms
            self.terms = kernel.norm_terms(norms).astype(rows.dtype)

    def take(self, indices: Array) -> Scored:
        """Return some of the rows."""
        part = object.__new__(Scored)
        part.rows, part.n, part.kernel = self.rows.take(indices), indices.size, self.kernel
        part.terms = None if self.terms is None else self.terms[indices]
        return part

    def write(self, start: int, stop: int, panel: Any, terms: Array | None, out: Array) -> None:
        """Write the kernel values of rows ``start:stop`` with a panel's rows to ``out``."""
        self.rows.product(start, stop, panel, out)
        self.kernel.finish(out, None if self.terms is None else self.terms[start:stop], terms)


_scratch = threading.local()


def scratch_tile(shape: tuple[int, int], dtype: Any) -> Array:
    """Return space for a tile, the same for every tile of a thread: fresh pages are slow."""
    if not hasattr(_scratch, "space"):
        _scratch.space = np.empty(TILE_ROWS * PANEL_COLUMNS)
    space: Array = _scratch.space.view(dtype)[: shape[0] * shape[1]]
    return space.reshape(shape)


def effort(left: Rows, columns: int) -> int:
    """Return roughly how many nanoseconds the kernel values with so many columns take."""
    return left.n * columns * (2 + left.width // 16)


def add_sums(left: Scored, right: Scored, weights: Array, groups: Array, out: Array) -> None:
    """Add ``sum_j weights[groups[i], j] k(left_i, right_j)`` to ``out[i]`` for every left row.

    A linear kernel first adds up the right-hand rows, and no kernel value is formed.
    """
    if left.kernel.name == "linear":
        planes = right.rows.combine(weights)
        with tile_runner(left.n * left.rows.width // 4) as run:
            run(left.n, lambda a, b: left.rows.project(a, b, planes, groups, out), tile_steps(1))
        return
    from scarce.kernels._compiled import weighted_row_sums

    dtype = left.rows.dtype
    with tile_runner(effort(left.rows, right.n)) as run:
        for first in range(0, right.n, PANEL_COLUMNS):
            some = np.arange(first, min(right.n, first + PANEL_COLUMNS))
            part = right.take(some)
            panel, terms = part.rows.panel(), part.terms
            weight = weights[:, some].astype(dtype)

            # B023: the function is used up before the loop's names change.
            def work(start: int, stop: int) -> None:
                tile = scratch_tile((stop - start, some.size), dtype)  # noqa: B023
                left.write(start, stop, panel, terms, tile)  # noqa: B023
                weighted_row_sums(tile, weight, groups[start:stop], out[start:stop])  # noqa: B023

            run(left.n, work, tile_steps(some.size))
