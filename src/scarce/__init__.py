"""Support vector machines for scarce supervision."""

from scarce.classification import SVC, NuSVC
from scarce.one_class import OneClassSVM

__all__ = ["SVC", "NuSVC", "OneClassSVM"]
