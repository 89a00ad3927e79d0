"""Problems by name: from arrays to a quadratic program, and from its solution back to a model.

One file per problem. A function ``..._program`` states the dual for `scarce.solvers`, a function
``read_...`` turns the solution into coefficients, offset and objective. Neither knows estimators.
"""

from scarce.reductions._deflated_margin import (
    DeflatedModel,
    MeanShift,
    deflated_margin_program,
    mean_shift,
    read_deflated_margin,
)
from scarce.reductions._double_hinge import double_hinge_program, read_double_hinge
from scarce.reductions._half_steps import (
    BinaryHalfStep,
    HalfStep,
    HalfStepModel,
    OneClassHalfStep,
)
from scarce.reductions._one_class import (
    OneClassModel,
    OneClassProblem,
    one_class_program,
    read_one_class,
)
from scarce.reductions._shares import SharesModel, read_shares, rounded_shares, shares_program
from scarce.reductions._source_tube import (
    TubeModel,
    TubeProblem,
    read_source_tube,
    source_share,
    source_tube,
)
from scarce.reductions._svc import (
    MarginModel,
    MarginProblem,
    NoMarginError,
    NuMarginModel,
    c_svc_program,
    check_nu,
    is_flat,
    largest_nu,
    nu_margin_model,
    nu_svc_program,
    read_c_svc,
    read_nu_svc,
)
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

__all__ = [
    "BinaryHalfStep",
    "DeflatedModel",
    "HalfStep",
    "HalfStepModel",
    "MarginModel",
    "MarginProblem",
    "MeanShift",
    "NoMarginError",
    "NuMarginModel",
    "OneClassHalfStep",
    "OneClassModel",
    "OneClassProblem",
    "Problem",
    "SVDDModel",
    "SharesModel",
    "TaskParameters",
    "TaskProblem",
    "TasksModel",
    "Terms",
    "TubeModel",
    "TubeProblem",
    "TubeRegression",
    "augmented_rows",
    "c_svc_program",
    "check_nu",
    "deflated_margin_program",
    "double_hinge_program",
    "is_flat",
    "largest_nu",
    "mean_shift",
    "nu_margin_model",
    "nu_svc_program",
    "nu_svr_program",
    "one_class_program",
    "program_of",
    "read_c_svc",
    "read_deflated_margin",
    "read_double_hinge",
    "read_nu_svc",
    "read_nu_svr",
    "read_one_class",
    "read_shares",
    "read_source_tube",
    "read_svdd",
    "read_svr",
    "read_tasks",
    "rounded_shares",
    "shares_program",
    "source_share",
    "source_tube",
    "svdd_program",
    "svr_program",
    "tasks_program",
]
