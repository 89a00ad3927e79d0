"""What the tests of this room take from inside it: the one place to change when a module moves."""

from scarce.positive_unlabeled.bags._draws import draw, folds
from scarce.positive_unlabeled.bags._feature_weights import column_weights
from scarce.positive_unlabeled.bags._forest import as_arrays, forest_scores
from scarce.positive_unlabeled.bags._probability import _thinned, curve_of_share, likeliest_share
from scarce.positive_unlabeled.bags._ranks import gain_of_area, mid_ranks, rank_density
from scarce.positive_unlabeled.bags._threshold import Shares
from scarce.positive_unlabeled.mapping_convergence._best_round import held_out_rows
from scarce.positive_unlabeled.mapping_convergence._training import Training
from scarce.positive_unlabeled.rows import _row_source
from scarce.positive_unlabeled.rows._row_source import MappedRows, MemoryRows, row_keys

__all__ = [
    "MappedRows",
    "MemoryRows",
    "Shares",
    "Training",
    "_row_source",
    "_thinned",
    "as_arrays",
    "column_weights",
    "curve_of_share",
    "draw",
    "folds",
    "forest_scores",
    "gain_of_area",
    "held_out_rows",
    "likeliest_share",
    "mid_ranks",
    "rank_density",
    "row_keys",
]
