"""Support vector classifiers of two classes or more."""

from scarce._classes import class_pairs as class_pairs
from scarce._names import publish
from scarce.classification._labelled_machine import BinaryMachine as BinaryMachine
from scarce.classification._margin_machine import MarginMachine as MarginMachine
from scarce.classification._nu_svc import NuSVC
from scarce.classification._svc import SVC

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = ["SVC", "NuSVC"]

publish("classification", globals())
