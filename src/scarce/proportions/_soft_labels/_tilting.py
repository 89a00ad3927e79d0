"""Soft labels: the probabilities of rows, shifted in each group until its proportion is met."""

from __future__ import annotations

import numpy as np

from scarce._arrays import Array
from scarce.proportions._share_loss import RowGroups, shares_of_all
from scarce.proportions._soft_labels._logistic import log_sums

MET = 1e-7  # largest difference between a proportion and the mean of its soft labels
PURE = 1e-6  # distance of proportions from 0 and 1, where the shift would be infinite
FIRST_RADIUS, LARGEST_RADIUS = 3.0, 12.0  # of a step of the shifts
MOST_TILTS = 200
SMALLEST_CURVATURE = 1e-12


def soft_labels(logits: Array, in_groups: RowGroups, shares: Array) -> tuple[Array, Array]:
    """Return soft labels whose means are the proportions of the groups, and the groups' shifts.

    A group's rows all get the same shift of their log-probabilities, which is what Bayes' rule says
    when the classes are more or less frequent in the group but look the same (prior shift). It is
    the posterior of the labels, given the proportion, as far as that has a product form.

    ``logits``: one column for two classes, whose probability is the logistic function; else one a
    class. ``shares``: proportions of the second of two classes, or of every class.
    """
    one = logits.shape[1] == 1
    every = np.column_stack([np.zeros(len(logits)), logits]) if one else logits
    wanted = np.maximum(shares_of_all(shares), PURE)
    wanted = wanted / wanted.sum(axis=1, keepdims=True)
    shifts = _shifts(every - log_sums(every)[0][:, None], in_groups, wanted)
    soft = log_sums(every + shifts[in_groups.codes])[1]
    return (soft[:, 1:], shifts[:, 1:]) if one else (soft, shifts)


def _shifts(logs: Array, in_groups: RowGroups, wanted: Array) -> Array:
    """Return the shifts, that of the first class 0: the minimum of a convex function of each group.

    It is the mean of ``log sum_c p_c exp(t_c)`` less the proportions times ``t``, whose gradient is
    the difference that is to vanish. Newton's steps, each group's within its own trust region.
    """
    n_groups, n_classes = wanted.shape
    codes = in_groups.codes

    def at(shifts: Array) -> tuple[Array, Array]:
        sums, soft = log_sums(logs + shifts[codes])
        mean = in_groups.means(sums[:, None])[:, 0]
        return mean - (wanted * shifts).sum(axis=1), soft

    # Right for equal rows, and near where a proportion is 0 or 1: Newton's steps from zero would be
    # many there, of about one each.
    means = np.maximum(in_groups.means(np.exp(logs)), np.finfo(float).tiny)
    shifts, radius = np.log(wanted / means), np.full(n_groups, FIRST_RADIUS)
    shifts -= shifts[:, :1]
    best, soft = at(shifts)
    for _ in range(MOST_TILTS):
        mean = in_groups.means(soft)
        if np.abs(mean - wanted).max() <= MET:
            break
        hessian = np.empty((n_groups, n_classes - 1, n_classes - 1))
        for c in range(1, n_classes):
            hessian[:, c - 1] = -in_groups.means(soft[:, c : c + 1] * soft[:, 1:])
            hessian[:, c - 1, c - 1] += mean[:, c]
        hessian += SMALLEST_CURVATURE * np.eye(n_classes - 1)
        step = np.zeros_like(shifts)
        step[:, 1:] = np.linalg.solve(hessian, (wanted - mean)[:, 1:, None])[:, :, 0]
        length = np.abs(step).max(axis=1)
        step *= (radius / np.maximum(length, radius))[:, None]
        found, tried = at(shifts + step)
        better = found <= best + 1e-14 * np.abs(best)
        shifts[better] += step[better]
        soft = np.where(better[codes][:, None], tried, soft)
        best = np.where(better, found, best)
        radius = np.where(better, np.minimum(2.0 * radius, LARGEST_RADIUS), radius / 4.0)
    return shifts
