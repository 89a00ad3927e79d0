"""Where rows come from: blocks to be scored, rows by index; which rows are equal, in what order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d

from scarce._arrays import Array
from scarce._frame import num_samples, opaque_rows, safe_indexing, validate_data
from scarce._kernel_machine import check_range
from scarce.kernels import Kernel, kernel_type, row_bits, scale_gamma

BLOCK_VALUES = 1 << 22  # values of a block of rows, 32 MB in float64


class RowSource(Protocol):
    """All rows of a fit, wherever they are kept. A distributed source needs these methods only."""

    shape: tuple[int, ...]
    most_trained: float  # rows that a model may be trained on at a time
    column_weights: Array | None  # that multiply the columns as they are read; None for none

    def against(self, columns: Array) -> RowSource:
        """Return the rows as a model wants them that was trained on the rows ``columns``."""

    def gather(self, indices: Array) -> Any:
        """Return some rows, as an array or CSR in memory."""

    def blocks(self, indices: Array) -> Iterator[tuple[slice, Any]]:
        """Return those rows in blocks, each with its place among ``indices``."""

    def each(self, indices: Array, function: Callable[[Any], Any]) -> Array:
        """Return a function's answers, one a row, for those rows, computed block by block.

        ``indices`` may be one bool for each of all rows instead of numbers.
        """

    def scores(self, indices: Array, score: Callable[[Any], Any]) -> Array:
        """Return one number for each of those rows, computed block by block."""

    def scale_gamma(self, weights: Array) -> float:
        """Return the `gamma` called "scale" of all rows, counted by their weights."""

    def settled(self, kernel: Kernel, weights: Array) -> Kernel:
        """Return a kernel with the number that its `gamma` is for these rows and weights."""


class Scored:
    """Base of sources; a subclass has `each`."""

    most_trained = np.inf
    column_weights: Array | None = None

    def each(self, indices: Array, function: Callable[[Any], Any]) -> Array:
        raise NotImplementedError

    def scores(self, indices: Array, score: Callable[[Any], Any]) -> Array:
        return self.each(indices, lambda rows: np.ravel(score(rows)))


class MemoryRows(Scored):
    """Rows of an array or CSR matrix."""

    def __init__(self, X: Any) -> None:
        if sparse.issparse(X) and not X.has_sorted_indices:
            X = X.sorted_indices()  # once, and not for the rows of every round
        self.X = X
        self.shape: tuple[int, ...] = X.shape

    def against(self, columns: Array) -> RowSource:
        return self  # a row of features is the same for every model

    def gather(self, indices: Array) -> Any:
        return self.X[indices]

    def blocks(self, indices: Array) -> Iterator[tuple[slice, Any]]:
        n_values = self.X.nnz if sparse.issparse(self.X) else self.X.size
        step = max(1, BLOCK_VALUES // (1 + n_values // max(1, self.shape[0])))
        for start in range(0, indices.size, step):
            part = slice(start, start + step)
            yield part, self.gather(indices[part])

    def each(self, indices: Array, function: Callable[[Any], Any]) -> Array:
        indices = np.flatnonzero(indices) if indices.dtype == np.bool_ else indices
        found = np.zeros(0)
        for part, rows in self.blocks(indices):
            answer = np.asarray(function(rows))
            if part.start == 0:
                found = np.empty((indices.size, *answer.shape[1:]), answer.dtype)
            found[part] = answer
        return found

    def scale_gamma(self, weights: Array) -> float:
        return scale_gamma(self.X, weights / weights.max())

    def settled(self, kernel: Kernel, weights: Array) -> Kernel:
        return kernel.settled(self.X, weights / weights.max())


class MappedRows(MemoryRows):
    """Rows of a memory-mapped file: only the blocks asked for are read, and turned into floats."""

    def gather(self, indices: Array) -> Any:
        rows = np.ascontiguousarray(self.X[indices])
        return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)


class KernelRows(MemoryRows):
    """Rows of a precomputed kernel matrix, of which a model sees its training columns."""

    def __init__(self, X: Any, columns: Array | None = None) -> None:
        super().__init__(X)
        self.columns = columns

    def against(self, columns: Array) -> RowSource:
        return KernelRows(self.X, columns)

    def gather(self, indices: Array) -> Any:
        return self.X[indices if self.columns is None else np.ix_(indices, self.columns)]


class TableRows(MemoryRows):
    """Rows of any table that scikit-learn can take rows from: arrays, CSR, frames, lists."""

    def __init__(self, X: Any) -> None:
        self.X = X.tocsr() if sparse.issparse(X) else X
        shape = np.shape(X) if not hasattr(X, "shape") else X.shape
        self.shape = (num_samples(X), *shape[1:])

    def gather(self, indices: Array) -> Any:
        return safe_indexing(self.X, indices)

    def numbers(self) -> Any:
        """Return the rows as finite numbers, so that equal ones are found; None if they are not.

        A frame may hold columns of words, or missing values.
        """
        values = self.X if sparse.issparse(self.X) else np.asarray(self.X)
        numeric = values.dtype.kind in "fiub" and values.ndim == 2
        cells = values.data if sparse.issparse(values) else values
        return values if numeric and np.isfinite(cells).all() else None

    def blocks(self, indices: Array) -> Iterator[tuple[slice, Any]]:
        step = max(1, BLOCK_VALUES // max(1, self.shape[-1]))
        for start in range(0, indices.size, step):
            part = slice(start, start + step)
            yield part, self.gather(indices[part])


def learner_kernel(kernel: Any) -> type[Kernel]:
    """Return the kind of a learner's kernel; without one it takes rows of numbers."""
    try:
        return kernel_type(kernel)
    except ValueError:
        return Kernel


