"""Learning from positive and unlabelled rows."""

from scarce.positive_unlabeled._mapping_convergence import MappingConvergence
from scarce.positive_unlabeled._one_class_mapper import OneClassMapper
from scarce.positive_unlabeled._one_dnf_mapper import OneDNFMapper
from scarce.positive_unlabeled._svmc import SVMC

__all__ = ["SVMC", "MappingConvergence", "OneClassMapper", "OneDNFMapper"]
