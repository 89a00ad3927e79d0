"""Rows of Parquet files, one chunk for every row group."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from os import fspath
from typing import Any

import numpy as np

from scarce.chunks._array import LocalChunks, row_values
from scarce.chunks._chunks import ChunkError, Part, check_numbers, check_width


class ParquetChunks(LocalChunks):
    """Rows of a Parquet file, or of a folder of them.

    Every row group of a file is one chunk. Files are taken in the order of their names.

    Parameters
    ----------
    path : str, Path or pyarrow.dataset.Dataset
        A file, or a folder with files ``*.parquet``, also in folders of it; folders named as
        ``year=2026`` (Hive partitions) are columns. An address that pyarrow knows, such as
        ``s3://bucket/folder``, or a data set that pyarrow has opened.
    columns : iterable of str, optional
        The features; by default all columns that are not named as a value of the rows, nor are
        the index of a pandas table.
    dtype : {"float32", "float64"}, default="float64"
        What the features are read as.
    filter : pyarrow.dataset.Expression, optional
        Which rows count, such as ``pyarrow.dataset.field("year") > 2024``. Files and row groups
        that have none of them are not read.
    **values : str or array-like of shape (n,)
        One value per row: ``y``, ``sample_weight``, ``sample_domain``, ``groups``; the name of a
        column, or numbers.

    Examples
    --------
    >>> import tempfile, numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> from scarce.chunks import ParquetChunks
    >>> table = pa.table({"a": np.arange(5.0), "b": np.ones(5), "label": [0, 1, 0, 1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(table, f"{folder}/rows.parquet", row_group_size=3)
    ...     chunks = ParquetChunks(folder, y="label")
    ...     chunks.sizes, chunks.map(lambda part: part.X.shape)
    ((3, 2), [(3, 2), (2, 2)])
    """

    def __init__(
        self,
        path: Any,
        *,
        columns: Iterable[str] | None = None,
        dtype: Any = "float64",
        filter: Any = None,
        **values: Any,
    ) -> None:
        self.dataset, self.filter = _opened(path), filter
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
        found = [
            (piece, n_rows)
            for file in self.dataset.get_fragments(filter)
            for piece in _row_groups(file, filter, self.dataset.schema)
            if (n_rows := _row_count(piece, filter, self.dataset.schema))
        ]
        if not found:
            chosen = "" if filter is None else f" for which {filter}"
            raise ValueError(f"path has no rows{chosen}: {path}")
        self.pieces = [piece for piece, _ in found]
        self.sizes = sizes = tuple(n_rows for _, n_rows in found)
        schema = self.dataset.schema
        names = schema.names
        self.named = {name: value for name, value in values.items() if isinstance(value, str)}
        arrays = {name: value for name, value in values.items() if name not in self.named}
        self.given = row_values(arrays, sum(sizes))
        taken = set(self.named.values())
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        self.columns = [name for name in names if name not in taken and name not in index]
        if columns is not None:
            self.columns = list(columns)
        for name in [*self.columns, *taken]:
            if name not in names:
                raise ValueError(f"{path} has no column {name!r}; it has {', '.join(names)}")
        self._check_files({*self.columns, *taken})
        kinds = {name: schema.field(name).type for name in self.columns}
        check_numbers({name: _numpy_kind(kind) for name, kind in kinds.items()})
        self.n_features = len(self.columns)
        check_width(self.n_features)
        self.feature_names = np.asarray(self.columns, dtype=object)
        self.firsts = np.concatenate([[0], np.cumsum(self.sizes)])

    def _check_files(self, wanted: set[str]) -> None:
        """Raise an error for a file without a column: pyarrow would take it for missing values."""
        keys = _pyarrow("dataset").get_partition_keys
        for path, piece in {piece.path: piece for piece in self.pieces}.items():
            has = {*piece.physical_schema.names, *keys(piece.partition_expression)}
            if absent := sorted(wanted - has):
                raise ChunkError(f"{path} has no column {', '.join(map(repr, absent))}")

    def with_values(self, **values: Any) -> ParquetChunks:
        """Return the same files with other values of the rows."""
        taken = {value for value in values.values() if isinstance(value, str)}
        columns = [name for name in self.columns if name not in taken]
        kept = {**self.named, **self.given, **values}
        return ParquetChunks(
            self.dataset, columns=columns, dtype=self.dtype, filter=self.filter, **kept
        )

    def source(self, index: int) -> str:
        """Return file and row group of a chunk."""
        piece = self.pieces[index]
        return f", row group {piece.row_groups[0].id} of {piece.path}"

    def read(self, index: int) -> Part:
        """Read one row group."""
        table = self.pieces[index].to_table(
            schema=self.dataset.schema,
            columns=[*self.columns, *self.named.values()],
            filter=self.filter,
            use_threads=False,
        )
        X = np.empty((table.num_rows, self.n_features), self.dtype)
        for place, name in enumerate(self.columns):
            X[:, place] = table.column(name).to_numpy()
        first = int(self.firsts[index])
        some = slice(first, first + table.num_rows)
        values = {name: value[some] for name, value in self.given.items()}
        for name, column in self.named.items():
            values[name] = table.column(column).to_numpy()
        return Part(index, first, X, values)


def _opened(path: Any) -> Any:
    """Return files as a data set of pyarrow."""
    dataset, fs = _pyarrow("dataset"), _pyarrow("fs")
    if isinstance(path, dataset.Dataset):
        return path
    name = fspath(path)
    system, root = fs.FileSystem.from_uri(name) if "://" in name else (fs.LocalFileSystem(), name)
    files = [root]
    if system.get_file_info(root).type == fs.FileType.Directory:
        inside = system.get_file_info(fs.FileSelector(root, recursive=True))
        files = sorted(each.path for each in inside if each.path.endswith(".parquet"))
    if not files or system.get_file_info(files[0]).type != fs.FileType.File:
        raise FileNotFoundError(f"path names no Parquet file and no folder of them: {path}")
    try:
        return dataset.dataset(
            files, filesystem=system, format="parquet", partitioning="hive", partition_base_dir=root
        )
    except (OSError, ValueError) as error:  # of the disk, and of pyarrow about what it holds
        raise _not_opened(files[0], error) from error


def _row_groups(file: Any, filter: Any, schema: Any) -> list[Any]:
    try:
        return list(file.split_by_row_group(filter, schema))
    except (OSError, ValueError) as error:
        raise _not_opened(file.path, error) from error


def _row_count(piece: Any, filter: Any, schema: Any) -> int:
    if filter is None:
        return int(piece.row_groups[0].num_rows)
    # Not `count_rows`: where the partition decides, it counts the whole file.
    return int(piece.to_table(schema=schema, columns=[], filter=filter).num_rows)


def _not_opened(file: str, error: Exception) -> ChunkError:
    return ChunkError(f"{file} could not be opened as a Parquet file: {error}")


def _numpy_kind(kind: Any) -> Any:
    """Return the type that a column has in NumPy; Arrow's name if that is more precise."""
    try:
        own = np.dtype(kind.to_pandas_dtype())
    except NotImplementedError:  # of dictionaries
        return str(kind)
    return str(kind) if own.kind == "O" and "decimal" not in str(kind) else own


def _pyarrow(module: str) -> Any:
    try:
        return import_module(f"pyarrow.{module}")
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow; install it with: pip install "scarce[dask]"'
        ) from error
