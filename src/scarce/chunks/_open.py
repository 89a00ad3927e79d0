"""From what a user gives to chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scarce.chunks._array import ArrayChunks, LocalChunks, row_values
from scarce.chunks._chunks import Chunks
from scarce.chunks._dask import DaskChunks, is_dask
from scarce.chunks._memory import budget
from scarce.chunks._parquet import ParquetChunks


def comes_in_chunks(X: Any) -> bool:
    """Say whether rows are anything but an array: chunks, a Parquet path, a Dask collection."""
    if type(X) is np.ndarray:
        return False
    if isinstance(X, str | Path):
        return True
    return isinstance(X, LocalChunks | DaskChunks) or is_dask(X)


def refuse_chunks(name: str, X: Any) -> None:
    """Raise an error for rows in chunks, given to an estimator that needs them in memory."""
    if type(X) is np.ndarray or isinstance(X, str | Path) or not comes_in_chunks(X):
        return
    size = ""
    if isinstance(X, LocalChunks | DaskChunks):
        size = _megabytes(sum(X.sizes), X.n_features)
    elif getattr(X, "ndim", 0) == 2:
        rows = X.shape[0] if isinstance(X.shape[0], int) else None
        size = _megabytes(rows, X.shape[1])
    kind = type(X)
    raise TypeError(
        f"X is a {kind.__name__} of {kind.__module__.partition('.')[0]}, and {name}.fit needs its "
        f"rows in memory{size}: give X.compute() of a Dask collection if it fits there, else a "
        "sample of the rows. PositiveUnlabeledSVC, SVMC and MappingConvergence fit rows in chunks; "
        'with approximation="nystroem" or kernel="linear" OneClassSVM (offset="left_out" too, the '
        "threshold of CalibratedOneClass), SVC, NuSVC, "
        "TransferOneClassSVM, GroupProbabilitySVM and TransferGroupProbabilitySVM do"
    )


def _megabytes(rows: int | None, columns: int) -> str:
    if rows is None:
        return f", {columns} columns, {8 * columns} bytes a row"
    return f", {8e-6 * rows * columns:.0f} MB for {rows} rows of {columns} columns"


def is_large_map(X: Any, max_memory: float | None) -> bool:
    """Say whether rows are a memory map larger than the budget of a fit."""
    return isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > budget(max_memory)


def as_chunks(X: Any, **values: Any) -> Chunks:
    """Return rows and one value a row of everything else as chunks.

    Parameters
    ----------
    X : array, memory map, path of Parquet files, Dask collection, or Chunks
        The rows.
    **values : array-like, column name or Dask collection, or None
        ``y``, ``sample_weight``, ``sample_domain``, ``groups``.

    Returns
    -------
    Chunks
        The rows in chunks.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.chunks import as_chunks
    >>> as_chunks(np.zeros((5, 2)), y=np.arange(5)).sizes
    (5,)
    """
    values = {name: value for name, value in values.items() if value is not None}
    if isinstance(X, str | Path):
        return ParquetChunks(X, **values)
    if isinstance(X, ParquetChunks):
        return X.with_values(**values) if values else X
    if isinstance(X, ArrayChunks) and values:
        return ArrayChunks(X.X, rows=X.step, **{**X.values, **row_values(values, X.X.shape[0])})
    if isinstance(X, LocalChunks | DaskChunks):
        if values:
            raise ValueError(f"give {', '.join(values)} to {type(X).__name__}(...), not beside it")
        return X
    if is_dask(X):
        return DaskChunks(X, **values)
    return ArrayChunks(X, **values)
