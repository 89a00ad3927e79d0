"""Rows of a Dask array or DataFrame; Dask is loaded when it is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import copy
from functools import reduce
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce._data import RowsInChunks, check_collection, is_dask, is_frame
from scarce.chunks._chunks import (
    FAN,
    ChunkError,
    Part,
    check_numbers,
    check_width,
    folded,
    read_error,
)
from scarce.chunks._memory import worker_bytes
from scarce.chunks._waiting import MOST_SECONDS, NoWorkerError, awaited
from scarce.parallel import single_threaded_blas

LIMIT_SHARE = 0.8  # of a worker's memory limit, from which Dask pauses it


class _Failed:
    """An error of the function itself, not of reading."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _run(
    function: Callable[..., Any],
    index: int,
    first: int,
    shape: tuple[int, int],
    dtype: Any,
    X: Any,
    names: list[str],
    values: list[Any],
    broadcast: tuple[Any, ...],
) -> Any:
    if sparse.issparse(X):
        return _Failed(TypeError("X has sparse blocks, and rows in chunks are dense arrays"))
    rows = np.ascontiguousarray(X, dtype=dtype)
    part = Part(index, first, rows, dict(zip(names, map(np.asarray, values), strict=True)))
    for name, seen, wanted in (
        ("X", rows.shape, shape),
        *((name, value.shape, shape[:1]) for name, value in part.values.items()),
    ):
        if seen != wanted:
            return _Failed(
                ChunkError(
                    f"chunk {index} (rows {first} to {first + shape[0] - 1}) of {name} has shape "
                    f"{seen}, and the collection announced {wanted}: give from_delayed and "
                    "map_blocks the shapes that their functions return"
                )
            )
    try:
        with single_threaded_blas:
            return function(part, *broadcast)
    except Exception as error:
        # Whatever a pass refuses goes home as it is: raised here, it would be taken for an error of
        # reading the chunk, which is all that may be raised on a worker.
        return _Failed(error)


def _joined(join: Callable[[Any, Any], Any], answers: list[Any]) -> Any:
    for answer in answers:
        if isinstance(answer, _Failed):
            return answer
    with single_threaded_blas:
        return reduce(join, answers)


class DaskChunks(RowsInChunks):
    """Rows of a Dask array or DataFrame, one chunk for every block of rows.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        The rows.
    worker_timeout : float, default=300
        Seconds that a pass waits for a cluster without a running worker, with a line of the log
        every five; then it ends with a `TimeoutError`.
    **values : Dask array or Series, array-like of shape (n,), or str
        One value per row: ``y``, ``sample_weight``, ``sample_domain``, ``groups``; a collection has
        the blocks of the rows. Of a DataFrame also the name of a column, which is then no feature.

    Examples
    --------
    >>> import dask.array as da
    >>> from scarce.chunks import DaskChunks
    >>> chunks = DaskChunks(da.ones((10, 2), chunks=(4, 2)))
    >>> chunks.sizes, chunks.map(lambda part, by: float(by * part.X.sum()), 0.5)
    ((4, 4, 2), [4.0, 4.0, 2.0])
    """

    def __init__(self, X: Any, *, worker_timeout: float = MOST_SECONDS, **values: Any) -> None:
        if not worker_timeout > 0:
            raise ValueError(f"worker_timeout must be above 0 seconds, got {worker_timeout!r}")
        self.worker_timeout = worker_timeout
        check_collection(X)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}")
        values = {name: value for name, value in values.items() if value is not None}
        frame = is_frame(X)
        self.feature_names: Array | None = None
        if frame:
            X, values = _named_columns(X, values)
            names = list(X.columns)
            self.n_features = len(names)
            check_numbers({str(name): kind for name, kind in zip(names, X.dtypes, strict=True)})
            if all(isinstance(name, str) for name in names):
                self.feature_names = np.asarray(names, dtype=object)
            single = all(kind == np.float32 for kind in X.dtypes)
        else:
            self.n_features = int(X.shape[1])
            check_numbers({"all columns": X.dtype})
            X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
            single = X.dtype == np.float32
        check_width(self.n_features)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        blocks = _blocks(X)
        sizes = _sizes(X, blocks, worker_timeout)
        self.firsts = np.concatenate([[0], np.cumsum(sizes)])
        pieces = {
            name: _pieces(name, value, sizes, self.firsts, worker_timeout)
            for name, value in values.items()
        }
        kept = [i for i, size in enumerate(sizes) if size > 0]
        if not kept:
            raise ValueError("X must have at least one row, got none")
        self.sizes = tuple(sizes[i] for i in kept)
        self.firsts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.blocks = [blocks[i] for i in kept]
        self.names = list(pieces)
        self.values = [[pieces[name][i] for name in self.names] for i in kept]

    def map(
        self, function: Callable[..., Any], *broadcast: Any, only: Iterable[int] | None = None
    ) -> list[Any]:
        """Return ``function(part, *broadcast)`` for every chunk, or for some, in their order."""
        chosen = list(range(len(self.sizes)) if only is None else only)
        results = self._computed(chosen, self._tasks(function, broadcast, chosen))
        return [_own_error_raised(result) for result in results]

    def reduce(
        self,
        function: Callable[..., Any],
        join: Callable[[Any, Any], Any],
        *broadcast: Any,
    ) -> Any:
        """Return ``function(part, *broadcast)`` of all chunks, joined to one answer by workers."""
        dask = load_dask()
        tasks = self._tasks(function, broadcast, list(range(len(self.sizes))))
        neighbours = dask.delayed(_joined, pure=False)
        while len(tasks) > 1:
            tasks = [neighbours(join, tasks[i : i + FAN]) for i in range(0, len(tasks), FAN)]
        try:
            (result,) = _computed(tasks, self.worker_timeout)
        except NoWorkerError:
            raise
        except Exception:
            # Any error of what makes the chunks. Which one was it? Asked one by one they tell.
            return folded(self.map(function, *broadcast), len(self.sizes), join)
        return _own_error_raised(result)

    def _tasks(
        self, function: Callable[..., Any], broadcast: tuple[Any, ...], chosen: list[int]
    ) -> list[Any]:
        dask = load_dask()
        shared = dask.delayed(broadcast, traverse=False, pure=False)
        run = dask.delayed(_run, pure=False)
        return [
            run(
                function,
                i,
                int(self.firsts[i]),
                (self.sizes[i], self.n_features),
                self.dtype,
                self.blocks[i],
                self.names,
                self.values[i],
                shared,
            )
            for i in chosen
        ]

    def _computed(self, chosen: list[int], tasks: list[Any]) -> list[Any]:
        client = current_client()
        if client is not None:
            futures = client.compute(tasks)
            awaited(client, futures, self.worker_timeout)
            return [
                self._named(i, future.result) for i, future in zip(chosen, futures, strict=True)
            ]
        try:
            return _computed(tasks, self.worker_timeout)
        except Exception:
            # Any error of what makes the chunks, which is the user's code. Which one was it? Only
            # now is it worth to look at one after the other, and each error is then raised.
            return [self._named(i, task.compute) for i, task in zip(chosen, tasks, strict=True)]

    def _named(self, index: int, result: Callable[[], Any]) -> Any:
        try:
            return result()
        except Exception as error:  # whatever made the chunk
            rows = int(self.firsts[index]), int(self.firsts[index + 1])
            raise read_error(index, rows, "", error) from error

    def rows_only(self) -> DaskChunks:
        """Return the same rows without their values, which would be sent along with every pass."""
        bare = copy(self)
        bare.names, bare.values = [], [[] for _ in self.values]
        return bare

    def check_workers(self) -> None:
        """Refuse workers whose memory cannot hold a chunk for every thread."""
        client = current_client()
        if client is None:
            return
        for address, worker in client.scheduler_info(n_workers=-1)["workers"].items():
            limit, threads = worker["memory_limit"], worker["nthreads"]
            needed = worker_bytes(self, threads) / LIMIT_SHARE
            if limit and limit < needed:
                raise ValueError(
                    f"worker {address} has a memory limit of {limit / 1e6:.0f} MB, and this fit "
                    f"needs {needed / 1e6:.0f} MB: chunks of up to {max(self.sizes)} rows, "
                    f"{threads} threads. Raise memory_limit, or use smaller chunks or fewer threads"
                )


