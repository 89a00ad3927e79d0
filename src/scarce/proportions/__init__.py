"""Learning from the proportions of positives in groups of rows."""

from scarce._names import publish
from scarce.proportions._calibration_display import ShareCalibrationDisplay
from scarce.proportions._exchange import SourceModel, export_source, load_source
from scarce.proportions._group_probability import GroupProbabilitySVM
from scarce.proportions._groups import Bags as Bags
from scarce.proportions._groups import grouped_rows as grouped_rows
from scarce.proportions._groups import read_groups as read_groups
from scarce.proportions._groups import read_shares as read_shares
from scarce.proportions._groups import single_rows as single_rows
from scarce.proportions._prediction import has_several_columns as has_several_columns
from scarce.proportions._share_loss import RowGroups as RowGroups
from scarce.proportions._share_loss import class_probabilities as class_probabilities
from scarce.proportions._share_loss import effective_labels, share_cross_entropy
from scarce.proportions._share_loss import share_loss as share_loss
from scarce.proportions._share_machine import ShareMachine as ShareMachine
from scarce.proportions._shares import expand_proportions, group_error, group_proportions
from scarce.proportions._soft_labels._estimates import ShareEstimates
from scarce.proportions._surface_display import ShareSurfaceDisplay
from scarce.proportions._transfer import TransferGroupProbabilitySVM

# Imported `as` themselves: for the other packages of the library, no part of what is public.
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
