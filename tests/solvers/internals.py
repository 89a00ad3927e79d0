"""What the tests of this room take from inside it: the one place to change when a module moves."""

from scarce.parallel import _threads
from scarce.solvers import _loop, _signed, _solve, _working_set
from scarce.solvers._descent import Descent
from scarce.solvers._field import Field
from scarce.solvers._interior import interior_point, interior_start
from scarce.solvers._loop import checked_field
from scarce.solvers._newton import newton_steps
from scarce.solvers._signed import RowCache, SignedForm
from scarce.solvers._solve import solve_small
from scarce.solvers.certificate._gap import _feasible_multipliers

__all__ = [
    "Descent",
    "Field",
    "RowCache",
    "SignedForm",
    "_feasible_multipliers",
    "_loop",
    "_signed",
    "_solve",
    "_threads",
    "_working_set",
    "checked_field",
    "interior_point",
    "interior_start",
    "newton_steps",
    "solve_small",
]
