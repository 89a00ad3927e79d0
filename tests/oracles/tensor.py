"""Half-steps of rank-one tensor machines: one factor fixed, the Frobenius norm written out."""

import cvxpy as cp
import numpy as np

from .convex import Primal


def _fixed_left_factor(tensors, left):
    right = cp.Variable(tensors.shape[2])
    norm = cp.sum_squares(
        cp.reshape(left, (-1, 1), order="C") @ cp.reshape(right, (1, -1), order="C")
    )
    scores = np.stack([left @ tensor for tensor in tensors]) @ right
    return right, norm / 2, scores


def one_class_half_step(tensors, left, cost):
    """``1/2 |u v'|_F^2 - rho + C sum_i (rho - u'X_i v)_+`` over v and rho."""
    right, norm, scores = _fixed_left_factor(tensors, left)
    rho = cp.Variable(1)
    return Primal(norm - rho + cost * cp.sum(cp.pos(rho - scores)), right, rho, scores)


def binary_half_step(tensors, labels, left, cost):
    """``1/2 |u v'|_F^2 + C sum_i (1 - y_i (u'X_i v + b))_+`` over v and b."""
    right, norm, scores = _fixed_left_factor(tensors, left)
    b = cp.Variable(1)
    slacks = cp.pos(1 - cp.multiply(labels, scores + b))
    return Primal(norm + cost * cp.sum(slacks), right, b, scores)
