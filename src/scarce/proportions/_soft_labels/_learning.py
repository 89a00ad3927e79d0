"""Probabilities from proportions by expectation and maximisation over soft labels.

See docs/theory/shares.md. The expectation shifts the probabilities of every group until its
proportion is met, the maximisation is a logistic regression of these soft labels, which is convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.proportions._share_loss import RowGroups, class_probabilities
from scarce.proportions._soft_labels._logistic import SoftLogistic, fit_soft_logistic
from scarce.proportions._soft_labels._tilting import soft_labels

C = 30.0  # of the logistic regression; features of a kernel with values up to 1 are short
ROUNDS = 5  # the first of them on the rows whose logits are known, the others on all
FOLDS = 5  # of groups, for the check by left-out groups
LOOSE, SHARP = 1e-4, 1e-7  # tolerances of the rounds and of the last fit


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
    """

    features: Any
    in_groups: RowGroups
    shares: Array
    source: Array | None

    @property
    def weights(self) -> Array:
        """Weights of the rows."""
        return np.asarray(self.in_groups.parts * self.in_groups.sizes[self.in_groups.codes])

    def part(self, rows: Array) -> tuple[Any, Array, Array | None]:
        """Return features, weights and source scores of some rows."""
        source = None if self.source is None else self.source[rows]
        return self.features[rows], self.weights[rows], source


class CommonRows(NamedTuple):
    """Rows of no group for which the source holds: features, weights and source scores."""

    features: Any
    weights: Array
    source: Array


@dataclass(frozen=True)
class SoftLabelFit:
    """What was learnt.

    Attributes
    ----------
    model : SoftLogistic
        The logistic model of the soft labels.
    soft : ndarray of shape (n, n_columns)
        The soft labels that it was fitted to.
    left_out : ndarray of shape (n_groups, n_columns)
        Mean probabilities of groups by models of the same soft labels without these groups.
    left_out_source : ndarray of shape (n_groups, n_columns) or None
        The same of the source alone.
    constant : ndarray of shape (n_groups, n_columns)
        Mean proportion of the groups of the other folds.
    """

    model: SoftLogistic
    soft: Array
    left_out: Array
    left_out_source: Array | None
    constant: Array


def learn(rows: Rows, first: Rows, start: Array, common: CommonRows | None = None) -> SoftLabelFit:
    """Learn a logistic model of rows from the proportions of their groups.

    Parameters
    ----------
    rows : Rows
        The rows.
    first : Rows
        Rows, of whole groups, whose logits are known to begin with; may be the same.
    start : ndarray of shape (n_first, n_columns)
        These logits.
    common : CommonRows, optional
        Rows whose soft labels are those of the source, fitted to the soft labels of the others.

    Returns
    -------
    SoftLabelFit
        The model and what left-out groups say of it.
    """
    logits, now, model = start, first, None
    for _ in range(ROUNDS):
        soft = soft_labels(logits, now.in_groups, now.shares)[0]
        model = _maximised(now, soft, common, model, LOOSE)
        now, logits = rows, model.logits(rows.features, rows.source)
    model = _maximised(rows, soft, common, model, SHARP)
    return SoftLabelFit(model, soft, *_left_out(rows, soft, common, model))


def _maximised(
    rows: Rows,
    soft: Array,
    common: CommonRows | None,
    start: SoftLogistic | None,
    tol: float,
    kept: Array | None = None,
) -> SoftLogistic:
    """Return the logistic model of soft labels, of all rows or of some."""
    features, weights, source = rows.features, rows.weights, rows.source
    if kept is not None:
        soft, (features, weights, source) = soft[kept], rows.part(kept)
    if common is not None and source is not None:
        alone = _source_alone(soft, weights, source)
        theirs = class_probabilities(
            alone.logits(np.empty((len(common.weights), 0)), common.source)
        )
        stack = sparse.vstack if sparse.issparse(features) else np.vstack
        features = stack([features, common.features])
        soft, source = np.vstack([soft, theirs]), np.vstack([source, common.source])
        weights = np.append(weights, common.weights)
    return fit_soft_logistic(features, soft, weights, C, source=source, start=start, tol=tol)


def _source_alone(soft: Array, weights: Array, source: Array) -> SoftLogistic:
    """Return slope and constants of the source, fitted to soft labels."""
    return fit_soft_logistic(np.empty((len(soft), 0)), soft, weights, C, source=source)


def _left_out(
    rows: Rows, soft: Array, common: CommonRows | None, start: SoftLogistic
) -> tuple[Array, Array | None, Array]:
    """Return mean probabilities of left-out groups, those of the source, and their constant."""
    in_groups = rows.in_groups
    n_groups = in_groups.sizes.size
    folds = np.random.default_rng(0).permutation(n_groups) % FOLDS
    p, theirs = np.empty_like(soft), np.empty_like(soft)
    constant = np.empty_like(rows.shares)
    for fold in range(min(FOLDS, n_groups)):
        out = folds[in_groups.codes] == fold
        kept, left = np.flatnonzero(~out), np.flatnonzero(out)
        others = folds != fold
        if not others.any():  # one group: nothing is left to learn from
            constant[:] = rows.shares
            p[:], theirs[:] = rows.shares[in_groups.codes], rows.shares[in_groups.codes]
            break
        constant[~others] = np.average(rows.shares[others], axis=0, weights=in_groups.sizes[others])
        model = _maximised(rows, soft, common, start, LOOSE, kept)
        features, _, source = rows.part(left)
        p[left] = class_probabilities(model.logits(features, source))
        if source is not None:
            alone = _source_alone(soft[kept], *rows.part(kept)[1:])  # type: ignore[arg-type]
            theirs[left] = class_probabilities(alone.logits(np.empty((left.size, 0)), source))
    of_source = None if rows.source is None else in_groups.means(theirs)
    return in_groups.means(p), of_source, constant
