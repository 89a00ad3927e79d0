"""Learning from positive and unlabelled rows."""

from scarce._displays import HistoryDisplay
from scarce._names import publish
from scarce.positive_unlabeled._displays import RoundsBoundaryDisplay, SetSizesDisplay
from scarce.positive_unlabeled._labels import UNLABELED_WORDS
from scarce.positive_unlabeled._mapping_convergence import MappingConvergence
from scarce.positive_unlabeled._one_class_mapper import OneClassMapper
from scarce.positive_unlabeled._one_dnf_mapper import OneDNFMapper
from scarce.positive_unlabeled._out_of_bag_display import OutOfBagDisplay
from scarce.positive_unlabeled._out_of_bag_mapper import OutOfBagMapper
from scarce.positive_unlabeled._positive_unlabeled_svc import PositiveUnlabeledSVC
from scarce.positive_unlabeled._svmc import SVMC
from scarce.positive_unlabeled._threshold import PUThreshold, pu_threshold
from scarce.positive_unlabeled._unbiased import UnbiasedPUSVC

__all__ = [
    "SVMC",
    "UNLABELED_WORDS",
    "HistoryDisplay",
    "MappingConvergence",
    "OneClassMapper",
    "OneDNFMapper",
    "OutOfBagDisplay",
    "OutOfBagMapper",
    "PUThreshold",
    "PositiveUnlabeledSVC",
    "RoundsBoundaryDisplay",
    "SetSizesDisplay",
    "UnbiasedPUSVC",
    "pu_threshold",
]

publish("positive_unlabeled", globals())
