"""Two-class primals: hinge and squared hinge, fixed margin and free margin."""

import cvxpy as cp
import numpy as np

from .convex import Primal


def c_svc(features, labels, costs):
    """``1/2 |w|^2 + sum_i C_i (1 - y_i (w.x_i + b))_+``, one cost per row."""
    w, b = cp.Variable(features.shape[1]), cp.Variable(1)
    scores = features @ w
    objective = cp.sum_squares(w) / 2 + costs @ cp.pos(1 - cp.multiply(labels, scores + b))
    return Primal(objective, w, b, scores)


def hard_margin_svc(features, labels):
    """``1/2 |w|^2`` with every row at a margin of at least one."""
    w, b = cp.Variable(features.shape[1]), cp.Variable(1)
    scores = features @ w
    margins = cp.multiply(labels, scores + b)
    return Primal(cp.sum_squares(w) / 2, w, b, scores, (margins >= 1,))


def c_svc_squared(features, labels, cost):
    """``1/2 |w|^2 + C/2 sum_i (1 - y_i (w.x_i + b))_+^2``."""
    w, b = cp.Variable(features.shape[1]), cp.Variable(1)
    scores = features @ w
    slacks = cp.pos(1 - cp.multiply(labels, scores + b))
    return Primal(cp.sum_squares(w) / 2 + cost / 2 * cp.sum_squares(slacks), w, b, scores)


def nu_svc(features, labels, nu):
    """``1/2 |w|^2 - nu r + 1/n sum_i (r - y_i (w.x_i + b))_+``, ``r >= 0``; offsets are (b, r)."""
    w, offsets = cp.Variable(features.shape[1]), cp.Variable(2)
    b, margin = offsets[0], offsets[1]
    scores = features @ w
    slacks = cp.pos(margin - cp.multiply(labels, scores + b))
    objective = cp.sum_squares(w) / 2 - nu * margin + cp.sum(slacks) / len(labels)
    return Primal(objective, w, offsets, scores, (margin >= 0,))


def projected_means_svc(features, labels, costs, shift, penalty):
    """LMPROJ: `c_svc` plus ``penalty/2 (w.shift)^2``, shift = mean of source minus target."""
    plain = c_svc(features, labels, costs)
    objective = plain.objective + penalty / 2 * cp.square(shift @ plain.weights)
    return Primal(objective, plain.weights, plain.offsets, plain.scores)


def transductive_svc(features, labels, unlabelled, guesses, cost, cost_minus, cost_plus):
    """TSVM with its guessed labels held fixed: one cost for known rows, two for guessed ones."""
    w, b = cp.Variable(features.shape[1]), cp.Variable(1)
    known = cp.pos(1 - cp.multiply(labels, features @ w + b))
    objective = cp.sum_squares(w) / 2 + cost * cp.sum(known)
    for sign, cost in ((-1, cost_minus), (1, cost_plus)):
        objective += cost * cp.sum(cp.pos(1 - sign * (unlabelled[guesses == sign] @ w + b)))
    return Primal(objective, w, b, np.vstack([features, unlabelled]) @ w)


def double_hinge(positives, unlabelled, weights, costs):
    """Unbiased risk: ``1/2 |w|^2 - sum_i c_i f(x_i) + sum_j C_j max(0, (1 + f)/2, f)``."""
    w, b = cp.Variable(positives.shape[1]), cp.Variable(1)
    f = unlabelled @ w + b
    loss = cp.maximum(0, (1 + f) / 2, f)
    objective = cp.sum_squares(w) / 2 - weights @ (positives @ w + b) + costs @ loss
    return Primal(objective, w, b, unlabelled @ w)
