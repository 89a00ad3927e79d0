"""Operators with errors that are known, to see what the solver makes of them."""

import numpy as np

from scarce.solvers import DenseMatrix, SymmetricOperator


class RbfRows(SymmetricOperator):
    """An RBF kernel whose float32 sums are as float32 makes them, with a bound row by row."""

    definite = True
    name = "rbf"

    def __init__(self, X, gamma):
        self.X, self.gamma, self.n = np.asarray(X, float), gamma, len(X)
        self.norms = np.sqrt(gamma) * np.linalg.norm(self.X, axis=1)  # in units of the width
        self.values_checked = 0

    @property
    def precisions(self):
        return (np.float32, np.float64)

    def subset(self, indices):
        return RbfRows(self.X[indices], self.gamma)

    def diagonal(self):
        return np.ones(self.n)

    def _values(self, left, right, precision):
        X, Z = self.X[left].astype(precision), self.X[right].astype(precision)
        gamma = precision(self.gamma)
        squares = gamma * (X * X).sum(1)[:, None] + gamma * (Z * Z).sum(1)
        return np.exp(np.minimum(2 * gamma * (X @ Z.T) - squares, 0))

    def write_block(self, indices, out):
        out[...] = self._values(indices, indices, out.dtype.type)

    def accumulate(self, columns, weights, groups, out, precision):
        for some in np.array_split(np.arange(self.n), max(1, self.n // 1000)):
            values = self._values(some, columns, precision)
            sums = values @ weights.T.astype(precision)
            out[some] += sums[np.arange(some.size), groups[some]]

    def error_bound(self, absolute_weights, precision):
        """Exponents err by the last digit of the norms; kernel values of far rows vanish."""
        eps = float(np.finfo(precision).eps)
        levels = np.floor(np.log2(np.maximum(self.norms, 1e-3)))
        found = np.full(self.n, 2.0 * eps * self.n * absolute_weights.sum())
        for level in np.unique(levels[absolute_weights > 0]):
            low, high = 2.0**level, 2.0 ** (level + 1)
            off = eps * (8 + self.X.shape[1]) * (self.norms + high) ** 2
            apart = np.maximum(np.maximum(self.norms - high, low - self.norms), 0.0)
            largest = np.exp(np.minimum(off - apart**2, 0.0))
            found += np.minimum(off, 1.0) * largest * absolute_weights[levels == level].sum()
        return found

    def reference(self, rows, columns):
        self.values_checked += rows.size * columns.size
        X, Z = self.X[rows], self.X[columns]
        squares = np.zeros((rows.size, columns.size))
        for x, z in zip(X.T, Z.T, strict=True):  # differences: nothing cancels
            squares += (x[:, None] - z) ** 2
        return np.exp(-self.gamma * squares)


class OffInSingle(DenseMatrix):
    """A stored matrix whose float32 sums are off by a known share of all weights, on some rows."""

    def __init__(self, values, rows, share, **parts):
        super().__init__(values, definite=True)
        self.rows, self.share, self.parts = rows, share, parts
        self.off = np.zeros(self.n)
        self.off[rows] = share
        self.values_checked = 0

    @property
    def precisions(self):
        return (np.float32, np.float64)

    def subset(self, indices):
        return DenseMatrix(self.values[np.ix_(indices, indices)], definite=True)

    def accumulate(self, columns, weights, groups, out, precision):
        super().accumulate(columns, weights, groups, out, np.float64)
        if precision == np.float32:
            # The whole error, and always to the same side: the worst that the bound allows.
            out += self.off * np.abs(weights).max(axis=0).sum()

    def error_bound(self, absolute_weights, precision):
        plain = super().error_bound(absolute_weights, np.float64)
        return plain + (
            np.abs(self.off) * absolute_weights.sum() if precision == np.float32 else 0.0
        )

    def reference(self, rows, columns):
        self.values_checked += rows.size * columns.size
        return super().reference(rows, columns)
