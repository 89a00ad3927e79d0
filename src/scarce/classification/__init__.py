"""Support vector classifiers of two classes or more."""

from scarce._names import publish
from scarce.classification._nu_svc import NuSVC
from scarce.classification._svc import SVC

__all__ = ["SVC", "NuSVC"]

publish("classification", globals())
