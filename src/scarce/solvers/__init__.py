"""Solvers of the quadratic programs behind the estimators; arrays in, a frozen dataclass out."""

from scarce._names import publish
from scarce.solvers._moving import MovingOptimum as MovingOptimum
from scarce.solvers._operator import (
    DenseMatrix,
    SymmetricOperator,
    ValueErrors,
    reference_sums,
)
from scarce.solvers._program import Problem as Problem
from scarce.solvers._program import Progress, QuadraticProgram, Solution
from scarce.solvers._program import Terms as Terms
from scarce.solvers._program import program_of as program_of
from scarce.solvers._signed import feasible_start
from scarce.solvers._solve import solve, solve_many
from scarce.solvers.certificate._judge import Certificate, certify
from scarce.solvers.certificate._offsets import one_class_offset
from scarce.solvers.tube._certificate import TubeCertificate, certify_tube
from scarce.solvers.tube._systems import FeatureSystem, GramSystem, TubeSystem
from scarce.solvers.tube._tube import TubeSolution, solve_tube, with_intercept

__all__ = [
    "Certificate",
    "DenseMatrix",
    "FeatureSystem",
    "GramSystem",
    "Progress",
    "QuadraticProgram",
    "Solution",
    "SymmetricOperator",
    "TubeCertificate",
    "TubeSolution",
    "TubeSystem",
    "ValueErrors",
    "certify",
    "certify_tube",
    "feasible_start",
    "one_class_offset",
    "reference_sums",
    "solve",
    "solve_many",
    "solve_tube",
    "with_intercept",
]

publish("solvers", globals())
