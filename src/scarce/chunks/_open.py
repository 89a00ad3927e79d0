"""From what a user gives to chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scarce._data import is_dask
from scarce.chunks._array import ArrayChunks, LocalChunks, row_values
from scarce.chunks._chunks import Chunks
from scarce.chunks._dask import DaskChunks
from scarce.chunks._parquet import ParquetChunks


def as_chunks(X: Any, **values: Any) -> Chunks:
    """Return rows and one value per row of everything else as chunks.

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
