"""Primals on group means: only the wanted mean score of each group is known."""

import cvxpy as cp
import numpy as np

from .convex import Primal


def inverse_calibration_svm(means, wanted, tube, cost):
    """IC-SVM: ``1/2 |w|^2 + C sum_k (|w.mu_k + b - z_k| - eps_k)_+``."""
    w, b = cp.Variable(means.shape[1]), cp.Variable(1)
    scores = means @ w
    excess = cp.pos(cp.abs(scores + b - wanted) - tube)
    return Primal(cp.sum_squares(w) / 2 + cost * cp.sum(excess), w, b, scores)


def transfer_group_probability(common, means, source, wanted, tube, costs, transfer):
    """TGPLM-CD: groups in squared tubes, common rows and weights pulled to the source model.

    `source` is the pair (w_s, b_s), `costs` the pair (C_1, C_2), `transfer` is lambda.
    """
    w, b = cp.Variable(common.shape[1]), cp.Variable(1)
    source_weights, source_offset = source
    rows = np.vstack([common, means])
    scores = rows @ w
    n_common = len(common)
    group_means = scores[n_common:] + b
    objective = (
        cp.sum_squares(w) / 2
        + transfer / 2 * cp.sum_squares(w - source_weights)
        + costs[1] / 2 * cp.sum_squares(cp.pos(wanted - tube - group_means))
        + costs[1] / 2 * cp.sum_squares(cp.pos(group_means - wanted - tube))
    )
    if n_common:  # older versions of cvxpy know no sum over nothing
        disagreement = common @ source_weights + source_offset - scores[:n_common] - b
        objective += costs[0] / 2 * cp.sum_squares(disagreement)
    return Primal(objective, w, b, scores)
