"""What the tests of this room take from inside it: the one place to change when a module moves."""

from scarce.chunks import _waiting
from scarce.chunks._survey import row_numbers
from scarce.positive_unlabeled.mapping_convergence import _training
from scarce.positive_unlabeled.rows import _chunk_rows
from scarce.proportions._bag_sums import stacked_factor, standing_rows

__all__ = [
    "_chunk_rows",
    "_training",
    "_waiting",
    "row_numbers",
    "stacked_factor",
    "standing_rows",
]
