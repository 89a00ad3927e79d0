"""Methods that the papers compare with."""

from scarce.baselines._locally_weighted import LocallyWeightedEnsemble
from scarce.baselines._projection_mmd import ProjectionMMDSVM
from scarce.baselines._transductive import TransductiveSVM

__all__ = ["LocallyWeightedEnsemble", "ProjectionMMDSVM", "TransductiveSVM"]
