"""What a fit from proportions adds to its model: calibration, its test, and their worth.

See docs/theory/label_proportions.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce._frame import collected_notes, note
from scarce._warnings import ScarceDataWarning
from scarce.proportions._calibration import probabilities, without_contrast
from scarce.proportions._groups import COMMON, Bags
from scarce.proportions._share_loss import (
    SMALLEST,
    RowGroups,
    class_probabilities,
    effective_labels,
    fit_share_calibration,
)

ENOUGH = 40  # labels below which a fit warns
FEWEST_GROUPS, MOST_ROWS = 10, 5_000  # for one more fit without a fifth of the groups
FIFTH = 5
# Scores of all training rows cost twice the fit: beyond MOST_ROWS, rows of some groups must do.
SCORED_PART = 40
FEWEST_ROWS, FEWEST_SCORED = 500, 16  # rows and groups that two numbers need
MOST_SCORED = 50_000  # and more than they need, where scores cost nothing
AT_BOUND = 1.0 - 1e-6

Calibration = tuple[float, Any]


class GroupRows(NamedTuple):
    """Rows of some whole groups."""

    rows: Array  # the rows
    in_groups: RowGroups  # their groups
    chosen: Array  # which of all groups these are


def has_mixed_groups(X: Any, bags: Bags) -> bool:
    """Say whether some group holds two rows that differ."""
    rows = bags.rows[bags.codes[bags.rows] >= bags.n_common]
    order = rows[np.argsort(bags.codes[rows], kind="stable")]
    first, second = order[:-1], order[1:]
    pairs = np.flatnonzero(bags.codes[first] == bags.codes[second])
    for start in range(0, pairs.size, 1024):
        part = pairs[start : start + 1024]
        one, other = X[first[part]], X[second[part]]
        if (one != other).nnz if sparse.issparse(X) else np.any(one != other):
            return True
    return False


def calibration_rows(bags: Bags, cheap: bool) -> GroupRows:
    """Return rows of some whole groups, by whose scores to calibrate; see `calibration_groups`."""
    counts = np.bincount(bags.codes[bags.rows], minlength=bags.n_bags)[bags.n_common :]
    return _of_groups(bags, calibration_groups(counts, cheap))


def calibration_groups(counts: Array, cheap: bool) -> Array:
    """Return the groups, given by their numbers of rows, whose scores are to calibrate.

    All of them, if scoring them costs little beside a fit (``cheap``); else groups at equal steps.
    """
    n, n_groups = int(counts.sum()), counts.size
    wanted = min(n, MOST_SCORED)
    if not cheap and n > MOST_ROWS:
        wanted = max(n // SCORED_PART, FEWEST_ROWS)
    some = min(n_groups, max(round(n_groups * wanted / n), FEWEST_SCORED))
    return np.unique(np.linspace(0, n_groups - 1, some).round().astype(np.intp))


def _of_groups(bags: Bags, chosen: Array) -> GroupRows:
    place = np.full(bags.n_bags + 1, -1)  # the last is for rows that take no part
    place[chosen + bags.n_common] = np.arange(chosen.size)
    codes = place[bags.codes]
    rows = np.flatnonzero(codes >= 0)
    return GroupRows(rows, RowGroups.of(codes[rows], bags.weights[rows], chosen.size), chosen)


def plain(calibration: tuple[float, Array]) -> Calibration:
    """Return slope and shift as two numbers; several shifts stay an array."""
    slope, shifts = calibration
    return slope, float(shifts[0]) if shifts.size == 1 else shifts


def calibrated(scores: Array, calibration: Calibration | None) -> Array:
    """Return the probabilities of the columns of scores, the published ones without calibration."""
    if calibration is None:
        return probabilities(scores[:, 0])[:, 1:] if scores.shape[1] == 1 else probabilities(scores)
    return class_probabilities(calibration[0] * scores + calibration[1])


def losses(p: Array, in_groups: RowGroups, shares: Array) -> Array:
    """Return the cross-entropy of every group."""
    mean = np.maximum(in_groups.means(p), SMALLEST)
    total = -(shares * np.log(mean)).sum(axis=1)
    if shares.shape[1] == 1:
        rest = np.maximum(1.0 - mean, SMALLEST)
        total = total - ((1.0 - shares) * np.log(rest))[:, 0]
    return np.asarray(total)


def worse_beyond_noise(loss: Array, other: Array, sizes: Array) -> bool:
    """Say whether a loss is above another by more than the standard error of their difference."""
    difference = loss - other
    mean = np.average(difference, weights=sizes)
    parts = sizes / sizes.sum()
    error = np.sqrt((parts**2 * (difference - mean) ** 2).sum())
    return bool(mean > error)


class LeftOut:
    """A fit without every fifth group, and the losses of its forms on these groups.

    ``loss``: mean cross-entropy: "uncalibrated", "calibrated", and "source" where there is one.
    ``harmful``: whether the calibration raises the loss by more than noise.
    """

    def __init__(self, estimator: Any, X: Any, bags: Bags, part: Callable[..., Any]) -> None:
        n_groups = bags.sizes.size
        out = np.arange(n_groups) % FIFTH == FIFTH - 1
        place = np.where(bags.codes >= 0, bags.codes - bags.n_common, n_groups)
        # Common rows, whose places are negative, stay; there may be more of them than of groups.
        is_out = (place >= 0) & np.append(out, False)[np.maximum(place, 0)]
        kept = np.flatnonzero((bags.codes >= 0) & ~is_out)
        groups = np.where(bags.codes[kept] < bags.n_common, COMMON, place[kept])
        shares = np.vstack([bags.shares, np.full((1, bags.shares.shape[1]), np.nan)])
        y = shares[np.where(groups == COMMON, n_groups, groups)]
        inner = type(estimator)(**estimator.get_params(deep=False))
        inner.set_params(calibrate=None, classes=None, gamma=estimator._gamma)
        with collected_notes():  # they are the outer fit's to give
            inner.fit(part(X, kept, kept), y, groups, sample_weight=bags.weights[kept])
            rows, in_groups, chosen = _of_groups(bags, np.flatnonzero(out))
            seen, own, _ = _of_groups(bags, np.flatnonzero(~out))
            given = bags.shares[~out]
            new, old = part(X, rows, kept), part(X, seen, kept)
            forms = {"": (inner._raw_decisions(new), inner._raw_decisions(old))}
            source = inner._source_decisions(new)
            if source is not None:
                forms["source"] = (source, inner._source_decisions(old))
        wanted = bags.shares[chosen]
        found = {"uncalibrated": losses(calibrated(forms[""][0], None), in_groups, wanted)}
        for name, (scores, training) in forms.items():
            fitted = fit_share_calibration(training, own, given)
            found[name or "calibrated"] = losses(calibrated(scores, fitted), in_groups, wanted)
        self.loss = {
            name: float(np.average(each, weights=in_groups.sizes)) for name, each in found.items()
        }
        self.harmful = worse_beyond_noise(
            found["calibrated"], found["uncalibrated"], in_groups.sizes
        )


def note_few_labels(bags: Bags, worth: float) -> None:
    """Warn of proportions that say little, unless nothing, which the fit has said before."""
    if worth < ENOUGH and not without_contrast(bags.shares, bags.n_common):
        note(
            f"the proportions of {bags.sizes.size} groups are worth about {worth:.0f} labels: "
            f"expect the accuracy of a model trained on that many labelled rows. More groups, or "
            "groups whose proportions differ more, help; more rows in the same groups do not.",
            ScarceDataWarning,
        )


def note_one_label(decisions: Array, bags: Bags) -> None:
    """Warn of a constant classifier where proportions differ."""
    one = decisions > 0 if decisions.shape[1] == 1 else decisions.argmax(axis=1)[:, None]
    if np.ptp(one.astype(int)) == 0 and np.ptp(bags.shares, axis=0).max() > 0:
        low, high = (end(bags.shares, axis=0).squeeze().tolist() for end in (np.min, np.max))
        note(
            f"all training rows get one label, though the proportions of the groups differ (from "
            f"{low} to {high}). The "
            "probabilities may still tell rows apart; raise C, or take another kernel width.",
            ScarceDataWarning,
        )


def note_source(loss: dict[str, float], is_calibrated: bool, n_groups: int) -> None:
    """Warn when the source alone, with two numbers fitted, does as well, or may do."""
    if "model" not in loss and n_groups < FEWEST_GROUPS:
        note(
            f"{n_groups} groups are too few to test whether the model is better than its source "
            f"({FEWEST_GROUPS} are needed): compare it on labelled rows with the source, "
            "calibrated by source_calibration_, or give more groups",
            ScarceDataWarning,
        )
    ours = loss.get("model", loss.get("calibrated" if is_calibrated else "uncalibrated", 0.0))
    if ours > loss.get("source", np.inf):
        note(
            f"on groups left out of the fit the model's proportions have a cross-entropy of "
            f"{ours:.3f}, the source's alone {loss['source']:.3f}, calibrated by "
            "source_calibration_: use the source with these two numbers, a larger transfer, "
            "or more groups",
            ScarceDataWarning,
        )


def note_all_at_bound(variables: Array, costs: Array, name: str) -> None:
    """Warn when every group is priced too low to be met."""
    if (np.abs(variables) >= AT_BOUND * costs).all():
        note(
            f"every group's multiplier is at its upper bound: the model follows no group as far "
            f"as its proportion asks; raise {name}, or take another kernel width",
            ScarceDataWarning,
        )


def worth_of(bags: Bags) -> float:
    """Return the effective labels of the groups."""
    return effective_labels(bags.shares, bags.sizes) if bags.sizes.size else 0.0
