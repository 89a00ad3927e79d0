"""Rows of Parquet files, one chunk for every row group."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from scarce.chunks._array import LocalChunks, row_values
from scarce.chunks._chunks import ChunkError, Part, check_numbers, check_width


class ParquetChunks(LocalChunks):
    """Rows of a Parquet file, or of a folder of them.

    Every row group of a file is one chunk. Files are taken in the order of their names.

    Parameters
    ----------
    path : str or Path
        A file, or a folder with files ``*.parquet``.
    columns : iterable of str, optional
        The features; by default all columns that are not named as a value of the rows, nor are
        the index of a pandas table.
    dtype : {"float32", "float64"}, default="float64"
        What the features are read as.
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

    lazy = True

    def __init__(
        self,
        path: Any,
        *,
        columns: Iterable[str] | None = None,
        dtype: Any = "float64",
        **values: Any,
    ) -> None:
        path = Path(path)
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not files or not files[0].exists():
            raise FileNotFoundError(f"path names no Parquet file and no folder of them: {path}")
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
        self.pieces: list[tuple[str, int]] = []  # file and row group
        sizes = []
        for file in files:
            metadata = _opened(file).metadata
            for group in range(metadata.num_row_groups):
                if metadata.row_group(group).num_rows:
                    self.pieces.append((str(file), group))
                    sizes.append(metadata.row_group(group).num_rows)
        if not sizes:
            raise ValueError(f"path has no rows: {path}")
        self.sizes = tuple(sizes)
        schema = _opened(files[0]).schema_arrow
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
        kinds = {name: schema.field(name).type for name in self.columns}
        check_numbers({name: _numpy_kind(kind) for name, kind in kinds.items()})
        self.n_features = len(self.columns)
        check_width(self.n_features)
        self.feature_names = np.asarray(self.columns, dtype=object)
        self.firsts = np.concatenate([[0], np.cumsum(self.sizes)])

    def with_values(self, **values: Any) -> ParquetChunks:
        """Return the same files with other values of the rows."""
        folder = {Path(file).parent for file, _ in self.pieces}
        path = self.pieces[0][0] if len({file for file, _ in self.pieces}) == 1 else folder.pop()
        taken = {value for value in values.values() if isinstance(value, str)}
        columns = [name for name in self.columns if name not in taken]
        kept = {**self.named, **self.given, **values}
        return ParquetChunks(path, columns=columns, dtype=self.dtype, **kept)

    def source(self, index: int) -> str:
        """Return file and row group of a chunk."""
        file, group = self.pieces[index]
        return f", row group {group} of {file}"

    def read(self, index: int) -> Part:
        """Read one row group."""
        file, group = self.pieces[index]
        wanted = [*self.columns, *self.named.values()]
        with _pyarrow_parquet().ParquetFile(file) as opened:
            table = opened.read_row_group(group, columns=wanted, use_threads=False)
        X = np.empty((table.num_rows, self.n_features), self.dtype)
        for place, name in enumerate(self.columns):
            X[:, place] = table.column(name).to_numpy()
        first = int(self.firsts[index])
        some = slice(first, first + table.num_rows)
        values = {name: value[some] for name, value in self.given.items()}
        for name, column in self.named.items():
            values[name] = table.column(column).to_numpy()
        return Part(index, first, X, values)


def _opened(file: Any) -> Any:
    try:
        return _pyarrow_parquet().ParquetFile(file)
    except (OSError, ValueError) as error:  # of the disk, and of pyarrow about what it holds
        raise ChunkError(f"{file} could not be opened as a Parquet file: {error}") from error


def _numpy_kind(kind: Any) -> Any:
    """Return the type that a column has in NumPy; Arrow's name if that tells more."""
    try:
        own = np.dtype(kind.to_pandas_dtype())
    except NotImplementedError:  # of dictionaries
        return str(kind)
    return str(kind) if own.kind == "O" and "decimal" not in str(kind) else own


def _pyarrow_parquet() -> Any:
    try:
        return import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow; install it with: pip install "scarce[dask]"'
        ) from error
