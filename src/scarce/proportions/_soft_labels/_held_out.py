"""What held-out groups say of a model from proportions: loss, slope, effective labels, warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._frame import note
from scarce._warnings import ScarceDataWarning
from scarce.proportions._share_loss import SMALLEST, effective_labels, shares_of_all

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
