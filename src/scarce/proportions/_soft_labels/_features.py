"""Rows as features for the logistic regression of soft labels, and the model as a kernel sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from scarce._arrays import Array
from scarce.kernels import Kernel, landmark_root
from scarce.proportions._groups import Bags
from scarce.proportions._space import BagSpace, LandmarkSpace

N_LANDMARKS = 200
MOST_SOFT_ROWS = 8_000  # that soft labels are given to
ENOUGH_ROWS = 50  # of a group, below which it is taken whole or not at all


class LinearRows:
    """The rows themselves."""

    def rows(self, X: Any, rows: Array) -> Any:
        """Return the features of some rows of X."""
        return X[rows]


class LandmarkRows:
    """Kernel values with landmark rows times a root of their inverse (Nystroem)."""

    def __init__(self, X: Any, kernel: Kernel, landmarks: Array, root: Array | None) -> None:
        self.kernel, self.landmarks = kernel, landmarks
        self.vectors = None if kernel.pairwise else X[landmarks]
        if root is None:
            root = landmark_root(self._values(X, landmarks)).root
        self.root = root

    def _values(self, X: Any, rows: Array) -> Array:
        if self.kernel.pairwise:
            return np.asarray(X[np.ix_(rows, self.landmarks)], dtype=np.float64)
        return self.kernel.values(X[rows], self.vectors)

    def rows(self, X: Any, rows: Array) -> Any:
        """Return the features of some rows of X."""
        return self._values(X, rows) @ self.root


def feature_rows(
    X: Any, bags: Bags, kernel: Kernel, space: BagSpace, random_state: Any
) -> LinearRows | LandmarkRows:
    """Return the features of a kernel: those of the fit if it has some, else of 200 landmarks."""
    if kernel.explicit:
        return LinearRows()
    if isinstance(space, LandmarkSpace):
        return LandmarkRows(X, kernel, space.landmarks, space.root)
    return LandmarkRows(X, kernel, _landmarks(X, bags.rows, kernel, random_state), None)


def _landmarks(X: Any, rows: Array, kernel: Kernel, random_state: Any) -> Array:
    """Return landmarks among distinct rows, so that repeating rows changes nothing.

    The same at every fit, unless a random state is given.
    """
    if not kernel.opaque:
        columns = rows if kernel.pairwise else slice(None)
        part = X[rows][:, columns]
        direction = np.random.default_rng(0).normal(size=part.shape[1])
        keys = np.round(np.asarray(part @ direction, dtype=np.float64), 6)
        rows = rows[np.sort(np.unique(keys, return_index=True)[1])]
    random = check_random_state(0 if random_state is None else random_state)
    return np.sort(rows[random.permutation(rows.size)[:N_LANDMARKS]])


def row_steps(counts: Array) -> Array:
    """Return for every group the step at which its rows are given soft labels; 0 for none.

    All rows, if they are not too many; else rows at equal steps, and where groups are many and
    small, groups at equal steps.
    """
    if counts.sum() <= MOST_SOFT_ROWS:
        return np.ones(counts.size, np.intp)
    steps = -(-counts // max(ENOUGH_ROWS, MOST_SOFT_ROWS // counts.size))
    some = max(1, min(counts.size, int(counts.size * MOST_SOFT_ROWS / (counts / steps).sum())))
    chosen = np.unique(np.linspace(0, counts.size - 1, some).round().astype(np.intp))
    return np.where(np.isin(np.arange(counts.size), chosen), steps, 0)


def chosen_rows(codes: Array, n_groups: int) -> Array:
    """Return positions of rows to give soft labels to; codes of rows of no group are negative."""
    rows = np.flatnonzero(codes >= 0)
    counts = np.bincount(codes[rows], minlength=n_groups)
    steps = row_steps(counts)
    order = rows[np.argsort(codes[rows], kind="stable")]
    places = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
    own = steps[codes[order]]
    return np.sort(order[(own > 0) & (places % np.maximum(own, 1) == 0)])
