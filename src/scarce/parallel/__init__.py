"""Threads of this library, limits on those of BLAS, and memory that each thread keeps."""

from scarce.parallel._threads import (
    KEPT,
    SMALLEST_EFFORT,
    TILE_ROWS,
    Work,
    single_threaded_blas,
    small_space,
    sum_of_squares,
    thread_count,
    tile_runner,
    tile_steps,
)

__all__ = [
    "KEPT",
    "SMALLEST_EFFORT",
    "TILE_ROWS",
    "Work",
    "single_threaded_blas",
    "small_space",
    "sum_of_squares",
    "thread_count",
    "tile_runner",
    "tile_steps",
]
