"""Two domains with common rows, the target's labels known as group proportions only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import Array


@dataclass(frozen=True, eq=False)
class GroupTransferData:
    """A problem of transfer from group proportions, after Ni, Wang, Shi and Zhang (2013).

    Attributes
    ----------
    X_source, y_source : ndarray
        Rows of the source and their labels, 0 and 1.
    X_target : ndarray of shape (n, d)
        Rows of the target.
    y_target : ndarray of shape (n,)
        Labels 0 and 1, for scoring only: the learner knows the proportions.
    is_common : ndarray of bool of shape (n,)
        Which target rows belong to the source as well. They may be in groups too.
    groups : ndarray of int of shape (n,)
        Group of each target row; -1 for those left over by groups of equal size.
    """

    X_source: Array
    y_source: Array
    X_target: Array
    y_target: Array
    is_common: Array
    groups: Array

    @property
    def shares(self) -> Array:
        """Proportion of label 1 in each group."""
        grouped = self.groups >= 0
        counts = np.bincount(self.groups[grouped])
        return np.asarray(np.bincount(self.groups[grouped], self.y_target[grouped]) / counts)

    def training_rows(self, *, common: bool = True) -> tuple[Array, Array, Array]:
        """Return what the target stage learns from.

        Parameters
        ----------
        common : bool, default=True
            Whether to begin with the common rows, which need a source model.

        Returns
        -------
        X, y, groups : ndarray
            Arguments of ``fit``: common rows with group -1 and no proportion, then grouped rows
            with the proportion of their group. A common row in a group occurs twice, rows left
            over do not.
        """
        first = np.flatnonzero(self.is_common) if common else np.arange(0)
        grouped = np.flatnonzero(self.groups >= 0)
        groups = np.concatenate([np.full(first.size, -1), self.groups[grouped]])
        y = np.concatenate([np.full(first.size, np.nan), self.shares[self.groups[grouped]]])
        return self.X_target[np.concatenate([first, grouped])], y, groups


def equal_groups(n: int, size: int, *, random_state: Any) -> Array:
    """Put rows into random groups of one size.

    Parameters
    ----------
    n : int
        Number of rows.
    size : int
        Rows of a group. There are ``n // size`` groups.
    random_state : int or Generator
        The seed.

    Returns
    -------
    ndarray of int, shape (n,)
        Group of each row, from 0; -1 for the ``n % size`` rows left over.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.datasets import equal_groups
    >>> np.unique(equal_groups(10, 4, random_state=0), return_counts=True)
    (array([-1,  0,  1]), array([2, 4, 4]))
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    groups = np.arange(n) // size
    groups[groups == n // size] = -1
    return np.asarray(np.random.default_rng(random_state).permutation(groups))


def partly_moved(
    X: Array, y: Array, moved: Array, *, common: float, group_size: int, rng: np.random.Generator
) -> GroupTransferData:
    """Return the problem whose target is `moved`, common rows excepted; row by row the source."""
    is_common = np.zeros(len(X), dtype=bool)
    is_common[rng.permutation(len(X))[: number_common(common, len(X))]] = True
    return GroupTransferData(
        X,
        y,
        np.where(is_common[:, None], X, moved),
        y.copy(),
        is_common=is_common,
        groups=equal_groups(len(X), group_size, random_state=rng),
    )


def number_common(common: float, n: int) -> int:
    """Return how many of n rows are common."""
    if not 0.0 <= common <= 1.0:
        raise ValueError(f"common must be between 0 and 1, got {common}")
    return round(common * n)
