"""Learning from positive and unlabelled rows."""

from scarce._displays import HistoryDisplay
from scarce._names import publish
from scarce.positive_unlabeled._lee_liu import lee_liu_score as lee_liu_score
from scarce.positive_unlabeled._lee_liu import positive_label as positive_label
from scarce.positive_unlabeled._positive_unlabeled_classifier import PositiveUnlabeledClassifier
from scarce.positive_unlabeled._positive_unlabeled_svc import PositiveUnlabeledSVC
from scarce.positive_unlabeled._unbiased import UnbiasedPUSVC
from scarce.positive_unlabeled.bags._bag_displays import (
    FeatureWeightsDisplay,
    OutOfBagDisplay,
    ProbabilityDisplay,
)
from scarce.positive_unlabeled.bags._prior import PriorEstimate, estimate_prior
from scarce.positive_unlabeled.bags._ranks import area_under_curve as area_under_curve
from scarce.positive_unlabeled.bags._threshold import PUThreshold, pu_threshold
from scarce.positive_unlabeled.mapping_convergence._best_round import best_round as best_round
from scarce.positive_unlabeled.mapping_convergence._mapping import OneClassMapper
from scarce.positive_unlabeled.mapping_convergence._mapping_convergence import MappingConvergence
from scarce.positive_unlabeled.mapping_convergence._one_dnf_mapper import OneDNFMapper
from scarce.positive_unlabeled.mapping_convergence._out_of_bag_mapper import OutOfBagMapper
from scarce.positive_unlabeled.mapping_convergence._rocchio_mapper import RocchioMapper
from scarce.positive_unlabeled.mapping_convergence._round_displays import (
    RoundsBoundaryDisplay,
    SetSizesDisplay,
)
from scarce.positive_unlabeled.mapping_convergence._rounds_classifier import (
    PositiveUnlabeled as PositiveUnlabeled,
)
from scarce.positive_unlabeled.mapping_convergence._spy_mapper import SpyMapper
from scarce.positive_unlabeled.mapping_convergence._svmc import SVMC
from scarce.positive_unlabeled.rows._given import UNLABELED_WORDS

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = [
    "SVMC",
    "UNLABELED_WORDS",
    "FeatureWeightsDisplay",
    "HistoryDisplay",
    "MappingConvergence",
    "OneClassMapper",
    "OneDNFMapper",
    "OutOfBagDisplay",
    "OutOfBagMapper",
    "PUThreshold",
    "PositiveUnlabeledClassifier",
    "PositiveUnlabeledSVC",
    "PriorEstimate",
    "ProbabilityDisplay",
    "RocchioMapper",
    "RoundsBoundaryDisplay",
    "SetSizesDisplay",
    "SpyMapper",
    "UnbiasedPUSVC",
    "estimate_prior",
    "pu_threshold",
]

publish("positive_unlabeled", globals())
