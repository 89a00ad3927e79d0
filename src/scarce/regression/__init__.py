"""Regression inside a tube."""

from scarce._names import publish
from scarce.regression._nu_svr import NuSVR
from scarce.regression._svr import SVR

__all__ = ["SVR", "NuSVR"]

publish("regression", globals())
