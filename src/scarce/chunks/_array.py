"""Rows of an array or a memory map, cut into chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._data import RowsInChunks
from scarce.chunks._chunks import ChunkError, Part, check_width, folded, read_error
from scarce.parallel import single_threaded_blas, thread_count

CHUNK_BYTES = 1 << 23
MOST_ROWS = 1 << 16
FEWEST_ROWS = 1 << 12


class LocalChunks(RowsInChunks):
    """Base of rows that this process reads itself; a subclass has `read`."""

    dtype: Any
    feature_names: Array | None

    def read(self, index: int) -> Part:
        """Return one chunk."""
        raise NotImplementedError

    def source(self, index: int) -> str:
        """Return where a chunk comes from, for messages."""
        return ""

    def map(
        self, function: Callable[..., Any], *broadcast: Any, only: Iterable[int] | None = None
    ) -> list[Any]:
        """Return ``function(part, *broadcast)`` for every chunk, or for some, in their order."""
        chosen = list(range(len(self.sizes)) if only is None else only)
        return list(self._answers(function, broadcast, chosen))

    def reduce(
        self,
        function: Callable[..., Any],
        join: Callable[[Any, Any], Any],
        *broadcast: Any,
    ) -> Any:
        """Return ``function(part, *broadcast)`` of all chunks, joined to one answer."""
        number = len(self.sizes)
        return folded(self._answers(function, broadcast, range(number)), number, join)

    def _answers(
        self, function: Callable[..., Any], broadcast: tuple[Any, ...], chosen: Sequence[int]
    ) -> Iterator[Any]:
        def work(index: int) -> Any:
            try:
                part = self.read(index)
            except ChunkError:
                raise
            except Exception as error:  # whatever the format's reader raises
                first = sum(self.sizes[:index])
                rows = first, first + self.sizes[index]
                raise read_error(index, rows, self.source(index), error) from error
            return function(part, *broadcast)

        workers = min(thread_count(), len(chosen))
        with single_threaded_blas:
            if workers <= 1:
                yield from map(work, chosen)
                return
            with ThreadPoolExecutor(workers) as pool:
                try:
                    yield from pool.map(work, chosen)
                finally:
                    pool.shutdown(wait=True, cancel_futures=True)


class ArrayChunks(LocalChunks):
    """Rows of an array, or of a memory map of any size.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows, float32 or float64; nothing is copied.
    rows : int, optional
        Rows in a chunk; by default about 8 MB.
    **values : array-like of shape (n,)
        One value per row: ``y``, ``sample_weight``, ``sample_domain``, ``groups``.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.chunks import ArrayChunks
    >>> chunks = ArrayChunks(np.ones((10, 2)), rows=4)
    >>> chunks.sizes, chunks.map(lambda part, by: float(by * part.X.sum()), 0.5)
    ((4, 4, 2), [4.0, 4.0, 2.0])
    """

    feature_names: Array | None = None

    def __init__(self, X: Any, *, rows: int | None = None, **values: Any) -> None:
        if not isinstance(X, np.ndarray):
            raise TypeError(f"X must be an array or a memory map, got {type(X).__name__}")
        if rows is not None and (not isinstance(rows, Integral) or rows < 1):
            raise ValueError(f"rows must be a whole number of at least 1, got {rows!r}")
        if X.ndim != 2 or X.shape[0] == 0:
            raise ValueError(f"X must have two dimensions and at least one row, got {X.shape}")
        if X.dtype not in (np.float32, np.float64):
            raise ValueError(f"X must be of float32 or float64, got {X.dtype}")
        check_width(X.shape[1])
        if rows is None:
            rows = CHUNK_BYTES // (X.shape[1] * X.dtype.itemsize)
            rows = int(np.clip(rows, FEWEST_ROWS, MOST_ROWS))
        n = X.shape[0]
        self.X = X
        self.values = row_values(values, n)
        self.step = int(rows)
        self.sizes = tuple(min(rows, n - first) for first in range(0, n, rows))
        self.n_features = int(X.shape[1])
        self.dtype = X.dtype

    def read(self, index: int) -> Part:
        """Return one chunk; nothing is copied."""
        first = index * self.step
        some = slice(first, first + self.sizes[index])
        values = {name: value[some] for name, value in self.values.items()}
        return Part(index, first, np.asarray(self.X[some]), values)


def row_values(values: Mapping[str, Any], n: int) -> dict[str, Array]:
    """Return the values that were given, one a row."""
    checked = {name: np.asarray(value) for name, value in values.items() if value is not None}
    for name, value in checked.items():
        if value.shape != (n,):
            raise ValueError(f"{name} must be one value for each of {n} rows, got {value.shape}")
    return checked
