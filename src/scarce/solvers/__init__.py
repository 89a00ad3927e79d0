"""The grouped-equality quadratic program and its solver; arrays in, a frozen dataclass out."""

from scarce.solvers._certificate import Certificate, certify
from scarce.solvers._offsets import one_class_offset
from scarce.solvers._problem import DenseMatrix, QuadraticProgram, SymmetricOperator
from scarce.solvers._solve import Progress, Solution, solve
from scarce.solvers._start import feasible_start

__all__ = [
    "Certificate",
    "DenseMatrix",
    "Progress",
    "QuadraticProgram",
    "Solution",
    "SymmetricOperator",
    "certify",
    "feasible_start",
    "one_class_offset",
    "solve",
]
