"""Pairwise steps in NumPy, for small programs while loading the compiled ones would cost more."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._signed import SignedForm

Array = NDArray[Any]

LARGEST = 192  # variables of a program that is worth beginning without the compiler
MOST_STEPS = 2000  # of one program
# Plain steps of all programs after which the compiler is loaded after all: they have taken about as
# long as that would. Counted, not timed, so that answers do not depend on a clock.
LOADING = 8000
TINY = 1e-12  # floor of a pair's curvature, as a share of its two diagonal entries
NONE = 1e-300

_spent = 0


def is_worth_it(n: int) -> bool:
    """Say whether a program of so many variables is to be begun without the compiler."""
    return n <= LARGEST and _spent < LOADING and not compiler_is_loaded()


def compiler_is_loaded() -> bool:
    """Say whether compiled functions are at hand."""
    return "scarce.solvers._jit" in sys.modules


def plain_steps(form: SignedForm, x: Array, gradient: Array, tol: float, limit: int) -> int:
    """Second-order pairwise steps until ``max (m - M) <= tol``; return how many.

    ``x`` and its gradient are changed in place.
    """
    global _spent
    Q = form.block(np.arange(form.n), np.float64)
    diagonal, lower, upper = Q.diagonal(), form.lower, form.upper
    members = [form.groups == g for g in range(form.n_groups)]
    most = min(limit, MOST_STEPS)
    for step in range(most):
        worst, i, row, chosen = tol, -1, None, None
        for own in members:
            up = np.where(own & (x < upper), -gradient, -np.inf)
            low = np.where(own & (x > lower), -gradient, np.inf)
            top = int(up.argmax())
            if up[top] - low.min() > worst:
                worst, i, chosen = up[top] - low.min(), top, low
        if i < 0:
            most = step
            break
        row = Q[i]
        both = diagonal[i] + diagonal
        curvature = np.maximum(both - 2.0 * row, np.maximum(TINY * both, NONE))
        excess = np.maximum(-gradient[i] - chosen, 0.0)
        j = int((excess * (excess / curvature)).argmax())
        delta = excess[j] / curvature[j]
        room_i, room_j = upper[i] - x[i], x[j] - lower[j]
        delta = min(delta, room_i, room_j)
        x[i] = upper[i] if delta == room_i else x[i] + delta
        x[j] = lower[j] if delta == room_j else x[j] - delta
        gradient += delta * (row - Q[j])
    _spent += most
    return most
