"""Soft labels in a fit from proportions: from the fitted model to the model that is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from scarce._arrays import Array
from scarce._chunked_fit import ChunkedFit
from scarce._frame import note
from scarce._warnings import ScarceDataWarning
from scarce.proportions._calibrated import plain
from scarce.proportions._calibration import without_contrast
from scarce.proportions._groups import Bags
from scarce.proportions._share_loss import (
    SMALLEST,
    RowGroups,
    class_probabilities,
    effective_labels,
    shares_of_all,
)
from scarce.proportions._soft_labels._estimates import share_lines
from scarce.proportions._soft_labels._features import LinearRows, chosen_rows, feature_rows
from scarce.proportions._soft_labels._learning import CommonRows, Rows, SoftLabelFit, learn
from scarce.proportions._soft_labels._tilting import soft_labels
from scarce.proportions._space import BagSpace, Expansion

FEWEST_CHECKED = 5  # for a check by left-out groups
ENOUGH_GROUPS, ERRORS = 10, 1.0  # for it to shrink a model: groups, standard errors of the slope
FEW_LABELS = 100  # what fewer groups must be worth for one that is off its line to be no wonder
CLEAR = 2.0  # standard errors by which held-out groups make a model better than the constant
MUCH = 0.8  # a factor below which shrinking is worth a warning


def group_losses(predicted: Array, shares: Array) -> Array:
    """Return the cross-entropy of every group's proportions and mean probabilities."""
    mean = np.maximum(shares_of_all(predicted), SMALLEST)
    return np.asarray(-(shares_of_all(shares) * np.log(mean)).sum(axis=1))


def share_slope(predicted: Array, shares: Array, sizes: Array) -> float:
    """Return the slope of the mean probabilities of held-out groups in their proportions.

    1 where the columns explain all of the differences between the groups' proportions, 0 where they
    explain nothing of them. Under prior shift it is the part of the labels' variance that the
    probabilities explain.
    """
    parts = sizes / sizes.sum()
    q, m = shares - parts @ shares, predicted - parts @ predicted
    contrast = float(parts @ (q**2).sum(axis=1))
    return float(parts @ (q * m).sum(axis=1)) / contrast if contrast > 0 else 0.0


def allowed_spread(
    predicted: Array, shares: Array, sizes: Array, spread: float, fewest: int = ENOUGH_GROUPS
) -> float:
    """Return the part, at most 1, of the spread of probabilities that held-out groups allow.

    If probabilities are right, the slope of held-out groups is the part of the labels' variance
    that they explain, ``spread``; the differences between groups may add to it. A slope that is
    clearly below says that the probabilities of rows differ for no reason.
    """
    n_groups = sizes.size
    if n_groups < fewest or spread <= 0:
        return 1.0
    parts = sizes / sizes.sum()
    q, m = shares - parts @ shares, predicted - parts @ predicted
    contrast = float(parts @ (q**2).sum(axis=1))
    if contrast <= 0:
        return 1.0
    slope = share_slope(predicted, shares, sizes)
    off = (q * (m - slope * q)).sum(axis=1)
    error = np.sqrt(float(parts**2 @ off**2) * n_groups / (n_groups - 2)) / contrast
    return float(min(1.0, max(0.0, slope + ERRORS * error) / spread))


def beyond_sampling(predicted: Array, shares: Array, sizes: Array, within: Array) -> float:
    """Return how far groups are off the line beyond sampling, in units of the spread within them.

    The mean probability of a group of ``n`` rows is off the line by ``within / n``, in squares, if
    groups differ in their proportions alone. Real groups are further off, for reasons of their own,
    and a group of ``n`` rows then counts as ``n / (1 + n r)``, with the ratio ``r`` returned.

    ``predicted``, ``shares``: mean probabilities of held-out groups, and proportions. ``sizes``:
    weights of the groups. ``within``: variance of the probabilities within each group.
    """
    parts = sizes / sizes.sum()
    q, m = shares - parts @ shares, predicted - parts @ predicted
    contrast = parts @ q**2
    slopes = np.where(contrast > 0, parts @ (q * m) / np.where(contrast > 0, contrast, 1.0), 0.0)
    spread = float((parts @ within).sum())
    off = float((parts @ (m - slopes * q) ** 2).sum())
    sampling = spread * float((parts / sizes).sum())
    return max(0.0, off - sampling) / spread if spread > 0 else 0.0


