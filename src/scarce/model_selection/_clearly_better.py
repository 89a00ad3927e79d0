"""A search's choice that changes a default only if clearly better."""

from __future__ import annotations

from typing import Any

import numpy as np


class ClearlyBetter:
    """Choose the best candidate of a search, unless a reference is as good up to noise.

    Scores on proportions of held-out groups, or without negatives, are noisy, and the best of many
    candidates is often best by chance. The reference is kept unless the mean of the paired
    differences over the splits is more than `errors` standard errors above zero, of five splits or
    more: fewer hardly estimate their standard deviation. Give it to `GridSearchCV` as `refit`; the
    reference has to be among the candidates.

    Parameters
    ----------
    reference : dict
        Parameters of the candidate to keep, the defaults for instance.
    errors : float, default=2.0
        Standard errors by which another candidate has to be better.

    See Also
    --------
    ShareCrossEntropyScorer : A scorer that this rule suits.

    Examples
    --------
    >>> from scarce.model_selection import ClearlyBetter
    >>> results = {
    ...     "params": [{"C": 1.0}, {"C": 10.0}, {"C": 100.0}],
    ...     "mean_test_score": [0.50, 0.52, 0.49],
    ...     "split0_test_score": [0.40, 0.60, 0.39],
    ...     "split1_test_score": [0.50, 0.40, 0.49],
    ...     "split2_test_score": [0.60, 0.56, 0.59],
    ... }
    >>> ClearlyBetter({"C": 1.0})(results)  # 10 is better by 0.02, give or take 0.09
    0
    """

    def __init__(self, reference: dict[str, Any], errors: float = 2.0) -> None:
        self.reference = reference
        self.errors = errors

    def __call__(self, cv_results: dict[str, Any]) -> int:
        """Return the place of the chosen candidate.

        Parameters
        ----------
        cv_results : dict
            The search's `cv_results_`, of one scorer.

        Returns
        -------
        int
            Its place in ``cv_results["params"]``.
        """
        candidates = list(cv_results["params"])
        if self.reference not in candidates:
            raise ValueError(
                f"reference={self.reference} is not among the {len(candidates)} candidates of the "
                f"search, the first of which is {candidates[0]}"
            )
        kept = candidates.index(self.reference)
        best = int(np.argmax(cv_results["mean_test_score"]))
        splits = [
            name for name in cv_results if name.startswith("split") and name.endswith("_test_score")
        ]
        gains = np.array([cv_results[name][best] - cv_results[name][kept] for name in splits])
        if gains.size < 2:
            raise ValueError("cv must have at least two splits for refit=ClearlyBetter(), got one")
        error = gains.std(ddof=1) / np.sqrt(gains.size)
        return best if gains.mean() > self.errors * error else kept
