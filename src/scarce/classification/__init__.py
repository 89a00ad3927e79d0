"""Binary margin classifiers."""

from scarce.classification._nu_svc import NuSVC
from scarce.classification._svc import SVC

__all__ = ["SVC", "NuSVC"]
