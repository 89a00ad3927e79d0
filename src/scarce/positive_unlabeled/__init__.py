"""Learning from positive and unlabelled rows."""

from scarce._displays import HistoryDisplay
from scarce.positive_unlabeled._displays import RoundsBoundaryDisplay, SetSizesDisplay
from scarce.positive_unlabeled._mapping_convergence import MappingConvergence
from scarce.positive_unlabeled._one_class_mapper import OneClassMapper
from scarce.positive_unlabeled._one_dnf_mapper import OneDNFMapper
from scarce.positive_unlabeled._svmc import SVMC

__all__ = [
    "SVMC",
    "HistoryDisplay",
    "MappingConvergence",
    "OneClassMapper",
    "OneDNFMapper",
    "RoundsBoundaryDisplay",
    "SetSizesDisplay",
]
