"""How much memory a fit by chunks may take, and how much it needs."""

from __future__ import annotations

from scarce._data import budget
from scarce.chunks._chunks import BLOCK_VALUES, Chunks
from scarce.chunks._features import Features
from scarce.chunks._start import SUBSAMPLE

PER_ROW = 160  # bytes for bounds, signs and gradients of a row that is solved for
COPIES = 3  # of a row's features, while it is solved for
BLOCKS = 8  # arrays of a block's size that a pass holds
FEWEST_BAND = 2000
LARGER_SAMPLE = 300_000
LARGER_SHARE = 0.1  # of the budget, for its rows


def solved_rows(chunks: Chunks, features: Features, max_memory: float | None) -> tuple[int, int]:
    """Return how many rows a subsample and a band may have; refuse a budget that allows too few."""
    row = PER_ROW + COPIES * 8 * features.rank + chunks.n_features * chunks.dtype.itemsize
    fixed = BLOCKS * 8 * BLOCK_VALUES + 3 * 8 * features.width**2
    allowed = budget(max_memory)
    rows = int((allowed - fixed) / row)
    if rows < FEWEST_BAND:
        needed = (fixed + FEWEST_BAND * row) / 1e6
        given = "a quarter of the free memory" if max_memory is None else "max_memory"
        raise ValueError(
            f"{given} is {allowed / 1e6:.0f} MB, and this fit needs at least {needed:.0f} MB "
            f"beside the data: {features.rank} features of at least {FEWEST_BAND} rows"
        )
    return min(SUBSAMPLE, rows), rows


def larger_rows(chunks: Chunks, max_memory: float | None) -> int:
    """Return how many rows a sample may have of which the rows alone are held."""
    row = 3 * chunks.n_features * chunks.dtype.itemsize  # gathered, joined and in random order
    return min(LARGER_SAMPLE, int(LARGER_SHARE * budget(max_memory) / row))


def target_rows_fit(n: int, chunks: Chunks, features: Features, max_memory: float | None) -> None:
    """Refuse held-out fits of a target whose rows do not fit into the budget."""
    row = PER_ROW + COPIES * 8 * features.rank + chunks.n_features * chunks.dtype.itemsize
    allowed = budget(max_memory)
    if n * row > allowed:
        raise ValueError(
            f'offset="left_out" needs the {n} rows of the target in memory, about '
            f"{n * row / 1e6:.0f} MB, and max_memory allows {allowed / 1e6:.0f} MB; use "
            'offset="original", which needs none, or raise max_memory'
        )


def worker_bytes(chunks: Chunks, threads: int) -> float:
    """Return about how many bytes a worker needs that holds a chunk for every thread."""
    chunk = max(chunks.sizes) * chunks.n_features * 8.0
    return threads * (COPIES * chunk + BLOCKS * 8.0 * BLOCK_VALUES) + 250e6
