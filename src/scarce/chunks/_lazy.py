"""Answers about the rows of a Dask collection: lazy, of the same kind and chunks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce.chunks._dask import check_collection, is_dask, is_frame
from scarce.chunks._open import comes_in_chunks


def lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method that answers for rows: rows of a Dask collection get a lazy answer.

    Every block is answered on its own, by the same code as an array.

    Parameters
    ----------
    method : callable
        ``method(estimator, X)`` with one answer a row, or one line of them.

    Returns
    -------
    callable
        The same for arrays; for a Dask array a Dask array, for a DataFrame a Series or DataFrame
        with its index.
    """

    @functools.wraps(method)
    def answer(estimator: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if type(X) is np.ndarray:
            return method(estimator, X, *args, **kwargs)
        if not is_dask(X):
            if comes_in_chunks(X):
                check_is_fitted(estimator)
                _refuse_chunks(method.__name__, X)
            return method(estimator, X, *args, **kwargs)
        check_collection(X)
        given = [name for name, value in kwargs.items() if value is not None]
        if args or given:
            raise ValueError(
                f"{method.__name__} of a Dask collection takes no {', '.join(given) or 'values'} "
                "of the rows: call it for every group of rows, or on blocks in memory"
            )
        return (_of_frame if is_frame(X) else _of_array)(method, estimator, X)

    return answer


def _refuse_chunks(name: str, X: Any) -> None:
    """Refuse rows in chunks that are no Dask collection: nobody holds answers for all of them."""
    kind = "the path of a file" if isinstance(X, str | Path) else type(X).__name__
    raise TypeError(
        f"{name} takes rows in memory or a Dask collection, got {kind}: give it a Dask collection "
        "(dask.dataframe.read_parquet, dask.array.from_array), or one part of the rows after the "
        "other"
    )


def _of_array(method: Callable[..., Any], estimator: Any, X: Any) -> Any:
    rest = tuple(range(1, X.ndim))
    X = X.rechunk(dict.fromkeys(rest, -1))
    like = method(estimator, np.zeros((1, *X.shape[1:]), X.dtype))
    shape: dict[str, Any] = {"drop_axis": list(rest)}
    if like.ndim == 2:
        shape = {"chunks": (X.chunks[0], (like.shape[1],)), "drop_axis": list(rest[1:])}

    def block(rows: Array) -> Array:
        return np.asarray(method(estimator, rows)) if rows.shape[0] else like[:0]

    return X.map_blocks(block, dtype=like.dtype, meta=like[:0], **shape)


def _of_frame(method: Callable[..., Any], estimator: Any, X: Any) -> Any:
    pd: Any = import_module("pandas")  # there, since Dask's frames are made of its own
    zeros = np.zeros((1, len(X.columns)))
    like = method(estimator, pd.DataFrame(zeros, columns=X.columns).astype(dict(X.dtypes)))

    def named(values: Array, index: Any) -> Any:
        kind = pd.Series if values.ndim == 1 else pd.DataFrame
        return kind(values, index=index)

    def block(rows: Any) -> Any:
        values = np.asarray(method(estimator, rows)) if len(rows) else like[:0]
        return named(values, rows.index)

    return X.map_partitions(block, meta=named(like[:0], pd.RangeIndex(0)))