def is_doubtful(fit: Any, shares: Array, sizes: Array, factor: float) -> bool:
    """Say whether the slope of held-out groups speaks against a model.

    A shrunken model is not doubtful if their losses clearly speak for it. Too few groups to shrink
    a model speak against it if they are worth few labels; others are often off their line by chance
    alone.
    """
    if sizes.size >= ENOUGH_GROUPS:
        return factor < MUCH and not clearly_better(fit, shares, sizes)
    if effective_labels(shares, sizes) >= FEW_LABELS:
        return False
    return allowed_spread(fit.left_out, shares, sizes, fit.spread, FEWEST_CHECKED) < MUCH


def clearly_better(fit: Any, shares: Array, sizes: Array) -> bool:
    """Say whether held-out groups are met better than by the constant, beyond chance."""
    gains = group_losses(fit.constant, shares) - group_losses(fit.left_out, shares)
    parts = sizes / sizes.sum()
    mean = float(parts @ gains)
    error = np.sqrt(float(parts**2 @ (gains - mean) ** 2) * sizes.size / max(1, sizes.size - 1))
    return bool(mean > CLEAR * error)


def note_no_better(
    losses: dict[str, float], slope: float, factor: float, n_groups: int, doubtful: bool
) -> None:
    """Warn of a model that held-out groups do not support.

    ``doubtful`` says whether something else than the losses speaks against the model.
    """
    if n_groups < FEWEST_CHECKED:
        note(
            f"{n_groups} group{'s are' if n_groups > 1 else ' is'} too few to check the model on "
            f"groups left out of the fit ({FEWEST_CHECKED} are needed): nothing says whether its "
            "probabilities are better than the overall proportion. More groups help.",
            ScarceDataWarning,
        )
    elif losses["model"] >= losses["constant"] or doubtful:
        done = f", and log-odds were multiplied by {factor:.2g}" if factor < 1.0 else ""
        note(
            "the model may be no better than a constant: on groups left out of the fit the "
            f"proportions have a cross-entropy of {losses['model']:.3f}, with the overall "
            f"proportion for every sample {losses['constant']:.3f}; the columns explain "
            f"{max(0.0, slope):.0%} of the differences between groups{done}. Other columns, or "
            "groups whose proportions differ more, help.",
            ScarceDataWarning,
        )


def losses_of(fit: Any, shares: Array, sizes: Array) -> dict[str, float]:
    """Return the mean losses of held-out groups: of the model, the constant, the source if any."""
    forms = {"model": fit.left_out, "constant": fit.constant, "source": fit.left_out_source}
    return {
        name: float(np.average(group_losses(each, shares), weights=sizes))
        for name, each in forms.items()
        if each is not None
    }


LOOSE_GAP = 1e-2
BISECTIONS, SMALLEST_FACTOR = 10, 0.1


class Start(NamedTuple):
    """Rows of whole groups whose logits are known."""

    rows: Array
    in_groups: RowGroups
    chosen: Array  # which of all groups these are
    logits: Array  # (n, n_columns): the logits


