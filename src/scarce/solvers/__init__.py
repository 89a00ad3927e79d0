"""Solvers of the quadratic programs behind the estimators; arrays in, a frozen dataclass out."""

from scarce._names import publish
from scarce.solvers._certificate import Certificate, certify
from scarce.solvers._offsets import one_class_offset
from scarce.solvers._operator import (
    DenseMatrix,
    SymmetricOperator,
    ValueErrors,
    reference_sums,
)
from scarce.solvers._program import QuadraticProgram
from scarce.solvers._solution import Progress, Solution
from scarce.solvers._solve import solve, solve_many
from scarce.solvers._start import feasible_start
from scarce.solvers._tube import TubeSolution, solve_tube, with_intercept
from scarce.solvers._tube_certificate import TubeCertificate, certify_tube
from scarce.solvers._tube_systems import FeatureSystem, GramSystem, TubeSystem

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
