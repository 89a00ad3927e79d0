"""Problems by name: from arrays to a quadratic program, and from its solution back to a model.

One file per problem. A function ``..._program`` states the dual for `scarce.solvers`, a function
``read_...`` turns the solution into coefficients, offset and objective. Neither knows estimators.
"""

from scarce.reductions._deflated_margin import DeflatedModel as DeflatedModel
from scarce.reductions._deflated_margin import MeanShift as MeanShift
from scarce.reductions._deflated_margin import deflated_margin_program as deflated_margin_program
from scarce.reductions._deflated_margin import mean_shift as mean_shift
from scarce.reductions._deflated_margin import read_deflated_margin as read_deflated_margin
from scarce.reductions._double_hinge import double_hinge_program as double_hinge_program
from scarce.reductions._double_hinge import read_double_hinge as read_double_hinge
from scarce.reductions._half_steps import BinaryHalfStep as BinaryHalfStep
from scarce.reductions._half_steps import HalfStep as HalfStep
from scarce.reductions._half_steps import HalfStepModel as HalfStepModel
from scarce.reductions._half_steps import OneClassHalfStep as OneClassHalfStep
from scarce.reductions._one_class import (
    OneClassModel,
    OneClassProblem,
    one_class_program,
    read_one_class,
)
from scarce.reductions._shares import SharesModel as SharesModel
from scarce.reductions._shares import read_shares as read_shares
from scarce.reductions._shares import rounded_shares as rounded_shares
from scarce.reductions._shares import shares_program as shares_program
from scarce.reductions._source_tube import TubeModel as TubeModel
from scarce.reductions._source_tube import TubeProblem as TubeProblem
from scarce.reductions._source_tube import read_source_tube as read_source_tube
from scarce.reductions._source_tube import source_share as source_share
from scarce.reductions._source_tube import source_tube as source_tube
from scarce.reductions._svc import (
    MarginModel,
    MarginProblem,
    NoMarginError,
    NuMarginModel,
    c_svc_program,
    nu_svc_program,
    read_c_svc,
    read_nu_svc,
)
from scarce.reductions._svc import check_nu as check_nu
from scarce.reductions._svc import is_flat as is_flat
from scarce.reductions._svc import largest_nu as largest_nu
from scarce.reductions._svc import nu_margin_model as nu_margin_model
from scarce.reductions._svdd import SVDDModel, read_svdd, svdd_program
from scarce.reductions._svr import (
    TubeRegression,
    nu_svr_program,
    read_nu_svr,
    read_svr,
    svr_program,
)
from scarce.reductions._tasks import (
    TaskParameters,
    TaskProblem,
    TasksModel,
    augmented_rows,
    read_tasks,
    tasks_program,
)
from scarce.solvers import Problem, Terms, program_of

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = [
    "MarginModel",
    "MarginProblem",
    "NoMarginError",
    "NuMarginModel",
    "OneClassModel",
    "OneClassProblem",
    "Problem",
    "SVDDModel",
    "TaskParameters",
    "TaskProblem",
    "TasksModel",
    "Terms",
    "TubeRegression",
    "augmented_rows",
    "c_svc_program",
    "nu_svc_program",
    "nu_svr_program",
    "one_class_program",
    "program_of",
    "read_c_svc",
    "read_nu_svc",
    "read_nu_svr",
    "read_one_class",
    "read_svdd",
    "read_svr",
    "read_tasks",
    "svdd_program",
    "svr_program",
    "tasks_program",
]
