"""One-class primals: a single task, and several tasks that share a direction."""

import cvxpy as cp
import numpy as np

from .convex import Primal


def one_class(features, costs):
    """``1/2 |w|^2 - rho + sum_i c_i (rho - w.x_i)_+``, one cost per row."""
    w, rho = cp.Variable(features.shape[1]), cp.Variable(1)
    scores = features @ w
    objective = cp.sum_squares(w) / 2 - rho + costs @ cp.pos(rho - scores)
    return Primal(objective, w, rho, scores)


def multitask_one_class(features, tasks, stiffness, costs, masses=None):
    """``|w0|^2 + sum_t m_t |v_t|^2 - sum_t o_t rho_t + sum_i c_i (rho_t - (w0 + v_t).x_i)_+``.

    The weights are stacked: row 0 is ``w0``, row ``1 + t`` is ``v_t``. The masses ``o_t`` are 1
    unless given; costs include them.
    """
    n_tasks = len(stiffness)
    masses = np.ones(n_tasks) if masses is None else np.asarray(masses, dtype=float)
    stacked = cp.Variable((1 + n_tasks, features.shape[1]))
    rho = cp.Variable(n_tasks)
    membership = np.eye(n_tasks)[tasks]
    own = cp.sum(cp.multiply(features, membership @ stacked[1:]), axis=1)
    scores = features @ stacked[0] + own
    objective = (
        cp.sum_squares(stacked[0])
        + sum(m * cp.sum_squares(stacked[1 + t]) for t, m in enumerate(stiffness))
        - masses @ rho
        + costs @ cp.pos(membership @ rho - scores)
    )
    return Primal(objective, stacked, rho, scores)
