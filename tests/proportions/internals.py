"""What the tests of this room take from inside it: the one place to change when a module moves."""

from scarce.proportions import _space
from scarce.proportions._calibration import accepting_cut, clip_bounds, probabilities, wanted_scores
from scarce.proportions._share_loss import fit_share_calibration
from scarce.proportions._soft_labels._features import chosen_rows, row_steps
from scarce.proportions._soft_labels._logistic import fit_soft_logistic, log_sums
from scarce.proportions._soft_labels._tilting import soft_labels
from scarce.proportions._space import KernelSpace, LinearSpace

__all__ = [
    "KernelSpace",
    "LinearSpace",
    "_space",
    "accepting_cut",
    "chosen_rows",
    "clip_bounds",
    "fit_share_calibration",
    "fit_soft_logistic",
    "log_sums",
    "probabilities",
    "row_steps",
    "soft_labels",
    "wanted_scores",
]
