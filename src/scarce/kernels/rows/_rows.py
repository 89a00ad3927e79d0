"""Rows of data, dense or CSR, behind the few products a kernel needs; which of them are equal."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from scarce import _core
from scarce._arrays import Array

if TYPE_CHECKING:
    from scarce.kernels.functions._kernel import Kernel


class Rows(Protocol):
    """What the kernel layer asks of a set of rows, in one precision."""

    n: int
    width: int  # values stored per row, about
    longest: int  # values stored in a row, at most: terms of an inner product
    dtype: Any

    def cast(self, dtype: Any) -> Rows:
        """Return the same rows in another precision."""

    def take(self, indices: Array) -> Rows:
        """Return some of the rows."""

    def squared_norms(self) -> Array:
        """Return the squared Euclidean norms in float64."""

    def panel(self, differences: bool = False) -> Any:
        """Return all rows as `product` wants them on its right-hand side, or `distances`."""

    def product(self, start: int, stop: int, panel: Any, out: Array) -> None:
        """Write the inner products of rows ``start:stop`` with the panel's rows to ``out``."""

    def distances(self, start: int, stop: int, panel: Any, out: Array, squared: bool) -> None:
        """Write squared Euclidean distances, or sums of absolute differences, from differences."""

    def plain(self, rows: Any) -> Any:
        """Return some rows as they were given, for `Kernel.values`."""

    def reference(self, kernel: Kernel, rows: Array, columns: Array) -> Array:
        """Return kernel values of some rows with others, in float64 and by plain means."""

    def combine(self, weights: Array) -> Array:
        """Return ``weights @ rows`` in float64, for ``weights`` of shape ``(k, n)``."""

    def project(
        self, start: int, stop: int, weight_vectors: Array, groups: Array, out: Array
    ) -> None:
        """Add each row's product with its group's weight vector to ``out[start:stop]``."""


SHIFTED_ONCE = 1 << 15  # values of rows that are shifted and cast at once


class DenseRows:
    """Dense rows, shifted and cast a tile at a time, so that large data are never copied whole.

    ``center`` is subtracted from every row; an RBF kernel does not notice, but float32 does: far
    from the origin its inner products would cancel.
    """

    def __init__(self, X: Array, dtype: Any = None, center: Array | None = None) -> None:
        self.X = X
        self.n, self.width = X.shape
        self.longest = self.width
        self.dtype = np.dtype(X.dtype if dtype is None else dtype)
        self.center = center
        self._small = self._shifted(slice(None)) if X.size <= SHIFTED_ONCE else None

    def _tile(self, rows: Any) -> Array:
        return self._shifted(rows) if self._small is None else self._small[rows]

    def _shifted(self, rows: Any) -> Array:
        tile = self.X[rows]
        if self.center is None:
            return np.ascontiguousarray(tile, dtype=self.dtype)
        out = np.empty(tile.shape, self.dtype)
        wider = np.promote_types(self.X.dtype, self.dtype)
        np.subtract(tile, self.center, out=out, dtype=wider, casting="same_kind")
        return out

    def cast(self, dtype: Any) -> DenseRows:
        return self if self.dtype == dtype else DenseRows(self.X, dtype, self.center)

    def take(self, indices: Array) -> DenseRows:
        return DenseRows(self.X[indices], self.dtype, self.center)

    def squared_norms(self) -> Array:
        norms = np.empty(self.n)
        exact = self.cast(np.float64)
        for rows in row_slices(self.X):
            tile = exact._tile(rows)
            np.einsum("ij,ij->i", tile, tile, out=norms[rows])
        return norms

    def panel(self, differences: bool = False) -> Array:
        turned = self._tile(slice(None)).T
        return np.ascontiguousarray(turned) if differences else turned

    def product(self, start: int, stop: int, panel: Array, out: Array) -> None:
        np.matmul(self._tile(slice(start, stop)), panel, out=out)

    def distances(self, start: int, stop: int, panel: Array, out: Array, squared: bool) -> None:
        _core.distances(self._tile(slice(start, stop)), panel, squared, out)

    def plain(self, rows: Any) -> Any:
        return self.X[rows]

    def reference(self, kernel: Kernel, rows: Array, columns: Array) -> Array:
        return kernel.values(self.plain(rows), self.plain(columns))

    def combine(self, weights: Array) -> Array:
        return np.asarray(weights @ self._tile(slice(None)), dtype=np.float64)

    def project(
        self, start: int, stop: int, weight_vectors: Array, groups: Array, out: Array
    ) -> None:
        tile = self._tile(slice(start, stop))
        _core.weighted_row_sums(
            tile, np.ascontiguousarray(weight_vectors), groups[start:stop], out[start:stop]
        )


