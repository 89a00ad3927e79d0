"""Arrays in NumPy files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scarce.io._table_rows import TableError, short


def read_arrays(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the main array of a NumPy file, and arrays of one value per row by their names.

    The main array of an ".npz" file is its only one of two or more dimensions, or is named "X".
    """
    try:
        if path.suffix.lower() == ".npz":
            with path.open("rb") as file:
                arrays = dict(np.load(file, allow_pickle=False))
        else:
            arrays = {"X": np.load(path, mmap_mode="r", allow_pickle=False)}
    except (ValueError, EOFError, OSError, KeyError) as error:
        if isinstance(error, PermissionError):
            raise
        raise TableError(f"{path} is damaged, or no NumPy file: {short(str(error))}") from None
    except Exception as error:  # a damaged archive fails in the ways of zipfile and zlib
        raise TableError(f"{path} is damaged: {short(str(error))}") from None
    large = [name for name, array in arrays.items() if array.ndim > 1]
    main = "X" if "X" in large else large[0] if len(large) == 1 else None
    if main is None:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise TableError(f"{path} must hold one array of rows, or one named X; it holds {shapes}")
    rows = arrays[main]
    if rows.dtype.kind not in "fiub":
        raise TableError(f"{path}, array {main!r}: {rows.dtype} instead of numbers")
    if not rows.shape[0]:
        raise TableError(f"{path} holds no rows")
    columns = {
        name: array
        for name, array in arrays.items()
        if name != main and array.ndim == 1 and len(array) == len(rows)
    }
    return rows, columns
