"""The final check: which rows' gradients have to be computed exactly, and what covers the rest."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array
from scarce._core import violation_keys
from scarce.parallel import KEPT
from scarce.solvers._field import Field
from scarce.solvers._signed import SignedForm, extremes_of
from scarce.solvers.certificate._judge import midpoints

CHECKED_VALUES = KEPT  # kernel values up to which every row is computed
CHECKED_KEPT = 1 << 15  # the same for sums over rows that are kept, when others cost a formula
LITTLE = 0.1  # share of `tol` by which a condition may be violated without a closer look
CHECKED_SHARE = 0.05  # of all rows, the most that are computed while another precision is left
REFINED_SHARE = 0.4  # of all rows, the most for which the best precision is used before


def all_checked(form: SignedForm, x: Array) -> bool:
    """Say whether `checked_field` computes every row."""
    if form.problem.kernel.shares_values:
        return False  # the bounds of one matrix are at hand, and plain values are not
    costly = form.kept is not None and form.kept.lazily
    most = CHECKED_KEPT if costly else CHECKED_VALUES
    return int(np.count_nonzero(x)) * form.n <= most


def checked_field(form: SignedForm, x: Array, field: Field, tol: float, last: bool) -> Array | None:
    """Put exact values where an error could change the verdict; return the error of the others.

    A variable at a bound whose gradient is on the right side of its group's multiplier by more
    than its error satisfies its condition whatever the error is. The others are computed with
    plain float64 kernel values; None if all were. Where they are many, the best precision first
    leaves only a few of them.
    """
    if all_checked(form, x):
        field.values[:] = form.exact_field(x, form.all_rows)
        return None
    support = max(1, int(np.count_nonzero(x)))
    error = field.error_bound()
    doubtful = _doubtful(form, x, field, error, tol)
    most = max(CHECKED_VALUES // support, int(CHECKED_SHARE * form.n))
    if not last and doubtful.size > most:
        if doubtful.size > REFINED_SHARE * form.n or not field.refine(x, doubtful, error):
            return error  # more than it is worth: the next precision will do
        doubtful = _doubtful(form, x, field, error, tol)
    if doubtful.size and (last or doubtful.size <= most):
        field.values[doubtful] = form.exact_field(x, doubtful)
        error[doubtful] = 0.0
    return error


def _doubtful(form: SignedForm, x: Array, field: Field, error: Array, tol: float) -> Array:
    """Return the rows whose conditions may be violated by more than little."""
    gradient = form.gradient(x, field.values)
    sides = (x, form.lower, form.upper, form.groups)
    reach: Array = np.empty(form.n)
    violation_keys(gradient, *sides, midpoints(*extremes_of(form, gradient, x)), reach)
    return np.flatnonzero(reach + error > LITTLE * tol)