class SparseRows:
    """CSR rows; nothing is made dense but the tiles asked for."""

    def __init__(self, X: sparse.csr_array) -> None:
        # One type for all indices, the shortest that will do: SciPy's depend on how rows were made.
        index = np.int32 if max(X.nnz, *X.shape) <= np.iinfo(np.int32).max else np.int64
        if X.indices.dtype != index or X.indptr.dtype != index:
            parts = X.data, X.indices.astype(index), X.indptr.astype(index)
            X = sparse.csr_array(parts, shape=X.shape)
        self.X = X
        self.n = X.shape[0]
        self.width = 1 + X.nnz // max(1, self.n)
        self.longest = int(np.diff(X.indptr).max(initial=1))
        self.dtype = X.dtype

    def cast(self, dtype: Any) -> SparseRows:
        return self if self.dtype == dtype else SparseRows(self.X.astype(dtype))

    def take(self, indices: Array) -> SparseRows:
        return SparseRows(self.X[indices])

    def squared_norms(self) -> Array:
        norms = np.empty(self.n)
        _core.sparse_squared_norms(self.X.data, self.X.indptr, norms)
        return norms

    def panel(self, differences: bool = False) -> sparse.csr_array:
        return self.X if differences else self.X.T.tocsr()

    def product(self, start: int, stop: int, panel: sparse.csr_array, out: Array) -> None:
        data, indices, indptr = self.X.data, self.X.indices, self.X.indptr[start : stop + 1]
        _core.sparse_product(data, indices, indptr, panel.data, panel.indices, panel.indptr, out)

    def distances(
        self, start: int, stop: int, panel: sparse.csr_array, out: Array, squared: bool
    ) -> None:
        data, indices, indptr = self.X.data, self.X.indices, self.X.indptr[start : stop + 1]
        _core.merged_distances(
            data, indices, indptr, panel.data, panel.indices, panel.indptr, squared, out
        )

    def plain(self, rows: Any) -> Any:
        return self.X[rows]

    def reference(self, kernel: Kernel, rows: Array, columns: Array) -> Array:
        return kernel.values(self.plain(rows), self.plain(columns))

    def combine(self, weights: Array) -> Array:
        return np.ascontiguousarray((self.X.T @ weights.T).T, dtype=np.float64)

    def project(
        self, start: int, stop: int, weight_vectors: Array, groups: Array, out: Array
    ) -> None:
        data, indices, indptr = self.X.data, self.X.indices, self.X.indptr[start : stop + 1]
        weight_vectors = np.ascontiguousarray(weight_vectors)
        _core.project_sparse(
            data, indices, indptr, weight_vectors, groups[start:stop], out[start:stop]
        )


class OpaqueRows:
    """Rows of any kind that only a callable kernel can compare: strings, tensors, graphs."""

    width = longest = 1
    dtype = np.dtype(np.float64)

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n: int = X.shape[0]

    def cast(self, dtype: Any) -> OpaqueRows:
        return self

    def take(self, indices: Array) -> OpaqueRows:
        return OpaqueRows(self.X[indices])

    def squared_norms(self) -> Array:
        return np.zeros(self.n)

    def panel(self, differences: bool = False) -> Any:
        return self.X

    def plain(self, rows: Any) -> Any:
        return self.X[rows]

    def reference(self, kernel: Kernel, rows: Array, columns: Array) -> Array:
        return kernel.values(self.plain(rows), self.plain(columns))


def canonical(X: Any) -> sparse.csr_array:
    """Return CSR rows with sorted columns, each once, in float32 or float64."""
    X = sparse.csr_array(X)
    if not X.has_canonical_format:  # norms and differences are taken entry by entry
        X = X.copy()
        X.sum_duplicates()
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def sparse_distances(X: Any, Z: Any, squared: bool) -> Array:
    """Return distances of CSR rows from differences, in float64: nothing cancels."""
    left, right = (SparseRows(canonical(rows)).cast(np.float64) for rows in (X, Z))
    out = np.empty((left.n, right.n))
    left.distances(0, left.n, right.panel(differences=True), out, squared)
    return out