def _own_error_raised(result: Any) -> Any:
    """Return what a pass has answered; raise what it has raised."""
    if isinstance(result, _Failed):
        raise result.error
    return result


def load_dask() -> Any:
    """Return the module, untyped; an error names the extra that brings it."""
    try:
        return import_module("dask")
    except ImportError as error:
        raise ImportError('Dask is missing; install it with: pip install "scarce[dask]"') from error


def current_client() -> Any:
    """Return the client of a cluster that Dask would use, if any."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def _named_columns(X: Any, values: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return a DataFrame without the columns that values name, and the values."""
    named = {name: value for name, value in values.items() if isinstance(value, str)}
    for name, column in named.items():
        if column not in X.columns:
            raise ValueError(
                f"{name}={column!r} is no column of X; it has {', '.join(map(str, X.columns))}"
            )
    given = {name: X[column] for name, column in named.items()}
    kept = [column for column in X.columns if column not in set(named.values())]
    return (X[kept] if named else X), {**values, **given}


def _blocks(collection: Any) -> list[Any]:
    return list(np.ravel(collection.to_delayed()))


def _computed(tasks: list[Any], timeout: float) -> list[Any]:
    """Return what tasks answer, on the cluster if there is one."""
    client = current_client()
    if client is None:
        return list(load_dask().compute(*tasks))
    futures = client.compute(tasks)
    awaited(client, futures, timeout)
    return [future.result() for future in futures]


def _sizes(X: Any, blocks: list[Any], timeout: float) -> list[int]:
    known = None if is_frame(X) else X.chunks[0]
    if known is not None and not any(math.isnan(size) for size in known):
        return [int(size) for size in known]
    length = load_dask().delayed(len)
    return _computed([length(block) for block in blocks], timeout)


def _pieces(name: str, value: Any, sizes: list[int], firsts: Array, timeout: float) -> list[Any]:
    """Return the values of every chunk of the rows."""
    n = int(firsts[-1])
    if not is_dask(value):
        array = np.asarray(value)
        if array.shape != (n,):
            raise ValueError(f"{name} must be one value for each of {n} rows, got {array.shape}")
        return [array[a:b] for a, b in pairwise(firsts)]
    if value.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got {value.ndim}")
    blocks = _blocks(value)
    if _sizes(value, blocks, timeout) != sizes:
        known = not is_frame(value) and not any(math.isnan(size) for size in value.chunks[0])
        if not (known and value.shape == (n,)):
            raise ValueError(
                f"{name} must have the chunks of X, one value per row; repartition it to them"
            )
        blocks = _blocks(value.rechunk((tuple(sizes),)))
    return blocks
