"""What the tests of this room take from inside it: the one place to change when a module moves."""

from scarce.kernels.functions._gamma import neighbour_distance
from scarce.kernels.functions._tensor_kernels import cp_factors
from scarce.kernels.sums._sums import PANEL_COLUMNS, scratch_tile
from scarce.parallel import _threads

__all__ = [
    "PANEL_COLUMNS",
    "_threads",
    "cp_factors",
    "neighbour_distance",
    "scratch_tile",
]
