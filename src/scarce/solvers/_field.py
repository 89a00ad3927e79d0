"""The kernel part of the gradient, kept up to date, beside a bound of its rounding errors."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce.solvers._signed import SignedForm


class Field:
    """``sum_j A[g_i, g_j] K[i, j] s_j x_j`` of a point, in the arithmetic of one precision.

    Every update leaves rounding errors. The *accumulated* weight, the sum of all weights that went
    through a column, bounds them: the operator knows its error per unit of weight, row by row.
    """

    def __init__(self, form: SignedForm, x: Array, precision: Any) -> None:
        self.form = form
        self.precision = precision
        self.values: Array = np.zeros(form.n)
        self.accumulated = np.zeros(form.n)
        self._summed = np.zeros(form.n)
        support = np.flatnonzero(x)
        self.add(support, x[support])

    @classmethod
    def of(cls, form: SignedForm, values: Array, accumulated: Array) -> Field:
        """Return a field whose values were added up otherwise, in float64."""
        field = object.__new__(cls)
        field.form, field.precision, field.values = form, np.float64, values
        field.accumulated, field._summed = accumulated, np.abs(values)
        return field

    def copy(self) -> Field:
        """Return a field that can be changed on its own."""
        other = copy.copy(self)
        other.values, other.accumulated = self.values.copy(), self.accumulated.copy()
        other._summed = self._summed.copy()
        return other

    def add(self, columns: Array, change: Array) -> None:
        """Update the field for a change of some variables."""
        if columns.size == 0:
            return
        form = self.form
        weights = form.weights(columns, change)
        form.kernel.accumulate(columns, weights, form.groups, self.values, self.precision)
        self.accumulated[columns] += np.abs(weights).max(axis=0)
        self._summed += np.abs(self.values)

    def error_bound(self) -> Array:
        """Return a bound of the error of every value against exact sums of exact kernel values."""
        own = np.finfo(np.float64).eps * self._summed
        return np.asarray(self.form.kernel.error_bound(self.accumulated, self.precision) + own)

    def refine(self, x: Array, rows: Array, error: Array) -> bool:
        """Compute the values of some rows, and their errors, in the operator's best precision.

        False if the operator has no sums of some rows.
        """
        kernel, best = self.form.kernel, self.form.kernel.precisions[-1]
        if not kernel.writes_rows:
            return False
        support = np.flatnonzero(x)
        weights = self.form.weights(support, x[support])
        sums = kernel.sums(rows, support, weights, self.form.groups[rows], best)
        accumulated = np.zeros(self.form.n)
        accumulated[support] = np.abs(weights).max(axis=0)
        own = np.finfo(np.float64).eps * np.abs(sums)
        self.values[rows] = sums
        error[rows] = kernel.error_bound(accumulated, best)[rows] + own
        return True
