"""Probabilities from proportions by expectation and maximisation over soft labels.

See docs/theory/label_proportions.md. The expectation shifts the probabilities of every group until
its proportion is met, the maximisation is a logistic regression of these soft labels (convex).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.proportions._share_loss import RowGroups, class_probabilities
from scarce.proportions._soft_labels._logistic import (
    SoftLogistic,
    fit_share_logistic,
    fit_soft_logistic,
)
from scarce.proportions._soft_labels._tilting import soft_labels

C = 30.0  # of the logistic regression; features of a kernel with values up to 1 are short
SHARE_C = 10.0  # of the regression of the proportions
ROUNDS = 5  # the first of them on the rows whose logits are known, the others on all
FOLDS, FOLD_ROUNDS = 5, 2  # of groups, for the check by left-out groups
MOST_TURNED = 500  # features whose principal axes take less time than they save
MOST_DENSE = 1 << 22  # values of sparse features that may become dense, 32 MB
LOOSE, SHARP = 2e-4, 1e-6  # tolerances of the rounds and of the last fit


class Rows(NamedTuple):
    """Rows of groups, as the soft labels see them.

    Attributes
    ----------
    features : ndarray or CSR of shape (n, n_features)
        Their features.
    in_groups : RowGroups
        Their groups.
    shares : ndarray of shape (n_groups, n_columns)
        Proportions of the groups.
    source : ndarray of shape (n, n_columns) or None
        Scores of the source models without their constants.
    ridge : float
        Factor of the ridge: with a source, 1 plus the cost of leaving its weights.
    axes : ndarray of shape (n_features, n_features) or None
        Axes in which the regression of soft labels takes few steps.
    turned : ndarray of shape (n, n_features) or None
        The features in these axes.
    """

    features: Any
    in_groups: RowGroups
    shares: Array
    source: Array | None
    ridge: float = 1.0
    axes: Array | None = None
    turned: Array | None = None

    def turned_to(self, axes: Array | None) -> Rows:
        """Return the rows with their features in other axes too."""
        return self if axes is None else self._replace(axes=axes, turned=self.features @ axes)

    @property
    def weights(self) -> Array:
        """Weights of the rows."""
        return np.asarray(self.in_groups.parts * self.in_groups.sizes[self.in_groups.codes])

    def of_groups(self, kept: Array) -> Rows:
        """Return the rows of some groups."""
        place = np.full(kept.size, -1)
        place[kept] = np.arange(int(kept.sum()))
        codes = place[self.in_groups.codes]
        rows = np.flatnonzero(codes >= 0)
        groups = RowGroups.of(codes[rows], self.weights[rows], int(kept.sum()))
        source = None if self.source is None else self.source[rows]
        turned = None if self.turned is None else self.turned[rows]
        return Rows(
            self.features[rows], groups, self.shares[kept], source, self.ridge, self.axes, turned
        )


class CommonRows(NamedTuple):
    """Rows of no group for which the source holds: features, weights and source scores."""

    features: Any
    weights: Array
    source: Array


@dataclass(frozen=True)
class SoftLabelFit:
    """What was learnt."""

    model: SoftLogistic  # the logistic model of the soft labels
    soft: Array  # (n, n_columns): the soft labels that it was fitted to
    # (n_groups, n_columns): mean probabilities of groups by models that were fitted without these
    # groups
    left_out: Array
    left_out_source: Array | None  # (n_groups, n_columns): the same of the source alone
    constant: Array  # (n_groups, n_columns): mean proportion of the groups of the other folds
    # slope that the left-out groups would have if the probabilities of their rows were right
    spread: float


def learn(rows: Rows, first: Rows, start: Array, common: CommonRows | None = None) -> SoftLabelFit:
    """Learn a logistic model of rows from the proportions of their groups.

    ``first``: rows, of whole groups, whose logits are known to begin with; may be the same.
    ``start``: these logits. ``common``: rows whose soft labels are those of the source, fitted to
    the soft labels of the others. Returned: the model and what held-out groups say of it.
    """
    axes = _principal_axes(rows)
    same, rows = first is rows, rows.turned_to(axes)
    first = rows if same else first.turned_to(axes)
    met = _meeting(rows)
    logits = 0.5 * (start + met.logits(first.features, first.source))
    model, soft = _rounds(rows, first, logits, met, common, ROUNDS)
    model = _mixed(rows, soft, _maximised(rows, soft, common, model, SHARP), met)
    return SoftLabelFit(model, soft, *_left_out(rows, common))


def _principal_axes(rows: Rows) -> Array | None:
    """Return the principal axes of the features, in which the Hessian is nearly diagonal.

    The ridge is the same in all directions, so that turning the features changes no optimum, only
    the number of steps to it. Sparse features become dense by it, and are turned if they are few.
    """
    features = rows.features
    n_values = features.shape[0] * features.shape[1]
    if features.shape[1] > MOST_TURNED or (sparse.issparse(features) and n_values > MOST_DENSE):
        return None
    dense = features.toarray() if sparse.issparse(features) else features
    return np.asarray(np.linalg.eigh(dense.T @ (rows.weights[:, None] * dense))[1])


def _meeting(rows: Rows) -> SoftLogistic:
    """Return the regression that makes the mean probabilities of groups meet their proportions."""
    return fit_share_logistic(
        rows.features, rows.in_groups, rows.shares, SHARE_C / rows.ridge, rows.source
    )


def _rounds(
    rows: Rows,
    first: Rows,
    logits: Array,
    model: SoftLogistic,
    common: CommonRows | None,
    n_rounds: int,
) -> tuple[SoftLogistic, Array]:
    """Return the model of the last round and its soft labels; the first begins at a given model."""
    for _ in range(n_rounds):
        soft = soft_labels(logits, first.in_groups, first.shares)[0]
        model = _maximised(first, soft, common, model, LOOSE)
        first, logits = rows, model.logits(rows.features, rows.source)
    return model, soft


def _mixed(rows: Rows, soft: Array, model: SoftLogistic, met: SoftLogistic) -> SoftLogistic:
    """Return the mean of the model and of the regression that meets the proportions.

    The first is right where proportions are exact, the second does not follow their errors. Its
    slope is wrong under prior shift, and is fitted to the soft labels.
    """
    scale = _source_alone(soft, rows.weights, met.logits(rows.features, rows.source))
    return SoftLogistic(
        0.5 * (model.weights + scale.slope * met.weights),
        0.5 * (model.constants + scale.slope * met.constants + scale.constants),
        0.5 * (model.slope + scale.slope * met.slope),
        model.gap,
        model.n_iter,
    )


def _maximised(
    rows: Rows,
    soft: Array,
    common: CommonRows | None,
    start: SoftLogistic | None,
    tol: float,
) -> SoftLogistic:
    """Return the logistic model of soft labels."""
    weights, source, axes = rows.weights, rows.source, rows.axes
    features: Any = rows.features if axes is None else rows.turned
    if common is not None and source is not None:
        alone = _source_alone(soft, weights, source)
        none = np.empty((len(common.weights), 0))
        theirs = class_probabilities(alone.logits(none, common.source))
        stack = sparse.vstack if sparse.issparse(features) else np.vstack
        features = stack([features, common.features if axes is None else common.features @ axes])
        soft, source = np.vstack([soft, theirs]), np.vstack([source, common.source])
        weights = np.append(weights, common.weights)
    if axes is not None and start is not None:
        start = replace(start, weights=axes.T @ start.weights)
    model = fit_soft_logistic(
        features, soft, weights, C / rows.ridge, source=source, start=start, tol=tol
    )
    return model if axes is None else replace(model, weights=axes @ model.weights)


def _source_alone(soft: Array, weights: Array, source: Array) -> SoftLogistic:
    """Return slope and constants of given scores, fitted to soft labels."""
    return fit_soft_logistic(np.empty((len(soft), 0)), soft, weights, C, source=source)


def _left_out(rows: Rows, common: CommonRows | None) -> tuple[Array, Array | None, Array, float]:
    """Return mean probabilities of held-out groups, of the source, their constant and spread.

    Nothing of a held-out group is seen, so that these models do without the start, in which all
    groups are.
    """
    n_groups = rows.shares.shape[0]
    folds = np.random.default_rng(0).permutation(n_groups) % FOLDS
    means, constant = np.empty_like(rows.shares), np.empty_like(rows.shares)
    theirs, squares = None if rows.source is None else np.empty_like(rows.shares), 0.0
    for fold in range(min(FOLDS, n_groups)):
        out = folds == fold
        if out.all():  # one group: nothing is left to learn from
            return rows.shares, theirs if theirs is None else rows.shares, rows.shares, 0.0
        kept, left = rows.of_groups(~out), rows.of_groups(out)
        constant[out] = np.average(kept.shares, axis=0, weights=kept.in_groups.sizes)
        met = _meeting(kept)
        logits = met.logits(kept.features, kept.source)
        model, soft = _rounds(kept, kept, logits, met, common, FOLD_ROUNDS)
        model = _mixed(kept, soft, model, met)
        p = class_probabilities(model.logits(left.features, left.source))
        means[out] = left.in_groups.means(p)
        squares += float((left.weights @ (p - left.weights @ p / left.weights.sum()) ** 2).sum())
        if theirs is not None and kept.source is not None:
            alone = _source_alone(soft, kept.weights, kept.source)
            none = np.empty((left.weights.size, 0))
            p = class_probabilities(alone.logits(none, left.source))
            theirs[out] = left.in_groups.means(p)
    overall = np.average(rows.shares, axis=0, weights=rows.in_groups.sizes)
    whole = float(rows.weights.sum() * (overall * (1.0 - overall)).sum())
    return means, theirs, constant, squares / whole if whole > 0 else 0.0
