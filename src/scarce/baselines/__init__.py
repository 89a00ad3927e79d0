"""Methods that the papers compare with."""

from scarce.baselines._projection_mmd import ProjectionMMDSVM
from scarce.baselines._transductive import TransductiveSVM

__all__ = ["ProjectionMMDSVM", "TransductiveSVM"]
