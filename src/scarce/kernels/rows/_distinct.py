"""Equal rows as one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array

BLOCK = 65_536  # rows compared at a time


def distinct_rows(X: Any) -> tuple[Array, Array]:
    """Return the first of each set of equal rows, in lexicographic order, and each row's set.

    The order of the rows and their repetition have no effect on the order of the sets, and a matrix
    is treated the same whether it is dense or sparse.

    Parameters
    ----------
    X : array or CSR of shape (n, ...)
        The rows. Objects, which only a callable kernel can tell apart, all count as distinct.

    Returns
    -------
    first : ndarray of int
        Position of one row of each set.
    members : ndarray of int of shape (n,)
        The set of each row.

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
