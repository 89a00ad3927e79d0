"""Estimators made of many models: one for every group, one for every known class."""

from scarce._names import publish
from scarce.compose._open_set import OpenSetClassifier
from scarce.compose._per_group import PerGroup

__all__ = ["OpenSetClassifier", "PerGroup"]

publish("compose", globals())
