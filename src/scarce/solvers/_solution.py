"""What the solver tells on its way and at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from scarce._arrays import Array


@dataclass(frozen=True)
class Progress:
    """State after one block: what a callback sees.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        The dual variables.
    objective : float
        Their objective.
    violation : float
        How far the optimality conditions are from met.
    n_iter : int
        Pairwise steps so far.
    """

    alpha: Array
    objective: float
    violation: float
    n_iter: int


@dataclass(frozen=True)
class Solution:
    """Answer of `solve`.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        The minimiser.
    gradient : ndarray of shape (n,)
        ``Q alpha + p``.
    multipliers : ndarray of shape (n_groups,)
        Multipliers of the equalities, those of the smallest duality gap: what `dual_gap` judges is
        the model that has them.
    objective : float
        ``1/2 a'Qa + p'a``.
    primal_objective : float
        The primal problem's value at that model.
    dual_gap : float
        A bound of the relative duality gap; NaN when the matrix is not positive semidefinite for
        certain.
    kkt_violation : float
        A bound of ``max over groups of m_g - M_g``: from plain kernel values where rounding errors
        could matter, with a bound of those errors elsewhere.
    infeasibility, relative_infeasibility : float
        The largest violation of a bound or an equality, and the same relative to its group's mass.
    n_iter : int
        Pairwise steps taken.
    status : {"optimal", "max_iter", "stopped", "stalled"}
        "optimal": violation and gap are within `tol`, the point is feasible up to rounding;
        "stopped": the callback asked for it; "stalled": rounding errors allow no further progress
        before `tol` was met, or none that is worth its time.
    negative_curvature : bool
        Whether a direction of negative curvature was met: the solution is then a local one.
    """

    alpha: Array
    gradient: Array
    multipliers: Array
    objective: float
    primal_objective: float
    dual_gap: float
    kkt_violation: float
    infeasibility: float
    relative_infeasibility: float
    n_iter: int
    status: Literal["optimal", "max_iter", "stopped", "stalled"]
    negative_curvature: bool

    @property
    def is_finite(self) -> bool:
        """Whether minimiser and multipliers are finite."""
        return bool(np.isfinite(self.alpha).all() and np.isfinite(self.multipliers).all())
