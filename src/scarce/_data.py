"""Rows as they may be given: in memory or in chunks, before anything is read; of which tasks.

Arrays pass through here without a cost, and without loading what reads the others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._free_memory import free_memory

MEMORY_SHARE = 0.25  # of what is free, that a fit may take beside the data
WHERE_UNKNOWN = 1e9  # bytes


class RowsInChunks:
    """Base of whatever holds rows in chunks; see `scarce.chunks.Chunks`."""

    sizes: tuple[int, ...]
    n_features: int


class FeatureNames:
    """Mixin of estimators that take rows in chunks."""

    n_features_in_: int
    feature_names_in_: Array

    def _keep_features_of(self, chunks: Any) -> None:
        """Store number and names of the features of rows in chunks."""
        self.n_features_in_ = chunks.n_features
        if chunks.feature_names is not None:
            self.feature_names_in_ = chunks.feature_names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def is_dask(X: Any) -> bool:
    """Say whether something is a Dask collection, without loading Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def is_frame(X: Any) -> bool:
    """Say whether a Dask collection is a DataFrame or a Series."""
    return hasattr(X, "map_partitions")


def check_collection(X: Any) -> None:
    """Refuse Dask's objects that are no collection of rows."""
    if not isinstance(getattr(X, "ndim", None), int):  # something delayed has any attribute
        raise TypeError(f"X must be a Dask array or DataFrame, got a Dask {type(X).__name__}")


def comes_in_chunks(X: Any) -> bool:
    """Say whether rows are anything but an array: chunks, a Parquet path, a Dask collection."""
    if type(X) is np.ndarray:
        return False
    return isinstance(X, str | Path | RowsInChunks) or is_dask(X)


def is_large_map(X: Any, max_memory: float | None) -> bool:
    """Say whether rows are a memory map larger than the budget of a fit."""
    return isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > budget(max_memory)


def budget(max_memory: float | None) -> float:
    """Return the bytes that a fit may take beside the data: given in MB, or a part of the free."""
    if max_memory is not None:
        return 1e6 * max_memory
    free = free_memory()
    return WHERE_UNKNOWN if free is None else MEMORY_SHARE * free


def refuse_chunks(name: str, X: Any) -> None:
    """Raise an error for rows in chunks, given to an estimator that needs them in memory."""
    if type(X) is np.ndarray or isinstance(X, str | Path) or not comes_in_chunks(X):
        return
    size = ""
    if isinstance(X, RowsInChunks):
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


# Answers about the rows of a Dask collection: lazy, of the same kind and chunks.


def lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method that answers for rows: rows of a Dask collection get a lazy answer.

    Every block is answered on its own, by the same code as an array.

    ``method``: ``method(estimator, X)`` with one answer per row, or one line of them. Returned: the
    same for arrays; for a Dask array a Dask array, for a DataFrame a Series or DataFrame with its
    index.
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


TARGET = -1  # how the target is called in `domains_`, whatever negative value it was given as


def split_domains(sample_domain: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the domains, the target first, and each row's position among them.

    Values of at least 0 are sources, each value one task; negative ones are the target, of which
    only one value may occur. No domains at all mean that every row is of the target.
    """
    if sample_domain is None:
        return np.array([TARGET]), np.zeros(n_rows, np.int64)
    values = checked_domains(sample_domain, n_rows)
    targets = np.unique(values[values < 0])
    if targets.size != 1:
        raise ValueError(
            "sample_domain must mark the rows of one target by one negative value, got "
            + (f"the negative values {targets.tolist()}" if targets.size else "no negative value")
        )
    sources = np.unique(values[values >= 0])
    domains = np.concatenate([[TARGET], sources])
    return domains, np.where(values < 0, 0, 1 + np.searchsorted(sources, values))


def check_no_domains(y: Any, sample_domain: Any) -> None:
    """Refuse domains that were given as `y`, where they would be ignored.

    Labels of outliers and inliers, -1 and 1, are no domains.
    """
    if y is None or sample_domain is not None:
        return
    values = np.asarray(y)
    if values.ndim != 1 or values.dtype.kind not in "iuf" or not np.all(values == np.trunc(values)):
        return
    seen = np.unique(values)
    if seen.size > 1 and (seen[0], seen[1] >= 0) == (TARGET, True) and seen.tolist() != [-1, 1]:
        raise ValueError(
            f"y holds {seen[:5].tolist()}, which looks like domains, and y is ignored; give them "
            "by name: fit(X, sample_domain=...)"
        )


def known_tasks(sample_domain: Any, domains: Array, n_rows: int) -> Array:
    """Return the position among fitted domains of each row to be scored; the target by default."""
    if sample_domain is None:
        return np.zeros(n_rows, np.int64)
    values = checked_domains(sample_domain, n_rows)
    values = np.where(values < 0, TARGET, values)
    unknown = np.setdiff1d(values, domains)
    if unknown.size:
        raise ValueError(
            f"sample_domain holds {unknown.tolist()}, which no row had in fit; known are negative "
            f"values (the target) and {domains[1:].tolist()}"
        )
    return np.searchsorted(domains, values)


def checked_domains(sample_domain: Any, n_rows: int) -> Array:
    """Return one whole number per row."""
    values = np.asarray(sample_domain)
    if values.shape != (n_rows,):
        raise ValueError(
            f"sample_domain must have one value per row, {n_rows}, got shape {values.shape}"
        )
    numbers = np.issubdtype(values.dtype, np.number) and np.isfinite(values).all()
    if not numbers or not (values == np.round(values)).all():
        raise ValueError(
            "sample_domain must hold whole numbers: at least 0 for a source, negative for the "
            f"target; got {values.dtype} such as {values[:3].tolist()}"
        )
    return values.astype(np.int64)
