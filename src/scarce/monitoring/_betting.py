"""Bets against the uniformity of p-values: a test martingale.

The capital begins at 1, and each bet multiplies it by a density on [0, 1] at the next p-value. Of
independent uniform p-values a bet's expected factor is 1, so that the capital ever reaches
1 / alpha with a probability of at most alpha (Ville's inequality), however the bets are chosen
from the past.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
from numpy.typing import ArrayLike

from scarce._arrays import Array

# Linear bets on low and on high p-values, none at all, and one on a few very low ones.
RATES = (-2.0, -1.0, 0.0, 1.0, 2.0)
TAIL = 0.5
# Part of the capital that moves to the other bets after each row: the slower, the more is won from
# a small lasting change; the faster, the sooner a change after a long quiet time is seen.
MOVES = (1e-2, 1e-3, 1e-4)
N_BETS = len(RATES) + 1
LEAST_P = 1e-300  # a power of which is a number


def bets(p_values: Array) -> Array:
    """Return the factor of each bet at each p-value, of shape (n, n_bets).

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.monitoring._betting import bets
    >>> bets(np.array([0.25, 1.0]))
    array([[1.5 , 1.25, 1.  , 0.75, 0.5 , 1.  ],
           [0.  , 0.5 , 1.  , 1.5 , 2.  , 0.5 ]])
    """
    linear = 1.0 + np.outer(p_values - 0.5, RATES)
    tail = TAIL * np.maximum(p_values, LEAST_P) ** (TAIL - 1.0)
    return np.column_stack([linear, tail])


class Capital:
    """What bets on p-values have come to.

    ``parts``: proportions of the capital by bet; equal parts by default. ``log_capital``: logarithm
    of the capital.
    """

    def __init__(self, parts: ArrayLike | None = None, log_capital: float = 0.0) -> None:
        n = len(MOVES) * N_BETS
        self.parts = np.full((len(MOVES), N_BETS), 1.0 / n)
        if parts is not None:
            self.parts = np.array(parts, dtype=np.float64).reshape(len(MOVES), N_BETS)
        self.log_capital = log_capital

    def bet(self, p_values: Array) -> Array:
        """Return the logarithm of the capital after each p-value."""
        found = np.empty(p_values.size)
        lines = [list(map(float, line)) for line in self.parts]
        now = self.log_capital
        for i, factors in enumerate(bets(p_values).tolist()):
            total = 0.0
            for line, move in zip(lines, MOVES, strict=True):
                shared = move * sum(line) / N_BETS
                kept = 1.0 - move
                for k, factor in enumerate(factors):
                    line[k] = factor * (kept * line[k] + shared)
                total += sum(line)
            now += log(total)
            for line in lines:
                for k in range(N_BETS):
                    line[k] /= total
            found[i] = now
        self.parts, self.log_capital = np.array(lines), now
        return found


def plain(log_capital: Array) -> Array:
    """Return the capital; infinite where it is no number."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(log_capital))


def one_plain(log_capital: float) -> float:
    """Return the same for one number."""
    return inf if log_capital > 700.0 else exp(log_capital)
