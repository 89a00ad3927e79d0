"""What compiled steps are given, by name.

Variables are sorted by group, and ``starts`` holds where the groups begin, and the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scarce._arrays import Array


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
    """The exact matrix ``sign_i values[lines_i, columns_k] sign_k``, from which steps copy rows.

    A line is -1 for a row that is absent. Without ``columns`` they are the variables themselves.
    """

    values: Array
    lines: Array
    columns: Array
    signs: Array


NO_INDEX = np.empty(0, np.int64)
NO_SOURCE = Source(np.empty((0, 0)), NO_INDEX, NO_INDEX, np.empty(0))
