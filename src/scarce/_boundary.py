"""Scores that rounding tells from the offset, and scores that overflow."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array


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
