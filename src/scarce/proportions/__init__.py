"""Learning from the shares of positives in groups of rows."""

from scarce._names import publish
from scarce.proportions._calibration_display import ShareCalibrationDisplay
from scarce.proportions._exchange import SourceModel, export_source, load_source
from scarce.proportions._group_probability import GroupProbabilitySVM
from scarce.proportions._share_loss import effective_labels, share_cross_entropy
from scarce.proportions._shares import expand_proportions, group_error, group_proportions
from scarce.proportions._soft_labels._estimates import ShareEstimates
from scarce.proportions._surface_display import ShareSurfaceDisplay
from scarce.proportions._transfer import TransferGroupProbabilitySVM

__all__ = [
    "GroupProbabilitySVM",
    "ShareCalibrationDisplay",
    "ShareEstimates",
    "ShareSurfaceDisplay",
    "SourceModel",
    "TransferGroupProbabilitySVM",
    "effective_labels",
    "expand_proportions",
    "export_source",
    "group_error",
    "group_proportions",
    "load_source",
    "share_cross_entropy",
]

publish("proportions", globals())
