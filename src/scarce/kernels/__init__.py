"""Kernels: values, blocks of rows under a memory budget, weighted sums, low-rank matrices."""

from scarce._names import publish
from scarce.kernels.functions._callable import CallableKernel
from scarce.kernels.functions._gamma import scale_gamma
from scarce.kernels.functions._gamma import weighted_median as weighted_median
from scarce.kernels.functions._kernel import (
    GAMMA_RULES,
    Kernel,
    formula_names,
    gradient_names,
    kernel_type,
    make_kernel,
)
from scarce.kernels.functions._laplacian import LaplacianKernel
from scarce.kernels.functions._linear import LinearKernel
from scarce.kernels.functions._polynomial import PolynomialKernel
from scarce.kernels.functions._precomputed import PrecomputedKernel
from scarce.kernels.functions._rbf import RBFKernel
from scarce.kernels.functions._sigmoid import SigmoidKernel
from scarce.kernels.functions._tensor_kernels import CPKernel, ProductModeKernel, SubspaceKernel
from scarce.kernels.operators._deflated import DeflatedOperator
from scarce.kernels.operators._lowrank import NystroemOperator, landmark_root, nystroem_operator
from scarce.kernels.operators._operator import DirectOperator as DirectOperator
from scarce.kernels.operators._operator import KernelOperator, make_operator
from scarce.kernels.operators._operator import is_narrow as is_narrow
from scarce.kernels.operators._stored import StoredOperator
from scarce.kernels.rows._prepared import Prepared, prepare
from scarce.kernels.rows._rows import as_rows, distinct_rows
from scarce.kernels.rows._rows import row_bits as row_bits
from scarce.kernels.rows._shifted import ShiftedRows
from scarce.kernels.sums._gradients import score_gradients
from scarce.kernels.sums._group_means import group_mean_kernel, group_mean_values, group_means
from scarce.kernels.sums._scores import score_error, weighted_scores
from scarce.kernels.sums._segments import segment_scores

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = [
    "GAMMA_RULES",
    "CPKernel",
    "CallableKernel",
    "DeflatedOperator",
    "Kernel",
    "KernelOperator",
    "LaplacianKernel",
    "LinearKernel",
    "NystroemOperator",
    "PolynomialKernel",
    "PrecomputedKernel",
    "Prepared",
    "ProductModeKernel",
    "RBFKernel",
    "ShiftedRows",
    "SigmoidKernel",
    "StoredOperator",
    "SubspaceKernel",
    "as_rows",
    "distinct_rows",
    "formula_names",
    "gradient_names",
    "group_mean_kernel",
    "group_mean_values",
    "group_means",
    "kernel_type",
    "landmark_root",
    "make_kernel",
    "make_operator",
    "nystroem_operator",
    "prepare",
    "scale_gamma",
    "score_error",
    "score_gradients",
    "segment_scores",
    "weighted_scores",
]

publish("kernels", globals())
