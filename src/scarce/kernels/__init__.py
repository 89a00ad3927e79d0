"""Kernels: values, blocks of rows under a memory budget, weighted sums, low-rank matrices."""

from scarce.kernels._deflated import DeflatedOperator
from scarce.kernels._gamma import scale_gamma
from scarce.kernels._gradients import score_gradients
from scarce.kernels._group_means import group_mean_kernel, group_mean_values, group_means
from scarce.kernels._kernel import Kernel
from scarce.kernels._lowrank import nystroem_operator
from scarce.kernels._operator import KernelOperator, make_operator
from scarce.kernels._rows import as_rows
from scarce.kernels._scores import weighted_scores
from scarce.kernels._shifted import ShiftedRows
from scarce.kernels._tensor_kernels import CPKernel, ProductModeKernel, SubspaceKernel

__all__ = [
    "CPKernel",
    "DeflatedOperator",
    "Kernel",
    "KernelOperator",
    "ProductModeKernel",
    "ShiftedRows",
    "SubspaceKernel",
    "as_rows",
    "group_mean_kernel",
    "group_mean_values",
    "group_means",
    "make_operator",
    "nystroem_operator",
    "scale_gamma",
    "score_gradients",
    "weighted_scores",
]
