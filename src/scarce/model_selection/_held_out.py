"""When to end rounds that shrink a class: recall of positives that were not trained on."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from scarce._arrays import Array
from scarce._frame import Interval, check_parameters
from scarce.positive_unlabeled import best_round


class HeldOutPositives(BaseEstimator):
    """Keep the round that is best by positives held out, a rule for `MappingConvergence`'s `stop`.

    If the labelled positives cover their class badly, every round cuts off more of it, and recall
    on the positives trained on does not show that. Here some are held out. Each round is judged by
    the squared recall on them over the proportion of unlabelled rows still accepted (see
    :func:`lee_liu_score`): it rises while negatives are rejected and falls when positives are.

    Parameters
    ----------
    fraction : float, default=0.2
        Proportion of the positives held out, at least one row.
    patience : int, default=3
        Rounds without improvement after which the loop ends.
    random_state : int, RandomState instance or None, default=None
        Choice of the positives held out.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import SVMC
    >>> from scarce.model_selection import HeldOutPositives
    >>> random = np.random.default_rng(0)
    >>> X = np.r_[random.normal(size=(60, 2)), random.uniform(-9, 9, size=(300, 2))]
    >>> y = np.r_[np.ones(40), np.zeros(320)]
    >>> model = SVMC(stop=HeldOutPositives(random_state=0)).fit(X, y)
    >>> len(model.history_["held_out_recall"]) == model.n_rounds_
    True
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, *, fraction: float = 0.2, patience: int = 3, random_state: Any = None
    ) -> None:
        self.fraction = fraction
        self.patience = patience
        self.random_state = random_state

    def hold_out(self, n_positives: int) -> Array:
        """Return which positives are held out.

        Parameters
        ----------
        n_positives : int
            Number of positives, at least 2.

        Returns
        -------
        ndarray of int
            Their positions, sorted.
        """
        check_parameters(self)
        if n_positives < 2:
            raise ValueError(f"holding out positives needs at least 2 of them, got {n_positives}")
        size = min(n_positives - 1, max(1, round(self.fraction * n_positives)))
        random = check_random_state(self.random_state)
        return np.sort(random.permutation(n_positives)[:size])

    def __call__(self, history: dict[str, list[Any]]) -> tuple[int, bool]:
        """Judge the rounds so far.

        Parameters
        ----------
        history : dict of lists
            With "held_out_recall" and "accepted_share", that of the unlabelled rows.

        Returns
        -------
        best : int
            The best round, counted from 0; of equal ones the latest.
        go_on : bool
            Whether another round is worth a try.
        """
        return best_round(history, self.patience)
