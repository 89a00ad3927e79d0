"""What a loader returns, and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class DatasetNotFoundError(FileNotFoundError):
    """The data set is in none of the places looked at and could not be downloaded."""


class DatasetMismatchError(ValueError):
    """The file is damaged, or its rows or classes are not those of the data set."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as it was read, nothing encoded or left out."""

    name: str
    data: Array
    """Table ``(n, d)`` of floats, images ``(n, 32, 32)``, or texts ``(n,)``.

    In a table NaN is a missing value and a category is its position in `categories`.
    """
    target: Array
    """Label of each row, as text; for face images the number of the person."""
    feature_names: tuple[str, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values of each categorical feature, sorted."""
    extra: Mapping[str, Array] = field(default_factory=dict)
    """What else is known of each row, by name."""
    source: str = ""
    """Where it was read from."""

    def labels_of(self, feature: str) -> Array:
        """Return the values of a categorical feature as text, empty where missing.

        Parameters
        ----------
        feature : str
            A name in `categories`.

        Returns
        -------
        ndarray of str, shape (n,)
        """
        codes = self.data[:, self.feature_names.index(feature)]
        names = np.array([*self.categories[feature], ""])
        return np.asarray(names[np.where(np.isnan(codes), -1, codes).astype(int)])
