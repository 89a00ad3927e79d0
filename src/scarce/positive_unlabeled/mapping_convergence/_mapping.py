"""The first stage: scores of the unlabelled rows, below zero for strong negatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from scarce._arrays import Array
from scarce._frame import collected_notes, pass_on
from scarce._kernel_machine import KernelMachine
from scarce.positive_unlabeled.mapping_convergence._out_of_bag_mapper import OutOfBagMapper
from scarce.positive_unlabeled.rows._given import Given
from scarce.positive_unlabeled.rows._row_source import RowSource


class WeightedBlocks:
    """Some rows in blocks, with their weights, as often as somebody wants to go through them."""

    def __init__(self, rows: RowSource, some: Array, weights: Array) -> None:
        self.rows = rows
        self.some = some  # one bool for each of all rows
        self.weights = weights

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        indices = np.flatnonzero(self.some)
        for part, block in self.rows.blocks(indices):
            yield block, self.weights[indices[part]]


def mapping_scores(
    mapper: Any, given: Given, positives: Array, unlabelled: Array
) -> tuple[Any, Array]:
    """Return the fitted mapper, None for a function or mask, and one score per unlabelled row.

    ``positives`` are numbers of rows, ``unlabelled`` is one bool for each of all.
    """
    rows, weights = given.rows, given.weights
    if isinstance(mapper, OutOfBagMapper):
        fitted = clone(mapper)
        return fitted, fitted.map_rows(rows, positives, np.flatnonzero(unlabelled), weights)
    if hasattr(mapper, "score_samples"):
        seen = rows.against(positives)
        blocks = WeightedBlocks(seen, unlabelled, weights)
        with collected_notes() as notes:
            fitted = clone(mapper).fit(
                seen.gather(positives),
                sample_weight=weights[positives] if given.weighted else None,
                unlabeled=blocks,
            )
        # Of a detector of this library that was cut short the loop's estimator warns itself.
        ours = isinstance(getattr(fitted, "detector_", None), KernelMachine)
        pass_on(notes, *([ConvergenceWarning] if ours else []))
        return fitted, seen.scores(unlabelled, fitted.score_samples)
    if callable(mapper):
        others = np.flatnonzero(unlabelled)
        mask = np.asarray(mapper(rows.gather(positives), rows.gather(others)))
        _check_mask(mask, others.size, "unlabelled rows")
    else:
        all_rows = np.asarray(mapper)
        _check_mask(all_rows, rows.shape[0], "rows of X")
        mask = all_rows[unlabelled]
    return None, np.where(mask, -1.0, 1.0)


def _check_mask(mask: Array, n: int, of_what: str) -> None:
    if mask.shape != (n,) or mask.dtype != np.bool_:
        raise ValueError(
            f"mapper must give one bool for each of the {n} {of_what}, got an array of shape "
            f"{mask.shape} and type {mask.dtype}"
        )


def lowest_share(scores: Array, weights: Array, share: float) -> Array:
    """Return which rows are the lowest-scoring share by weight, at least one, ties included."""
    level = np.quantile(scores, share, weights=weights, method="inverted_cdf")
    return np.asarray(scores <= level)


def no_strong_negatives(scores: Array, n_shared: int) -> ValueError:
    """Return the error to raise when the loop cannot begin."""
    seen = f"between {scores.min():.4g} and {scores.max():.4g}" if scores.size else "absent"
    also = f"; {n_shared} more equal a positive" if n_shared else ""
    return ValueError(
        "the mapper found no strong negatives: the scores of the unlabelled rows are "
        f"{seen}, and only those below 0 are strong negatives{also}. Use a narrower kernel "
        "(larger gamma), a mapper without slack (map_slack=0), or map_fallback=0.05 to begin with "
        "the lowest-scoring share of the unlabelled rows"
    )
