"""One-class models that say nothing: the weight vector is zero, and with it every decision."""

from __future__ import annotations

from typing import Any

from scarce._frame import note

ROUNDING = 1e-14


def is_zero(objective: float, largest: float) -> bool:
    """Return whether the optimum, and with it the weight vector, is zero up to rounding.

    ``-largest`` is the smallest value the objective could have for kernel values of that size.
    """
    return -objective <= ROUNDING * largest


def warn_if_zero(objective: float, largest: float, kernel: Any) -> None:
    """Warn when `is_zero`."""
    if is_zero(objective, largest):
        note(
            f"The solution is trivial: with kernel={kernel!r} the origin lies among the sample, so "
            "that w = 0 and every decision is 0. Use an rbf kernel, or do not centre the data."
        )
