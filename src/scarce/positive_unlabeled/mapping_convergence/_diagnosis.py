"""Whether a mapping-convergence fit has found the class, or only the rows it was shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce._frame import collected_notes, note
from scarce._warnings import ScarceDataWarning
from scarce.positive_unlabeled.bags._threshold import wilson
from scarce.positive_unlabeled.mapping_convergence._training import Trained
from scarce.reductions import NoMarginError

FOLDS = 5
FAR_BELOW = 0.2  # of the recall on the positives trained on
ALMOST_NOTHING, ALMOST_EVERYTHING = 0.002, 0.95  # of the unlabelled weight


@dataclass(frozen=True)
class Diagnosis:
    """Recall of positives that a refit was not trained on, and their weight."""

    recall: float
    held_out_recall: float
    weight: float
    accepted: float

    @property
    def fault(self) -> str:
        """What is wrong, or nothing."""
        faults = []
        if self.held_out_recall < self.recall - FAR_BELOW:
            faults.append(
                f"recall is {self.recall:.3g} on the positives trained on, but "
                f"{self.held_out_recall:.3g} on those left out of a refit"
            )
        if self.accepted < ALMOST_NOTHING:
            faults.append(f"it accepts {self.accepted:.3g} of the unlabelled weight, almost none")
        elif self.accepted > ALMOST_EVERYTHING:
            faults.append(f"it accepts {self.accepted:.3g} of the unlabelled weight, almost all")
        return "; ".join(faults)

    @property
    def prior_interval(self) -> tuple[float, float]:
        """Interval of the class prior if what is accepted belongs to the class.

        The proportion accepted is a part of the class, as large as the recall, and that is known
        from the positives held out.
        """
        low, high = wilson(self.held_out_recall, self.weight)
        most = min(1.0, self.accepted / low) if low > 0 else 1.0
        return min(1.0, self.accepted / high), most

    def warn(self) -> None:
        """Say what is wrong."""
        if self.fault:
            note(
                f"the boundary cannot be trusted: {self.fault}. Use PositiveUnlabeledSVC, a wider "
                "kernel (smaller gamma), or label more rows.",
                ScarceDataWarning,
            )


def held_out_recall(
    positives: Array,
    negatives: Array,
    keys: Array,
    weights: Array,
    train: Callable[[Array, Array], Trained],
    inside: Callable[[Trained, Array], Array],
) -> float:
    """Refit the final training set without each fold of the positives; return their recall.

    Folds are those of the different rows in the order of their ``keys``, one per row of the
    positives, so that equal rows are left out together and nothing is random. NaN for fewer than
    two different rows.
    """
    distinct, which = np.unique(keys, return_inverse=True)
    if distinct.size < 2:
        return float("nan")
    fold = which % min(FOLDS, distinct.size)
    found = 0.0
    for number in range(fold.max() + 1):
        left = positives[fold == number]
        with collected_notes():  # said of the whole fit
            try:
                trained = train(positives[fold != number], negatives)
            except NoMarginError:
                continue
        found += float(weights[left[inside(trained, left)]].sum())
    return found / float(weights[positives].sum())