def checked_rows(estimator: Any, X: Any, kernel: Any, y: Any = None, *, reset: bool) -> Any:
    """Return checked rows, and labels when fitting (``reset``).

    A memory-mapped array is checked block by block and never loaded whole.
    """
    kind = learner_kernel(kernel)
    if kind.opaque:
        rows = opaque_rows(X)
        return (MemoryRows(rows), _labels(rows, y)) if reset else MemoryRows(rows)
    if kind.pairwise and sparse.issparse(X):
        raise TypeError("Sparse precomputed kernels are not supported; give a dense array.")
    if not kind.pairwise and isinstance(X, np.memmap):
        validate_data(
            estimator, X, y if reset else "no_validation", reset=reset, skip_check_array=True
        )
        mapped = _checked_map(estimator, X)
        return (mapped, _labels(X, y)) if reset else mapped
    checked = validate_data(
        estimator,
        X,
        y if reset else "no_validation",
        reset=reset,
        dtype=[np.float64, np.float32],
        order="C",
        accept_sparse="csr",
        accept_large_sparse=False,
    )
    values = checked[0] if reset else checked
    held = KernelRows if kind.pairwise else MemoryRows
    if kind.pairwise and reset and values.shape[0] != values.shape[1]:
        raise ValueError(
            "Precomputed matrix must be a square matrix. "
            f"Input is a {values.shape[0]}x{values.shape[1]} matrix."
        )
    if not kind.pairwise and reset:
        check_range(values)
    return (held(values), _labels(values, checked[1])) if reset else held(values)


def _labels(X: Any, y: Any) -> Array:
    labels: Array = column_or_1d(y, warn=True)
    check_consistent_length(X, labels)
    return labels


def _checked_map(estimator: Any, X: Any) -> MappedRows:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            "a memory-mapped X must be a two-dimensional array of numbers, got "
            f"{X.ndim} dimensions of {X.dtype}"
        )
    rows = MappedRows(X)
    for _, block in rows.blocks(np.arange(X.shape[0])):
        assert_all_finite(block, estimator_name=type(estimator).__name__, input_name="X")
        check_range(block)
    return rows


def row_keys(rows: RowSource, indices: Array | None = None) -> Array:
    """Return a number per row that equal rows share, and by which different rows are in order.

    The order is that along a fixed direction: scale, offset, and constant columns at the end leave
    it as it is. Equality is that of 64 mixed bits: should two different rows share them, a row of
    no importance is treated as its twin.

    ``rows``: the rows; dense and sparse rows of the same values have the same keys. ``indices``:
    which rows; all by default. Their order does not depend on the others. Returned: the keys, 0 to
    the number of different rows less one.
    """
    indices = np.arange(rows.shape[0]) if indices is None else indices
    if not _are_numbers(rows):
        return indices
    marks = rows.each(indices, _marks)
    bits, places = marks[:, 0], marks[:, 1].view(np.float64)
    _, first, which = np.unique(bits, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.intp)
    rank[np.lexsort((bits[first], places[first]))] = np.arange(first.size)
    return np.asarray(rank[which])


def row_codes(rows: RowSource, few: Array, many: Array) -> Array:
    """Return a number per row that equal rows share: the bits that `row_keys` compares.

    ``few``: numbers of some of the rows that are asked about. Returned: the codes, of all other
    rows 0; of rows that are not of numbers, each its own.
    """
    if not _are_numbers(rows):
        return np.arange(rows.shape[0])
    codes = np.zeros(rows.shape[0], np.uint64)
    codes[few] = rows.each(few, row_bits)
    codes[many] = rows.each(many, row_bits)
    return codes


def are_among(codes: Array, some: Array) -> Array:
    """Return which codes are among some others, few as a rule."""
    if some.size == 0:
        return np.zeros(codes.size, bool)
    wanted = np.unique(some)
    places = np.minimum(np.searchsorted(wanted, codes), wanted.size - 1)
    return np.asarray(wanted[places] == codes)


def _are_numbers(rows: RowSource) -> bool:
    """Say whether rows are of numbers; of a callable kernel they may be of any kind."""
    return bool(rows.gather(np.zeros(1, np.intp)).dtype.kind in "fiub")


def _marks(block: Any) -> Array:
    """Return the bits of every row, and those of its place along the direction."""
    if not sparse.issparse(block):
        block = block.reshape(block.shape[0], -1)
    direction = np.random.default_rng(1).uniform(0.5, 1.5, size=block.shape[1])
    places = np.asarray(block @ direction, dtype=np.float64)
    return np.column_stack([row_bits(block), places.view(np.uint64)])
