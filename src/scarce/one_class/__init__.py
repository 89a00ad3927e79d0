"""One-class models."""

from scarce._displays import HistoryDisplay
from scarce._names import publish
from scarce.held_out import LeftOutScoresDisplay, PValueDisplay
from scarce.one_class._one_class_svm import OneClassSVM
from scarce.one_class._svdd import SVDD
from scarce.one_class._transfer import TransferOneClassSVM
from scarce.one_class._transfer_boundary_display import TransferBoundaryDisplay
from scarce.one_class._uoct import UOCTSVM

__all__ = [
    "SVDD",
    "UOCTSVM",
    "HistoryDisplay",
    "LeftOutScoresDisplay",
    "OneClassSVM",
    "PValueDisplay",
    "TransferBoundaryDisplay",
    "TransferOneClassSVM",
]

publish("one_class", globals())
