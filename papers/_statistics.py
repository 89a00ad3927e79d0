"""Paired tests between methods over the same repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata


def paired_p_values(
    reference: Mapping[int, float], others: Mapping[str, Mapping[int, float]]
) -> dict[str, float]:
    """Return Holm-corrected p-values of Wilcoxon's signed-rank test against a reference.

    Parameters
    ----------
    reference : dict of int to float
        Figures of the reference method by repetition.
    others : dict of str to dict
        Figures of each other method by repetition. Repetitions without a partner are left out.

    Returns
    -------
    dict of str to float
        p-value for each other method, corrected for the number of methods.
    """
    raw = {}
    for name, figures in others.items():
        pairs = sorted(reference.keys() & figures.keys())
        differences = np.array([figures[r] - reference[r] for r in pairs])
        raw[name] = signed_rank(differences)
    return dict(zip(raw, holm(list(raw.values())), strict=True))


def signed_rank(differences: NDArray[np.float64]) -> float:
    """Return the exact two-sided p-value of Wilcoxon's signed-rank test, ties included.

    Differences of zero are left out. Under the hypothesis every sign is as likely as the other;
    the distribution of the sum of positive ranks is counted by adding one rank after the other.
    Equal sizes share their mean rank, which doubled is a whole number. (SciPy draws permutations
    where there are ties, which takes a hundred times as long.)

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Paired differences.
    """
    differences = differences[differences != 0.0]
    ranks = np.rint(2.0 * rankdata(np.abs(differences))).astype(int)
    chances = np.zeros(ranks.sum() + 1)
    chances[0] = 1.0
    for rank in ranks:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: chances.size - rank]
        chances = 0.5 * (chances + moved)
    positive = int(ranks[differences > 0.0].sum())
    lower = min(positive, chances.size - 1 - positive)  # the distribution is symmetric
    return float(min(1.0, 2.0 * chances[: lower + 1].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's step-down rule."""
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    factors = np.arange(raw.size, 0, -1)
    corrected = np.empty_like(raw)
    corrected[order] = np.minimum(np.maximum.accumulate(raw[order] * factors), 1.0)
    return [float(value) for value in corrected]
