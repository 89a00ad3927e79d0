"""Methods that the papers compare with."""

from scarce.baselines._projection_mmd import ProjectionMMDSVM

__all__ = ["ProjectionMMDSVM"]
