"""The logistic calibration and its inverse: proportions of positives to wanted mean scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from scarce._arrays import Array
from scarce._frame import note
from scarce._warnings import ScarceDataWarning


def clip_bounds(sizes: Array, clip: Any) -> Array:
    """Return how near to 0 and 1 the proportion of each group may come, ``kappa``.

    "auto" is half a row, but no less than 1/1000 and no more than 1/4, which keeps one-row groups
    from a wanted score of zero.
    """
    if clip == "auto":
        return np.maximum(1e-3, np.minimum(0.5 / sizes, 0.25))
    return np.full(sizes.shape, float(clip))


def wanted_scores(shares: Array, sizes: Array, epsilon: float, clip: Any) -> tuple[Array, Array]:
    """Return the wanted mean scores of groups and the half widths of the tubes around them.

    The proportion ``q`` wants the score ``log(q / (1 - q))``; an error ``epsilon`` of the
    proportion is one of ``epsilon / (q (1 - q))`` of the score.

    ``shares``: proportions of positives, between 0 and 1. ``sizes``: weights of the groups.
    ``epsilon``: tolerated error of a proportion. ``clip``: distance of the proportions from 0 and
    1; see `clip_bounds`. Returned: ``scores, tubes``, wanted scores and half widths.
    """
    kappa = clip_bounds(sizes, clip)
    q = np.minimum(np.maximum(shares, kappa), 1.0 - kappa)
    return logit(q), epsilon / (q * (1.0 - q))


def warn_of_silent_groups(scores: Array, tubes: Array, epsilon: float, half: float) -> None:
    """Warn of groups whose tubes contain zero, but for proportions so near to one half."""
    silent = (tubes >= np.abs(scores)) & (np.abs(expit(scores) - 0.5) > half + 1e-12)
    if silent.any():
        smallest = np.min((np.abs(scores) / tubes)[silent]) * epsilon
        note(
            f"the tubes of {int(silent.sum())} of {silent.size} groups contain 0 and say nothing "
            f"of the sign of their scores: epsilon={epsilon:g} is too large for them; below "
            f"{smallest:.3g} every group counts. A larger clip also narrows tubes.",
        )


def warn_of_equal_shares(shares: Array, n_common: int) -> None:
    """Warn when all groups have the same proportion."""
    if without_contrast(shares, n_common):
        value = shares[0].squeeze().tolist()
        said = (
            f"all {len(shares)} groups have the same proportion {value}: they carry no contrast"
            if len(shares) > 1
            else f"there is one group only, with the proportion {value}: it carries no contrast"
        )
        note(
            f"{said}, and nothing can be learnt but a constant. Give groups whose proportions "
            "differ.",
            ScarceDataWarning,
        )


def without_contrast(shares: Array, n_common: int) -> bool:
    """Say whether the groups have one proportion, so that nothing can be learnt from them."""
    enough = len(shares) > (1 if n_common else 0)
    return enough and bool((np.ptp(shares, axis=0) <= 1e-12).all())


def accepting_cut(decisions: Array, weights: Array, overall: Array) -> Array:
    """Return what to take off decisions so that each class is given to its overall proportion.

    ``decisions``: positive for the second of two classes, or one column per class. ``weights``:
    weights of the rows. ``overall``: proportion of the second of two classes, or of every class.
    """
    if decisions.shape[1] == 1:
        order = np.argsort(-decisions[:, 0], kind="stable")
        values, mass = decisions[order, 0], np.cumsum(weights[order]) / weights.sum()
        last = int(np.searchsorted(mass, overall[0] - 1e-12))
        after = min(last + 1, values.size - 1)
        return np.array([0.5 * (values[min(last, after)] + values[after])])
    # The minimum of the mean of max_c(f_c - t_c) plus the proportions times t, by subgradients.
    cut, best, least = np.zeros(decisions.shape[1]), np.zeros(decisions.shape[1]), np.inf
    parts, size = weights / weights.sum(), float(decisions.std())
    for step in range(200):
        labels = (decisions - cut).argmax(axis=1)
        off = np.bincount(labels, parts, minlength=cut.size) - overall
        if np.abs(off).sum() < least:
            best, least = cut.copy(), float(np.abs(off).sum())
        cut = cut + size * off / (1.0 + 0.1 * step)
    return best


def probabilities(scores: Array) -> Array:
    """Return class probabilities of scores: two columns of one, normalised columns of several."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    each = expit(scores)
    # Where every class is denied beyond underflow, the least denied ones share.
    total = each.sum(axis=1, keepdims=True)
    if (total == 0).any():
        best = scores == scores.max(axis=1, keepdims=True)
        each = np.where(total == 0, best, each)
        total = each.sum(axis=1, keepdims=True)
    return np.asarray(each / total)


def warn_of_free_offset(interval: tuple[float, float] | None) -> None:
    """Warn when no group says what the offset is, if there is an interval of equal ones."""
    if interval is not None:
        note(
            "every group's proportion is met without any weights: every offset between "
            f"{interval[0]:.6g} and {interval[1]:.6g} is optimal, and the middle is taken"
        )