class SoftLabelled(ChunkedFit):
    """Classifiers from proportions whose model may be that of soft labels."""

    left_out_loss_: dict[str, float]
    _share_lines: tuple[Array, ...] | None
    _source_share: float = 0.0

    def _learn_soft_labels(
        self, X: Any, bags: Bags, space: BagSpace, start: Start, sources: list[Any]
    ) -> None:
        """Replace the fitted model by that of soft labels, which begin with its scores."""
        features = feature_rows(X, bags, self._fitted_kernel(), space, self.random_state)
        used = sources if self._source_share > 0 else []

        def scores(rows: Array) -> Array | None:
            return np.column_stack([each.function(X[rows]) for each in used]) if used else None

        codes = np.where(bags.codes >= bags.n_common, bags.codes - bags.n_common, -1)
        own = chosen_rows(codes, bags.sizes.size)
        groups, inside = np.unique(codes[own], return_inverse=True)
        in_groups = RowGroups.of(inside, bags.weights[own], groups.size)
        ridge = 1.0 + self.transfer if used else 1.0
        rows = Rows(features.rows(X, own), in_groups, bags.shares[groups], scores(own), ridge)
        first = rows
        if not np.array_equal(own, start.rows):
            first = Rows(
                features.rows(X, start.rows),
                start.in_groups,
                bags.shares[start.chosen],
                scores(start.rows),
                ridge,
            )
        common = None
        alike = np.flatnonzero((bags.codes >= 0) & (bags.codes < bags.n_common))
        if alike.size and used:
            factor = self.C_common / self.C_group
            weights = factor * bags.weights[alike]
            common = CommonRows(features.rows(X, alike), weights, scores(alike))  # type: ignore[arg-type]
        fit = self._shrunk(learn(rows, first, start.logits, common), rows)
        if isinstance(features, LinearRows):
            self._keep_weight_vectors(X, fit.model.weights.T)
        else:
            vectors = (features.root @ fit.model.weights).T
            self._keep_models(X, [Expansion(features.landmarks, vector) for vector in vectors])
        self._keep_soft_labels(fit, rows, bags, bool(used))
        self._add_source(sources)

    def _keep_weight_vectors(self, X: Any, vectors: Array) -> None:
        """Store linear models, each as its own support vector: their mean is no sum over rows."""
        self.support_ = np.zeros(0, np.int32)
        self.shape_fit_ = X.shape
        self._sparse = sparse.issparse(X)
        kept = sparse.csr_matrix if self._sparse else np.asarray
        self.support_vectors_, self.dual_coef_ = kept(vectors), kept(np.eye(len(vectors)))
        self._coef = np.array(vectors)

    def _shrunk(self, fit: SoftLabelFit, rows: Rows) -> SoftLabelFit:
        """Return the fit with a model that spreads no further than held-out groups allow."""
        sizes, self.shrinkage_ = rows.in_groups.sizes, 1.0
        part = allowed_spread(fit.left_out, rows.shares, sizes, fit.spread)
        if part == 1.0:
            return fit
        every = RowGroups.of(np.zeros(rows.weights.size, np.intp), rows.weights, 1)
        overall = np.average(rows.shares, axis=0, weights=sizes)[None, :]
        logits = fit.model.logits(rows.features, rows.source)

        def moved(factor: float) -> tuple[float, Array]:
            """Return the variance of probabilities at a factor, their mean kept, and the shift."""
            p, shift = soft_labels(factor * logits, every, overall)
            return float(every.means((p - every.means(p)) ** 2).sum()), shift[0]

        wanted = part * moved(1.0)[0]
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if moved(middle)[0] < wanted else (low, middle)
        self.shrinkage_ = max(low, SMALLEST_FACTOR)  # the order of rows is kept
        shift = moved(self.shrinkage_)[1]
        return replace(fit, model=fit.model.times(self.shrinkage_, shift))

    def _keep_soft_labels(self, fit: SoftLabelFit, rows: Rows, bags: Bags, sourced: bool) -> None:
        """Store constants, certificate and what held-out groups say; warn of what they cannot."""
        self.intercept_ = fit.model.constants.copy()
        self.calibration_ = plain((1.0, np.zeros(fit.soft.shape[1])))
        self._source_share = fit.model.slope if sourced else 0.0
        self.soft_label_gap_ = fit.model.gap
        if fit.model.gap > LOOSE_GAP:
            note(
                "the logistic regression of soft labels ended before its optimum, within "
                f"{fit.model.gap:.1e} of its objective; scale the features",
                ConvergenceWarning,
            )
        shares, in_groups, sizes = rows.shares, rows.in_groups, rows.in_groups.sizes
        self.left_out_shares_ = np.stack([shares, fit.left_out])
        self.left_out_sizes_ = sizes
        self.left_out_loss_ = losses_of(fit, shares, sizes)
        self.share_slope_ = share_slope(fit.left_out, shares, sizes)
        logits = fit.model.logits(rows.features, rows.source)
        p = class_probabilities(logits)
        spread = in_groups.means(p**2) - in_groups.means(p) ** 2
        beyond = beyond_sampling(fit.left_out, shares, sizes, spread)
        self.effective_labels_ = effective_labels(
            bags.shares, bags.sizes / (1.0 + bags.sizes * beyond)
        )
        unsure = np.average(p * (1.0 - p), axis=0, weights=rows.weights)
        self._share_lines = tuple(share_lines(fit.left_out, shares, sizes, unsure))
        self._settle(logits, in_groups, bags)
        if not without_contrast(bags.shares, bags.n_common):
            note_no_better(
                self.left_out_loss_,
                self.share_slope_,
                self.shrinkage_,
                bags.sizes.size,
                is_doubtful(fit, shares, sizes, self.shrinkage_),
            )
