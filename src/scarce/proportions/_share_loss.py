"""The cross-entropy between the proportions of groups and the mean probabilities of their rows.

It measures, it calibrates scores by a slope and a shift for each class, and it is trained by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit, softmax

from scarce._arrays import Array
from scarce._frame import plain_weights
from scarce.proportions._groups import group_values, read_groups, read_shares

SMALLEST = 1e-12  # a mean probability below this is rounding, and its logarithm is not


@dataclass(frozen=True)
class RowGroups:
    """Rows in groups: what a mean over each group needs."""

    codes: Array  # (n,): group of each row
    parts: Array  # (n,): part of each row in its group's mean; they sum to one in a group
    sizes: Array  # (n_groups,): weight of each group

    @classmethod
    def of(cls, codes: Array, weights: Array, n_groups: int) -> RowGroups:
        """Return the groups of weighted rows, each of which must have some weight."""
        sizes = np.bincount(codes, weights, minlength=n_groups)
        return cls(codes, weights / sizes[codes], sizes)

    def means(self, values: Array) -> Array:
        """Return the means of some columns."""
        columns = [
            np.bincount(self.codes, self.parts * each, minlength=self.sizes.size)
            for each in values.T
        ]
        return np.array(columns).T


def shares_of_all(shares: Array) -> Array:
    """Return one column per class of proportions that may be of the second of two classes alone."""
    return np.column_stack([1.0 - shares[:, 0], shares[:, 0]]) if shares.shape[1] == 1 else shares


def class_probabilities(logits: Array) -> Array:
    """Return the softmax; of one column, the logistic function."""
    return np.asarray(expit(logits) if logits.shape[1] == 1 else softmax(logits, axis=1))


def share_loss(logits: Array, in_groups: RowGroups, shares: Array) -> tuple[float, Array]:
    """Return the cross-entropy of proportions and mean probabilities, and its gradient.

    ``logits``: one column for two classes, whose probability is the logistic function; else one a
    class, whose probabilities are the softmax. ``shares``: proportions of the second of two
    classes, or of every class.
    """
    p = class_probabilities(logits)
    mean = in_groups.means(p)
    loss = -float(in_groups.sizes @ (shares * np.log(np.maximum(mean, SMALLEST))).sum(axis=1))
    slope = -shares / np.maximum(mean, SMALLEST)  # of a group's loss in its means
    if p.shape[1] == 1:
        rest = np.maximum(in_groups.means(1.0 - p), SMALLEST)
        loss -= float(in_groups.sizes @ ((1.0 - shares) * np.log(rest))[:, 0])
        slope = slope + (1.0 - shares) / rest
        gradient = slope[in_groups.codes] * p * (1.0 - p)
    else:
        rows = slope[in_groups.codes]
        gradient = p * (rows - (rows * p).sum(axis=1, keepdims=True))
    gradient *= (in_groups.parts * in_groups.sizes[in_groups.codes])[:, None]
    return loss, gradient


def share_cross_entropy(
    y: ArrayLike,
    probabilities: ArrayLike,
    groups: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the cross-entropy between given proportions and the mean probabilities of groups.

    The log loss of a model that is known by its groups only: with every row a group of its own it
    is the log loss of the rows. It judges probabilities, where `group_error` judges labels.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_classes)
        Proportions of each row's group, as in fit.
    probabilities : array-like of shape (n_samples, n_classes)
        Probabilities of the classes, as of `predict_proba`.
    groups : array-like of shape (n_samples,), default=None
        Group of each row; common rows (-1) and leftover rows (-2, None or NaN) are left out. By
        default every row is a group of its own.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        Mean over the groups, each counted by its size.

    See Also
    --------
    group_error : The error of predicted labels.

    Examples
    --------
    >>> from scarce.proportions import share_cross_entropy
    >>> probability = [[0.3, 0.7], [0.7, 0.3], [0.1, 0.9], [0.3, 0.7]]
    >>> round(share_cross_entropy([0.5, 0.5, 1, 1], probability, ["a", "a", "b", "b"]), 3)
    0.458
    """
    found = np.asarray(probabilities, dtype=np.float64)
    if found.ndim != 2:
        raise ValueError(
            "probabilities must have one column for each class, as predict_proba gives them, got "
            f"shape {found.shape}"
        )
    n = found.shape[0]
    shares = read_shares(y, n)
    codes, ids = (np.arange(n), list(range(n))) if groups is None else read_groups(groups, n)
    weights = plain_weights(sample_weight, np.empty(n))
    values = shares_of_all(group_values(shares, codes, ids))
    if found.shape[1] != values.shape[1]:
        raise ValueError(
            f"y has proportions of {values.shape[1]} classes, "
            f"probabilities has {found.shape[1]} columns"
        )
    rows = np.flatnonzero((codes >= 0) & (weights > 0))
    if rows.size == 0:
        raise ValueError(
            "groups has no group with a row of positive weight: the loss of proportions needs one"
        )
    kept, inside = np.unique(codes[rows], return_inverse=True)
    in_groups = RowGroups.of(inside, weights[rows], kept.size)
    mean = np.maximum(in_groups.means(found[rows]), SMALLEST)
    losses = -(values[kept] * np.log(mean)).sum(axis=1)
    return float(np.average(losses, weights=in_groups.sizes))


