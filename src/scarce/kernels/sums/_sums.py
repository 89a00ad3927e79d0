"""Weighted sums of kernel values, streamed over tiles: training gradients and scores alike."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._core import weighted_row_sums
from scarce.kernels.rows._prepared import Prepared
from scarce.parallel import TILE_ROWS, tile_runner, tile_steps

PANEL_COLUMNS = 512  # a tile of 256 x 512 float32 values fills a usual second-level cache

_scratch = threading.local()


def scratch_tile(shape: tuple[int, int], dtype: Any) -> Array:
    """Return space for a tile, the same for every tile of a thread: fresh pages are slow."""
    if not hasattr(_scratch, "space"):
        _scratch.space = np.empty(TILE_ROWS * PANEL_COLUMNS)
    space: Array = _scratch.space.view(dtype)[: shape[0] * shape[1]]
    return space.reshape(shape)


def add_sums(left: Prepared, right: Prepared, weights: Array, groups: Array, out: Array) -> None:
    """Add ``sum_j weights[groups[i], j] k(left_i, right_j)`` to ``out[i]`` for every left row.

    An explicit kernel first adds up the right-hand rows, and no kernel value is formed.
    """
    if left.kernel.explicit:
        weight_vectors = right.rows.combine(weights)
        with tile_runner(left.n * left.rows.width // 4) as run:
            run(
                left.n,
                lambda a, b: left.rows.project(a, b, weight_vectors, groups, out),
                tile_steps(1),
            )
        return
    dtype = left.rows.dtype
    with left.runner(left.effort(right.n)) as run:
        for panel in right.panels(PANEL_COLUMNS):
            some = slice(panel.first, panel.first + panel.n)
            weight = np.ascontiguousarray(weights[:, some], dtype)

            # B023: the function is used up before the loop's names change.
            def work(start: int, stop: int) -> None:
                tile = scratch_tile((stop - start, panel.n), dtype)  # noqa: B023
                left.write(start, stop, panel, tile)  # noqa: B023
                weighted_row_sums(tile, weight, groups[start:stop], out[start:stop])  # noqa: B023

            run(left.n, work, tile_steps(panel.n))
