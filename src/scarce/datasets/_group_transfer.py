"""Two domains with common rows, the target's labels known as group shares only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce.datasets._dataset import Array


@dataclass(frozen=True, eq=False)
class GroupTransferData:
    """A problem of transfer from group shares, after Ni, Wang, Shi and Zhang (2013)."""

    X_source: Array
    y_source: Array
    """Labels 0 and 1."""
    X_target: Array
    y_target: Array
    """Labels 0 and 1, for scoring only: the learner knows the shares."""
    is_common: Array
    """Which target rows belong to the source as well. They may be in groups too."""
    groups: Array
    """Group of each target row; -1 for those left over by groups of equal size."""

    @property
    def shares(self) -> Array:
        """Share of label 1 in each group."""
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
            Arguments of ``fit``: common rows with group -1 and no share, then grouped rows with
            the share of their group. A common row in a group occurs twice, rows left over do not.
        """
        first = np.flatnonzero(self.is_common) if common else np.arange(0)
        grouped = np.flatnonzero(self.groups >= 0)
        groups = np.concatenate([np.full(first.size, -1), self.groups[grouped]])
        y = np.concatenate([np.full(first.size, np.nan), self.shares[self.groups[grouped]]])
        return self.X_target[np.concatenate([first, grouped])], y, groups


def group_transfer_split(
    X: Any,
    y: Any,
    *,
    random_state: Any,
    source_share: float = 0.3,
    target_share: float = 0.3,
    common: float = 0.2,
    group_size: int = 8,
) -> GroupTransferData:
    """Split one data set into a source and a target that share some rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    y : array-like of shape (n,)
        Labels 0 and 1.
    random_state : int or Generator
        The seed.
    source_share, target_share : float, default=0.3
        Size of the domains, as shares of the rows.
    common : float, default=0.2
        Number of common rows, as a share of the source's. They count in both domains; the other
        rows of the domains are different ones. (The paper gives the shares only.)
    group_size : int, default=8
        Size of the random groups; rows left over are in none.

    Returns
    -------
    GroupTransferData
        The target begins with its common rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.datasets import group_transfer_split
    >>> split = group_transfer_split(np.eye(100), np.arange(100) % 2, random_state=0)
    >>> split.X_source.shape, split.X_target.shape, int(split.is_common.sum())
    ((30, 100), (30, 100), 6)
    """
    X, y = np.asarray(X), np.asarray(y)
    rng = np.random.default_rng(random_state)
    n_source, n_target = round(source_share * len(X)), round(target_share * len(X))
    n_common = _number_common(common, n_source)
    if n_source < 1 or n_target < n_common or n_source + n_target - n_common > len(X):
        raise ValueError(
            f"source_share={source_share}, target_share={target_share} and common={common} cannot "
            f"be had from {len(X)} rows: {n_source} and {n_target} rows with {n_common} in common"
        )
    order = rng.permutation(len(X))
    source = order[:n_source]
    target = np.concatenate([order[:n_common], order[n_source:][: n_target - n_common]])
    return GroupTransferData(
        X[source],
        y[source],
        X[target],
        y[target],
        is_common=np.arange(n_target) < n_common,
        groups=equal_groups(n_target, group_size, random_state=rng),
    )


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
    is_common[rng.permutation(len(X))[: _number_common(common, len(X))]] = True
    return GroupTransferData(
        X,
        y,
        np.where(is_common[:, None], X, moved),
        y.copy(),
        is_common=is_common,
        groups=equal_groups(len(X), group_size, random_state=rng),
    )


def _number_common(common: float, n: int) -> int:
    if not 0.0 <= common <= 1.0:
        raise ValueError(f"common must be between 0 and 1, got {common}")
    return round(common * n)