def as_rows(X: Any, center: Array | None = None) -> Rows:
    """Wrap a dense array, to be shifted by ``center``, or a CSR matrix; not float means float64.

    ``X``: the rows. ``center``: what is taken off dense rows. Returned: what kernels read rows
    from.
    """
    if sparse.issparse(X):
        return SparseRows(canonical(X))
    X = np.asarray(X)
    return DenseRows(X, X.dtype if X.dtype in (np.float32, np.float64) else np.float64, center)


SPREAD = np.uint64(0x9E3779B97F4A7C15)


def row_slices(X: Array) -> list[slice]:
    """Return slices of rows small enough to stay in a cache when turned into float64."""
    step = max(1, 65536 // max(1, X.shape[1]))
    return [slice(start, start + step) for start in range(0, X.shape[0], step)]


def row_bits(X: Any) -> Array:
    """Return 64 mixed bits for every row.

    Rows of the same values have the same bits, dense or sparse, in float32 or float64, and with
    more columns of zeros at the end. Two different rows of a million share them about once in ten
    million data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels.rows._rows import row_bits
    >>> bits = row_bits(np.array([[1.0, -0.0], [2.0, 0.0], [1.0, 0.0]]))
    >>> bool(bits[0] == bits[2]), bool(bits[0] == bits[1])
    (True, False)
    """
    block = X if sparse.issparse(X) else X.reshape(X.shape[0], -1)
    random, largest = np.random.default_rng(0), np.iinfo(np.uint64).max
    factors = random.integers(largest, size=block.shape[1], dtype=np.uint64, endpoint=True)
    factors |= np.uint64(1)
    if sparse.issparse(block):
        return _sparse_bits(block, factors)
    return np.asarray(_mixed(block, factors).sum(axis=1))


def _mixed(values: Array, factors: Array) -> Array:
    """Turn each value into random bits that depend on its column, and zeros into zero."""
    bits = np.add(values, 0.0, dtype=np.float64).view(np.uint64)  # no negative zeros
    bits = (bits ^ (bits >> np.uint64(32))) * factors
    return np.asarray((bits ^ (bits >> np.uint64(29))) * SPREAD)


def _sparse_bits(block: Any, factors: Array) -> Array:
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    mixed = np.append(_mixed(block.data, factors[block.indices]), np.uint64(0))
    starts, stops = block.indptr[:-1], block.indptr[1:]
    return np.where(starts < stops, np.add.reduceat(mixed, starts), np.uint64(0))


BLOCK = 65_536  # rows compared at a time


def distinct_rows(X: Any) -> tuple[Array, Array]:
    """Return the first of each set of equal rows, in lexicographic order, and each row's set.

    The order of the rows and their repetition have no effect on the order of the sets, and a matrix
    is treated the same whether it is dense or sparse.

    ``X``: the rows. Objects, which only a callable kernel can tell apart, all count as distinct..
    Returned: ``first``, position of one row of each set; ``members``, the set of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.kernels import distinct_rows
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    (array([1, 0]), array([1, 0, 1]))
    """
    n = X.shape[0]
    if sparse.issparse(X):
        return _distinct_sparse(sparse.csr_array(X))
    if X.dtype == object:
        return np.arange(n), np.arange(n)
    flat = np.ascontiguousarray(X).reshape(n, -1)
    order = np.lexsort(flat.T[::-1]) if flat.shape[1] else np.arange(n)
    new = np.ones(n, dtype=bool)
    for start in range(1, n, BLOCK):  # a copy of all rows at once would double the memory
        stop = min(start + BLOCK, n)
        new[start:stop] = (flat[order[start:stop]] != flat[order[start - 1 : stop - 1]]).any(axis=1)
    return _sets(order, new)


def _distinct_sparse(X: Any) -> tuple[Array, Array]:
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    ends = X.indptr.tolist()
    columns, values = X.indices.tolist(), X.data.tolist()
    # What compares like the dense rows: the earlier a positive entry, the larger the row.
    keys = [
        [
            (1, -c, v) if v > 0 else (-1, c, v)
            for c, v in zip(columns[a:b], values[a:b], strict=True)
        ]
        + [(0, 0, 0.0)]
        for a, b in pairwise(ends)
    ]
    order = sorted(range(X.shape[0]), key=keys.__getitem__)
    new = [i == 0 or keys[order[i]] != keys[order[i - 1]] for i in range(len(order))]
    return _sets(np.array(order, dtype=np.int64), np.array(new, dtype=bool))


def _sets(order: Array, new: Array) -> tuple[Array, Array]:
    """Return first rows and sets from rows in order, marked where they differ from the last."""
    members = np.empty(order.size, dtype=np.int64)
    members[order] = np.cumsum(new) - 1
    return order[new], members