def effective_labels(shares: ArrayLike, sizes: ArrayLike) -> float:
    """Return about how many labelled rows the proportions of groups are worth.

    ``sum_k |S_k| (q_k - q)^2 / (q (1 - q))``, with the mean proportion ``q``: how much the
    proportions differ from group to group, against how much labels differ from row to row. Groups
    of one row are worth their number, groups of equal proportions nothing, and groups made at
    random about one label each, however large they are. For several classes it is the mean over the
    classes' contrasts.

    Parameters
    ----------
    shares : array-like of shape (n_groups,) or (n_groups, n_classes)
        Proportion of the second of two classes, or of every class, in each group.
    sizes : array-like of shape (n_groups,)
        Number of rows of each group.

    Returns
    -------
    float
        Between 0 and the number of rows.

    Examples
    --------
    >>> from scarce.proportions import effective_labels
    >>> effective_labels([0.0, 1.0, 1.0, 0.0], [1, 1, 1, 1])  # labels
    4.0
    >>> round(effective_labels([0.4, 0.5, 0.6], [100, 100, 100]), 3)
    8.0
    """
    q, size = np.asarray(shares, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    q = shares_of_all(q[:, None] if q.ndim == 1 else q)
    mean = np.average(q, axis=0, weights=size)
    there = mean > 0
    if there.sum() < 2:
        return 0.0
    contrasts = size @ ((q - mean) ** 2)[:, there] / mean[there]
    return float(contrasts.sum() / (there.sum() - 1))


RIDGE = 0.1  # a few groups may want any slope
LOG_SLOPES = (-3.0, 4.0)


def fit_share_calibration(
    scores: Array, in_groups: RowGroups, shares: Array
) -> tuple[float, Array]:
    """Return slope and shifts that make the mean probabilities of groups meet their proportions.

    Makes small the cross-entropy of proportions and means of ``sigmoid(a f + b)``, for several
    classes of ``softmax(a f_c + b_c)``, plus ``0.05 (log(a)^2 + |b|^2)``, groups counted by their
    sizes.

    ``scores``: scores of the rows, one column for two classes, else one a class. ``shares``:
    proportions of the second of two classes, or of every class.
    """
    total = in_groups.sizes.sum()

    def objective(place: Array) -> tuple[float, Array]:
        scaled = np.exp(place[0]) * scores
        loss, gradient = share_loss(scaled + place[1:], in_groups, shares)
        steps = np.concatenate([[np.vdot(gradient, scaled)], gradient.sum(axis=0)])
        return (loss + 0.5 * RIDGE * place @ place) / total, (steps + RIDGE * place) / total

    found = minimize(
        objective,
        np.zeros(1 + scores.shape[1]),
        jac=True,
        method="L-BFGS-B",
        bounds=[LOG_SLOPES, *[(None, None)] * scores.shape[1]],
        options={"ftol": 1e-14, "gtol": 1e-8, "maxiter": 200},
    )
    return float(np.exp(found.x[0])), np.asarray(found.x[1:])
