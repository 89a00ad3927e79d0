"""Support machines whose rows are matrices or tensors."""

from scarce._names import publish
from scarce.tensor._displays import FactorDisplay, WeightDisplay
from scarce.tensor._one_class_stm import OneClassSTM
from scarce.tensor._stm import STM
from scarce.tensor._vectors import vectors_to_tensors

__all__ = ["STM", "FactorDisplay", "OneClassSTM", "WeightDisplay", "vectors_to_tensors"]

publish("tensor", globals())
