"""Primals of regression inside a tube: its width given, or priced."""

import cvxpy as cp

from .convex import Primal


def svr(features, targets, width, costs):
    """``1/2 |w|^2 + sum_i C_i (|t_i - w.x_i - b| - eps)_+``."""
    w, b = cp.Variable(features.shape[1]), cp.Variable(1)
    scores = features @ w
    slacks = cp.pos(cp.abs(targets - scores - b) - width)
    return Primal(cp.sum_squares(w) / 2 + costs @ slacks, w, b, scores)


def nu_svr(features, targets, nu, costs):
    """The same plus ``nu eps sum_i C_i``, the width ``eps >= 0`` free; offsets are (b, eps)."""
    w, offsets = cp.Variable(features.shape[1]), cp.Variable(2)
    b, width = offsets[0], offsets[1]
    scores = features @ w
    slacks = cp.pos(cp.abs(targets - scores - b) - width)
    objective = cp.sum_squares(w) / 2 + nu * costs.sum() * width + costs @ slacks
    return Primal(objective, w, offsets, scores, (width >= 0,))
