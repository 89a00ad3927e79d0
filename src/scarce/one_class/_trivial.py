"""Models that say nothing: the weight vector is zero, and with it every decision."""

from __future__ import annotations

import warnings
from typing import Any

ROUNDING = 1e-14


def is_trivial(objective: float, largest: float) -> bool:
    """Return whether the optimum is zero up to rounding.

    ``-largest`` is the smallest value the objective could have for kernel values of that size.
    """
    return -objective <= ROUNDING * largest


def warn_if_trivial(objective: float, largest: float, kernel: Any) -> None:
    """Warn, in the name of the caller of a fit, when `is_trivial`."""
    if is_trivial(objective, largest):
        warnings.warn(
            f"The solution is trivial: with kernel={kernel!r} the origin lies among the sample, so "
            "that w = 0 and every decision is 0. Use an rbf kernel, or do not centre the data.",
            UserWarning,
            stacklevel=6,  # past the decorators of fit
        )
