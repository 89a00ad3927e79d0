"""One-class models that say nothing: the weight vector is zero, and with it every decision."""

from __future__ import annotations

from scarce._frame import note
from scarce.kernels import Kernel

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
