"""Folds of whole groups for learning from proportions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from scarce._arrays import Array
from scarce._frame import num_samples
from scarce.proportions import read_groups


class GroupShareKFold(GroupKFold):
    """Split groups into folds and leave the rows without a group in every training set.

    What :class:`sklearn.model_selection.GroupKFold` is to labelled rows, for the groups of
    `GroupProbabilitySVM` and `TransferGroupProbabilitySVM`: their common rows (id -1) help in every
    fit and are never tested, since they have no proportion; no more are leftover rows (-2, None or
    NaN). Ids may be numbers or text or both.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of groups.
    shuffle : bool, default=False
        Whether groups are dealt to folds at random instead of so that the folds are of equal size.
    random_state : int, RandomState instance or None, default=None
        The order, if shuffled.

    See Also
    --------
    GroupErrorScorer : The score to use with it.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.model_selection import GroupShareKFold
    >>> groups = ["north", "north", "south", "south", -1]
    >>> for train, test in GroupShareKFold(2).split(np.zeros((5, 1)), groups=groups):
    ...     print(train, test)
    [0 1 4] [2 3]
    [2 3 4] [0 1]
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the rows of every training and test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows; only their number matters.
        y : Ignored
            Not used, present for API consistency by convention.
        groups : array-like of shape (n_samples,)
            Group of each row.

        Yields
        ------
        train : ndarray of int
            All rows but those of the groups tested.
        test : ndarray of int
            The rows of some groups.
        """
        if groups is None:
            raise ValueError("groups must be the group of each row, got None")
        codes, _ = read_groups(groups, num_samples(X))
        grouped, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        for train, test in super().split(grouped, groups=codes[grouped]):
            yield np.sort(np.concatenate([others, grouped[train]])), grouped[test]
