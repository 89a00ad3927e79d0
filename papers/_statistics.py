"""Paired tests between methods over the same repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import wilcoxon


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
        # Without any difference there is nothing to rank.
        raw[name] = float(wilcoxon(differences).pvalue) if differences.any() else 1.0
    return dict(zip(raw, holm(list(raw.values())), strict=True))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's step-down rule."""
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    factors = np.arange(raw.size, 0, -1)
    corrected = np.empty_like(raw)
    corrected[order] = np.minimum(np.maximum.accumulate(raw[order] * factors), 1.0)
    return [float(value) for value in corrected]
