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
from scarce.reductions._one_class import OneClassModel as OneClassModel
from scarce.reductions._one_class import OneClassProblem as OneClassProblem
from scarce.reductions._one_class import one_class_program as one_class_program
from scarce.reductions._one_class import read_one_class as read_one_class
from scarce.reductions._shares import SharesModel as SharesModel
from scarce.reductions._shares import read_shares as read_shares
from scarce.reductions._shares import rounded_shares as rounded_shares
from scarce.reductions._shares import shares_program as shares_program
from scarce.reductions._source_tube import TubeModel as TubeModel
from scarce.reductions._source_tube import TubeProblem as TubeProblem
from scarce.reductions._source_tube import read_source_tube as read_source_tube
from scarce.reductions._source_tube import source_share as source_share
from scarce.reductions._source_tube import source_tube as source_tube
from scarce.reductions._svc import MarginModel as MarginModel
from scarce.reductions._svc import MarginProblem as MarginProblem
from scarce.reductions._svc import NoMarginError
from scarce.reductions._svc import NuMarginModel as NuMarginModel
from scarce.reductions._svc import c_svc_program as c_svc_program
from scarce.reductions._svc import check_nu as check_nu
from scarce.reductions._svc import is_flat as is_flat
from scarce.reductions._svc import largest_nu as largest_nu
from scarce.reductions._svc import nu_margin_model as nu_margin_model
from scarce.reductions._svc import nu_svc_program as nu_svc_program
from scarce.reductions._svc import read_c_svc as read_c_svc
from scarce.reductions._svc import read_nu_svc as read_nu_svc
from scarce.reductions._svdd import SVDDModel as SVDDModel
from scarce.reductions._svdd import read_svdd as read_svdd
from scarce.reductions._svdd import svdd_linear_term as svdd_linear_term
from scarce.reductions._svdd import svdd_program as svdd_program
from scarce.reductions._svr import TubeRegression as TubeRegression
from scarce.reductions._svr import nu_svr_program as nu_svr_program
from scarce.reductions._svr import read_nu_svr as read_nu_svr
from scarce.reductions._svr import read_svr as read_svr
from scarce.reductions._svr import svr_program as svr_program
from scarce.reductions._tasks import TaskParameters as TaskParameters
from scarce.reductions._tasks import TaskProblem as TaskProblem
from scarce.reductions._tasks import TasksModel as TasksModel
from scarce.reductions._tasks import augmented_rows
from scarce.reductions._tasks import read_tasks as read_tasks
from scarce.reductions._tasks import tasks_program as tasks_program
from scarce.solvers import Problem as Problem
from scarce.solvers import Terms as Terms
from scarce.solvers import program_of as program_of

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = ["NoMarginError", "augmented_rows"]
