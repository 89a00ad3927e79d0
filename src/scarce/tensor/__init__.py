"""Support tensor machines, for samples that are matrices or tensors."""

from scarce._names import publish
from scarce.tensor._machine import TensorMachine as TensorMachine
from scarce.tensor._one_class_stm import OneClassSTM
from scarce.tensor._stm import STM
from scarce.tensor._vectors import unit_rows as unit_rows
from scarce.tensor._vectors import vectors_to_tensors
from scarce.tensor._weight_displays import FactorDisplay, WeightDisplay

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = ["STM", "FactorDisplay", "OneClassSTM", "WeightDisplay", "vectors_to_tensors"]

publish("tensor", globals())
