"""The final check: which rows' gradients have to be computed exactly, and what covers the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._certificate import midpoints
from scarce.solvers._field import Field
from scarce.solvers._signed import SignedForm
from scarce.solvers._space import KEPT

Array = NDArray[Any]

ALL_CHECKED = 1 << 15  # kernel values up to which every row is computed
CHECKED_VALUES = KEPT  # and up to which rows are that need not be
CHECKED_SHARE = 0.05  # of all rows, the most that are computed while another precision is left


def all_checked(form: SignedForm, x: Array) -> bool:
    """Say whether `checked_field` computes every row."""
    return int(np.count_nonzero(x)) * form.n <= ALL_CHECKED


def checked_field(form: SignedForm, x: Array, field: Field, tol: float, last: bool) -> Array | None:
    """Put exact values where an error could change the verdict; return the error of the others.

    A variable at a bound whose gradient is on the right side of its group's multiplier by more
    than its error satisfies its condition whatever the error is. The others are computed with
    plain float64 kernel values, the worst first and as many as may be; None if all were.
    """
    if all_checked(form, x):
        field.values[:] = form.exact_field(x, np.arange(form.n))
        return None
    from scarce.solvers._compiled import group_extremes, violation_keys

    support = int(np.count_nonzero(x))
    error = field.error_bound()
    gradient = form.gradient(x, field.values)
    sides = (x, form.lower, form.upper, form.groups)
    m, M = group_extremes(gradient, *sides, form.n_groups)
    reach: Array = np.empty(form.n)
    violation_keys(gradient, *sides, midpoints(m, M), reach)
    reach += error  # how far a row's conditions may be violated
    doubtful = int(np.count_nonzero(reach > 0))
    most = max(CHECKED_VALUES // support, int(CHECKED_SHARE * form.n))
    if last:
        most = max(most, int(np.count_nonzero(reach > 0.5 * tol)))
    elif np.count_nonzero(reach > 0.5 * tol) > most:
        return error  # more than it is worth: the next precision will do
    count = min(doubtful, most)
    if count:
        rows = np.argpartition(reach, form.n - count)[form.n - count :]
        field.values[rows] = form.exact_field(x, rows)
        error[rows] = 0.0
    return error
