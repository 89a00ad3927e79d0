"""Rows as features whose inner products are the kernel, linear or of low rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.kernels import Kernel, landmark_root
from scarce.kernels.rows._prepared import prepare_pair
from scarce.kernels.sums._sums import PANEL_COLUMNS
from scarce.parallel import TILE_ROWS


@dataclass(frozen=True)
class LinearFeatures:
    """The rows themselves."""

    width: int  # number of columns

    @property
    def rank(self) -> int:
        """Number of features."""
        return self.width

    def raw(self, X: Array) -> Array:
        """Return what a pass adds up, in float64."""
        return np.ascontiguousarray(X, dtype=np.float64)

    def rows(self, X: Array) -> Array:
        """Return the features of rows."""
        return self.raw(X)

    def from_raw(self, sums: Array) -> Array:
        """Return sums of features from sums of raw numbers, along the last axis."""
        return sums

    def to_raw(self, vectors: Array) -> Array:
        """Return vectors in features as vectors in raw numbers."""
        return vectors


@dataclass(frozen=True)
class LandmarkFeatures:
    """The projection on a few landmark rows (Nystroem): ``k(x, landmarks) root``.

    Raw numbers are the kernel values; they are multiplied by the root only where features of single
    rows are wanted, sums are multiplied once.
    """

    kernel: Kernel  # A kernel with a formula
    landmarks: Array  # (m, d): the rows
    root: Array  # (m, rank): root of the pseudo-inverse of their kernel matrix

    @property
    def width(self) -> int:
        """Number of landmarks."""
        return int(self.landmarks.shape[0])

    @property
    def rank(self) -> int:
        """Number of features."""
        return int(self.root.shape[1])

    def raw(self, X: Array) -> Array:
        """Return the kernel values with the landmarks, in float64, in this thread."""
        left, right = prepare_pair(self.kernel, X, self.landmarks)
        left, right = left.cast(np.float64), right.cast(np.float64)
        values = np.empty((left.n, right.n))
        whole = right.n <= PANEL_COLUMNS
        for panel in right.panels(PANEL_COLUMNS):
            for start in range(0, left.n, TILE_ROWS):
                stop = min(left.n, start + TILE_ROWS)
                if whole:
                    left.write(start, stop, panel, values[start:stop])
                    continue
                tile = np.empty((stop - start, panel.n))
                left.write(start, stop, panel, tile)
                values[start:stop, panel.first : panel.first + panel.n] = tile
        return values

    def rows(self, X: Array) -> Array:
        """Return the features of rows."""
        return np.asarray(self.raw(X) @ self.root)

    def from_raw(self, sums: Array) -> Array:
        """Return sums of features from sums of kernel values, along the last axis."""
        return np.asarray(sums @ self.root)

    def to_raw(self, vectors: Array) -> Array:
        """Return vectors in features as combinations of landmarks."""
        return np.asarray(vectors @ self.root.T)


Features = LinearFeatures | LandmarkFeatures


def landmark_features(kernel: Kernel, landmarks: Array) -> LandmarkFeatures:
    """Return the features that landmark rows give.

    ``kernel``: a kernel with a formula, its parameters numbers. ``landmarks``: the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.chunks import landmark_features
    >>> from scarce.kernels import make_kernel
    >>> X = np.array([[0.0], [1.0]])
    >>> phi = landmark_features(make_kernel("rbf", gamma=1.0), X).rows(X)
    >>> (phi @ phi.T).round(6)
    array([[1.      , 0.367879],
           [0.367879, 1.      ]])
    """
    kernel.require_formula()
    return LandmarkFeatures(
        kernel, landmarks, landmark_root(kernel.values(landmarks, landmarks)).root
    )
