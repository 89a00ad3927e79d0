"""The type of an array, what of rows is no number, and a check of sparse arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

ENCODE = (
    "Encode or drop them first, for instance by sklearn.compose.ColumnTransformer with "
    "OneHotEncoder"
)


def unpacked_rows(parts: Any, name: str, kind: Any) -> Any:
    """Return the sparse matrix that a state holds as ``(data, indices, indptr, shape)``."""
    try:
        data, indices, indptr, shape = parts
        return kind((data, indices, indptr), shape=shape)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not a valid sparse matrix: {error}") from error


def check_sparse(X: Any, name: str) -> None:
    """Refuse a sparse matrix whose indices point outside it: compiled code would follow them.

    SciPy looks at this only when asked, and then trims the matrix in place; here it stays as it
    is. One pass over the indices.
    """
    if X.ndim != 2:
        return  # left to the checks of shapes
    if X.format in ("csr", "csc"):
        n_major, n_minor = X.shape if X.format == "csr" else X.shape[::-1]
        _check_compressed(X, name, n_major, n_minor, X.data.size)
    elif X.format == "bsr":
        height, width = X.blocksize
        _check_compressed(X, name, X.shape[0] // height, X.shape[1] // width, X.data.shape[0])
    elif X.format == "coo":
        for axis, places, size in (("row", X.row, X.shape[0]), ("col", X.col, X.shape[1])):
            _check_places(places, size, f"{name}.{axis}")
            if places.size != X.data.size:
                raise ValueError(
                    f"{name}.{axis} has {places.size} entries, expected one per value: "
                    f"{X.data.size}"
                )


def _check_compressed(X: Any, name: str, n_major: int, n_minor: int, n_values: int) -> None:
    indptr, indices = X.indptr, X.indices
    if indptr.shape != (n_major + 1,):
        raise ValueError(f"{name}.indptr has shape {indptr.shape}, expected ({n_major + 1},)")
    if indptr.dtype.kind != "i" or indices.dtype.kind != "i":
        raise ValueError(
            f"{name}.indptr and {name}.indices are {indptr.dtype} and {indices.dtype}, expected "
            "signed whole numbers"
        )
    stored = min(indices.size, n_values)
    falls = bool((indptr[1:] < indptr[:-1]).any())
    if indptr[0] != 0 or indptr[-1] > stored or falls:
        raise ValueError(
            f"{name}.indptr goes from {indptr[0]} to {indptr[-1]}{' and falls between' * falls}, "
            f"expected to rise from 0 to at most {stored}, the number of stored values"
        )
    _check_places(indices[: indptr[-1]], n_minor, f"{name}.indices")


def _check_places(places: Array, size: int, name: str) -> None:
    if places.size and not 0 <= places.min() <= places.max() < size:
        seen = places.min() if places.min() < 0 else places.max()
        raise ValueError(f"{name} holds {seen}, expected values from 0 to {size - 1}")


def not_numbers(X: Any, error: Exception | None = None) -> str:
    """Return which columns of a pandas table are no numbers, and what to do; else nothing.

    ``error``: of other rows, what was said when they were converted.
    """
    if not hasattr(X, "select_dtypes"):
        failed = "could not convert" in str(error)
        return f"X has values that are not numbers: {error}. {ENCODE}" if failed else ""
    others = X.loc[:, [kind.kind not in "biufc" for kind in X.dtypes]]
    if others.shape[0] == 0 or others.shape[1] == 0:
        return ""
    first = [f"{name!r} ({others[name].dtype}: {others[name].iloc[0]!r})" for name in others][:5]
    more = f" and {others.shape[1] - len(first)} more" if others.shape[1] > len(first) else ""
    return (
        f"X has columns that are not numbers: {', '.join(first)}{more}. {ENCODE} for these columns"
    )
