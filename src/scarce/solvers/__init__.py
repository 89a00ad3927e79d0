"""Solvers of the quadratic programs behind the estimators; arrays in, a frozen dataclass out."""

from scarce._names import publish
from scarce.solvers._moving import MovingOptimum as MovingOptimum
from scarce.solvers._operator import DenseMatrix, SymmetricOperator, ValueErrors
from scarce.solvers._operator import reference_sums as reference_sums
from scarce.solvers._program import Problem as Problem
from scarce.solvers._program import Progress, QuadraticProgram, Solution
from scarce.solvers._program import Terms as Terms
from scarce.solvers._program import program_of as program_of
from scarce.solvers._signed import feasible_start
from scarce.solvers._solve import solve, solve_many
from scarce.solvers._strips import Strip as Strip
from scarce.solvers.certificate._judge import Certificate, certify
from scarce.solvers.certificate._offsets import one_class_offset
from scarce.solvers.tube._certificate import TubeCertificate as TubeCertificate
from scarce.solvers.tube._certificate import certify_tube as certify_tube
from scarce.solvers.tube._systems import FeatureSystem as FeatureSystem
from scarce.solvers.tube._systems import GramSystem as GramSystem
from scarce.solvers.tube._systems import TubeSystem as TubeSystem
from scarce.solvers.tube._tube import TubeSolution as TubeSolution
from scarce.solvers.tube._tube import solve_tube as solve_tube
from scarce.solvers.tube._tube import with_intercept as with_intercept

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = [
    "Certificate",
    "DenseMatrix",
    "Progress",
    "QuadraticProgram",
    "Solution",
    "SymmetricOperator",
    "ValueErrors",
    "certify",
    "feasible_start",
    "one_class_offset",
    "solve",
    "solve_many",
]

publish("solvers", globals())
