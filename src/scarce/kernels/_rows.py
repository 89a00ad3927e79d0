"""Rows of data, dense or CSR, behind the few products a kernel needs."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]


class Rows(Protocol):
    """What the kernel layer asks of a set of rows, in one precision."""

    n: int
    width: int  # values stored per row
    dtype: Any

    def cast(self, dtype: Any) -> Rows:
        """Return the same rows in another precision."""

    def take(self, indices: Array) -> Rows:
        """Return some of the rows."""

    def squared_norms(self) -> Array:
        """Return the squared Euclidean norms in float64."""

    def panel(self) -> Any:
        """Return all rows in the form that `product` wants on its right-hand side."""

    def product(self, start: int, stop: int, panel: Any, out: Array) -> None:
        """Write the inner products of rows ``start:stop`` with the panel's rows to ``out``."""

    def plain_products(self, other: Any) -> Array:
        """Return the inner products with other rows in float64, by NumPy and SciPy alone."""

    def combine(self, weights: Array) -> Array:
        """Return ``weights @ rows`` in float64, for ``weights`` of shape ``(k, n)``."""

    def project(self, start: int, stop: int, planes: Array, groups: Array, out: Array) -> None:
        """Add to ``out[start:stop]`` the inner product of each row with the plane of its group."""


def row_slices(X: Array) -> list[slice]:
    """Return slices of rows small enough to stay in a cache when turned into float64."""
    step = max(1, 65536 // max(1, X.shape[1]))
    return [slice(start, start + step) for start in range(0, X.shape[0], step)]


class DenseRows:
    """Dense rows, shifted and cast a tile at a time, so that the data are never copied whole.

    ``center`` is subtracted from every row; an RBF kernel does not notice, but float32 does: far
    from the origin its inner products would cancel.
    """

    def __init__(self, X: Array, dtype: Any = None, center: Array | None = None) -> None:
        self.X = X
        self.n, self.width = X.shape
        self.dtype = np.dtype(X.dtype if dtype is None else dtype)
        self.center = center

    def _tile(self, rows: Any) -> Array:
        tile = self.X[rows]
        if self.center is None:
            return np.ascontiguousarray(tile, dtype=self.dtype)
        out = np.empty(tile.shape, self.dtype)
        wider = np.promote_types(self.X.dtype, self.dtype)
        np.subtract(tile, self.center, out=out, dtype=wider, casting="same_kind")
        return out

    def cast(self, dtype: Any) -> DenseRows:
        return DenseRows(self.X, dtype, self.center)

    def take(self, indices: Array) -> DenseRows:
        return DenseRows(self.X[indices], self.dtype, self.center)

    def squared_norms(self) -> Array:
        norms = np.empty(self.n)
        exact = self.cast(np.float64)
        for rows in row_slices(self.X):
            tile = exact._tile(rows)
            np.einsum("ij,ij->i", tile, tile, out=norms[rows])
        return norms

    def panel(self) -> Array:
        return self._tile(slice(None)).T

    def product(self, start: int, stop: int, panel: Array, out: Array) -> None:
        np.matmul(self._tile(slice(start, stop)), panel, out=out)

    def plain_products(self, other: DenseRows) -> Array:
        left, right = self.cast(np.float64).panel(), other.cast(np.float64).panel()
        return np.asarray(left.T @ right)

    def combine(self, weights: Array) -> Array:
        return np.asarray(weights @ self._tile(slice(None)), dtype=np.float64)

    def project(self, start: int, stop: int, planes: Array, groups: Array, out: Array) -> None:
        from scarce.kernels._compiled import project_dense

        project_dense(self._tile(slice(start, stop)), planes, groups[start:stop], out[start:stop])


class SparseRows:
    """CSR rows; nothing is made dense but the tiles asked for."""

    def __init__(self, X: sparse.csr_array) -> None:
        self.X = X
        self.n = X.shape[0]
        self.width = 1 + X.nnz // max(1, self.n)
        self.dtype = X.dtype

    def cast(self, dtype: Any) -> SparseRows:
        return self if self.dtype == dtype else SparseRows(self.X.astype(dtype))

    def take(self, indices: Array) -> SparseRows:
        return SparseRows(self.X[indices])

    def squared_norms(self) -> Array:
        from scarce.kernels._compiled import sparse_squared_norms

        return sparse_squared_norms(self.X.data, self.X.indptr)  # type: ignore[no-any-return]

    def panel(self) -> sparse.csr_array:
        return self.X.T.tocsr()

    def product(self, start: int, stop: int, panel: sparse.csr_array, out: Array) -> None:
        from scarce.kernels._compiled import sparse_product

        data, indices, indptr = self.X.data, self.X.indices, self.X.indptr[start : stop + 1]
        sparse_product(data, indices, indptr, panel.data, panel.indices, panel.indptr, out)

    def plain_products(self, other: SparseRows) -> Array:
        left, right = self.cast(np.float64).X, other.cast(np.float64).X
        return np.asarray((left @ right.T).toarray())

    def combine(self, weights: Array) -> Array:
        return np.ascontiguousarray((self.X.T @ weights.T).T, dtype=np.float64)

    def project(self, start: int, stop: int, planes: Array, groups: Array, out: Array) -> None:
        from scarce.kernels._compiled import project_sparse

        data, indices, indptr = self.X.data, self.X.indices, self.X.indptr[start : stop + 1]
        project_sparse(data, indices, indptr, planes, groups[start:stop], out[start:stop])


def as_rows(X: Any, center: Array | None = None) -> Rows:
    """Wrap a dense array, to be shifted by ``center``, or a CSR matrix; not float means float64."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        if not X.has_canonical_format:  # norms are taken entry by entry
            X = X.copy()
            X.sum_duplicates()
        return SparseRows(X if X.dtype in (np.float32, np.float64) else X.astype(np.float64))
    X = np.asarray(X)
    return DenseRows(X, X.dtype if X.dtype in (np.float32, np.float64) else np.float64, center)
