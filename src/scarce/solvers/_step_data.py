"""What compiled steps are given, by name.

Variables are sorted by group, and ``starts`` holds where the groups begin, and the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce.solvers._certificate import AT_BOUND, ROUNDED
from scarce.solvers._dual import RESOLVED, ROUNDING
from scarce.solvers._newton import MOST_STEPS, REGULAR, SINGULAR_UP_TO
from scarce.solvers._signed import BALANCED

Array = NDArray[Any]


class StepMatrix(NamedTuple):
    """The matrix ``scale[g_i, g_j] values[where[i], j]`` plus ``extra`` on the diagonal.

    ``where`` is -1 for a row that is absent; ``diagonal`` is that of the whole.
    """

    values: Array
    where: Array
    scale: Array
    extra: Array
    diagonal: Array


class Boxes(NamedTuple):
    """The bounds of the variables, their widths, and the groups' beginnings."""

    lower: Array
    upper: Array
    widths: Array
    starts: Array


class Source(NamedTuple):
    """A stored matrix; absent rows of its part ``rows`` are copied, turned, to ``copies``."""

    values: Array
    rows: Array
    turn: Array
    copies: Array


class Rules(NamedTuple):
    """Limits that the compiled code shares with the rest of the solver, where they are explained.

    They are handed over because what is compiled would keep those of the day it was compiled.
    """

    at_bound: float
    balanced: float
    most_free: int
    regular: float
    most_newton: int
    rounded: float
    rounding: float
    resolved: float


NO_SOURCE = Source(np.empty((0, 0)), np.empty(0, np.int64), np.empty(0), np.empty((0, 0)))
RULES = Rules(
    at_bound=AT_BOUND,
    balanced=BALANCED,
    most_free=SINGULAR_UP_TO,
    regular=REGULAR,
    most_newton=MOST_STEPS,
    rounded=ROUNDED,
    rounding=ROUNDING,
    resolved=RESOLVED,
)
