"""Scores that rounding tells from the offset, scores that overflow, models that are zero."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array
from scarce._frame import note
from scarce.kernels import Kernel


def rounding_error(coefficients: Array, largest: float) -> float:
    """Return how far rounding may move a score ``sum_j c_j k(x, x_j)`` with ``k`` up to largest."""
    return 16.0 * float(np.finfo(np.float64).eps * np.abs(coefficients).sum() * largest)


def on_boundary(scores: Array, offsets: Array, rounding: float) -> Array:
    """Return the scores, those that equal the offset up to rounding set to it.

    Support vectors that are not at their bound lie exactly on the boundary; without this rounding
    errors would reject half of them, and more than the share ``nu`` in all.
    """
    return np.where(np.abs(scores - offsets) <= rounding, offsets, scores)


def no_nan(scores: Array) -> Array:
    """Return scores; refuse NaN, which differences of infinite terms are."""
    wrong = np.isnan(scores)
    if wrong.any():
        first = np.argwhere(wrong)[0][0]
        raise ValueError(
            f"the score of row {first} of X is not a number: terms of it overflow. "
            "Scale X as the rows of the fit were; if it is, the model was altered"
        )
    return scores


ROUNDING = 1e-14


def is_zero(objective: float, largest: float) -> bool:
    """Return whether the optimum, and with it the weight vector, is zero up to rounding.

    ``-largest`` is the smallest value the objective could have for kernel values of that size.
    """
    return -objective <= ROUNDING * largest


def warn_if_zero(objective: float, largest: float, kernel: Kernel) -> None:
    """Warn when `is_zero`."""
    if not is_zero(objective, largest):
        return
    if kernel.vanishes:  # which only an approximation turns to zero
        note(
            f"The solution is trivial: with {kernel} some rows have no kernel value with any "
            "landmark, so that w = 0 and every decision is 0. Raise n_components, or use a wider "
            "kernel."
        )
    else:
        note(
            f'The solution is trivial: with kernel="{kernel.name}" the origin lies among the '
            "sample, so that w = 0 and every decision is 0. Use an rbf kernel, or do not centre "
            "the data."
        )
