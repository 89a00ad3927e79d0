"""Kernels: values, blocks of rows under a memory budget, weighted sums, low-rank matrices."""

from scarce._names import publish
from scarce.kernels.functions._callable import CallableKernel
from scarce.kernels.functions._gamma import scale_gamma
from scarce.kernels.functions._gamma import weighted_median as weighted_median
from scarce.kernels.functions._kernel import (
    GAMMA_RULES,
    Kernel,
    make_kernel,
)
from scarce.kernels.functions._kernel import formula_names as formula_names
from scarce.kernels.functions._kernel import gradient_names as gradient_names
from scarce.kernels.functions._kernel import kernel_type as kernel_type
from scarce.kernels.functions._laplacian import LaplacianKernel
from scarce.kernels.functions._linear import LinearKernel
from scarce.kernels.functions._polynomial import PolynomialKernel
from scarce.kernels.functions._precomputed import PrecomputedKernel
from scarce.kernels.functions._rbf import RBFKernel
from scarce.kernels.functions._sigmoid import SigmoidKernel
from scarce.kernels.functions._tensor_kernels import CPKernel, ProductModeKernel, SubspaceKernel
from scarce.kernels.operators._deflated import DeflatedOperator as DeflatedOperator
from scarce.kernels.operators._lowrank import NystroemOperator as NystroemOperator
from scarce.kernels.operators._lowrank import landmark_root as landmark_root
from scarce.kernels.operators._lowrank import nystroem_operator
from scarce.kernels.operators._operator import DirectOperator as DirectOperator
from scarce.kernels.operators._operator import KernelOperator as KernelOperator
from scarce.kernels.operators._operator import is_narrow as is_narrow
from scarce.kernels.operators._operator import make_operator
from scarce.kernels.operators._stored import StoredOperator as StoredOperator
from scarce.kernels.rows._prepared import Prepared as Prepared
from scarce.kernels.rows._prepared import prepare as prepare
from scarce.kernels.rows._rows import as_rows as as_rows
from scarce.kernels.rows._rows import distinct_rows as distinct_rows
from scarce.kernels.rows._rows import row_bits as row_bits
from scarce.kernels.rows._shifted import ShiftedRows as ShiftedRows
from scarce.kernels.sums._gradients import score_gradients as score_gradients
from scarce.kernels.sums._group_means import group_mean_kernel as group_mean_kernel
from scarce.kernels.sums._group_means import group_mean_values as group_mean_values
from scarce.kernels.sums._group_means import group_means as group_means
from scarce.kernels.sums._scores import score_error as score_error
from scarce.kernels.sums._scores import weighted_scores
from scarce.kernels.sums._segments import segment_scores as segment_scores

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = [
    "GAMMA_RULES",
    "CPKernel",
    "CallableKernel",
    "Kernel",
    "LaplacianKernel",
    "LinearKernel",
    "PolynomialKernel",
    "PrecomputedKernel",
    "ProductModeKernel",
    "RBFKernel",
    "SigmoidKernel",
    "SubspaceKernel",
    "make_kernel",
    "make_operator",
    "nystroem_operator",
    "scale_gamma",
    "weighted_scores",
]

publish("kernels", globals())
