"""Weights of the columns by how well each ranks labelled above unlabelled samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.kernels import Kernel, scale_gamma
from scarce.positive_unlabeled.bags._ranks import area_under_curve
from scarce.positive_unlabeled.rows._row_source import RowSource, Scored

LEAST = 0.3  # beside what a column adds by itself: it may matter together with others
MOST_COLUMNS = 2000  # from which ranking each takes longer than the bags do


def times_columns(X: Any, weights: Array | None) -> Any:
    """Return rows with their columns multiplied, dense or CSR, in the numbers they came in."""
    if weights is None:
        return X
    if sparse.issparse(X):
        return X.multiply(weights.astype(X.dtype)[None, :]).tocsr()
    return X * weights.astype(X.dtype)


def column_weights(positive: Any, unlabelled: Any, weights: tuple[Array, Array]) -> Array:
    """Return a weight for each column, from `LEAST` to 1 + `LEAST`.

    A column alone has an area under the curve, labelled against unlabelled rows. What it has above
    chance and a standard error says how much it matters.
    """
    gains = np.zeros(positive.shape[1])
    for column in range(gains.size):
        own, others = _dense(positive, column), _dense(unlabelled, column)
        area, error = area_under_curve(own, others, weights)
        gains[column] = np.sqrt(2.0 * max(0.0, abs(area - 0.5) - error))
    largest = float(gains.max(initial=0.0))
    return np.asarray(LEAST + (gains / largest if largest > 0 else 1.0))


def _dense(X: Any, column: int) -> Array:
    values = X[:, [column]]
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    return np.asarray(values[:, 0], dtype=np.float64)


class WeightedRows(Scored):
    """Rows of a source with weights of the columns; `sample` are rows that tell their scale."""

    def __init__(self, source: RowSource, weights: Array, sample: tuple[Any, Array]) -> None:
        self.source, self.column_weights = source, weights
        self.sample = times_columns(sample[0], weights), sample[1]
        self.shape = source.shape
        self.most_trained = source.most_trained

    def against(self, columns: Array) -> RowSource:
        return self

    def gather(self, indices: Array) -> Any:
        return times_columns(self.source.gather(indices), self.column_weights)

    def blocks(self, indices: Array) -> Iterator[tuple[slice, Any]]:
        for part, rows in self.source.blocks(indices):
            yield part, times_columns(rows, self.column_weights)

    def each(self, indices: Array, function: Callable[[Any], Any]) -> Array:
        weights = self.column_weights
        return self.source.each(indices, lambda rows: function(times_columns(rows, weights)))

    def scale_gamma(self, weights: Array) -> float:
        rows, counts = self.sample
        return scale_gamma(rows, counts / counts.max())

    def settled(self, kernel: Kernel, weights: Array) -> Kernel:
        rows, counts = self.sample
        return kernel.settled(rows, counts / counts.max())
