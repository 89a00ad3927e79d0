"""What `fit` of the machines for positive and unlabelled rows was given, in memory or in chunks."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from scarce._arrays import Array
from scarce._data import FeatureNames, comes_in_chunks
from scarce._frame import checked_weights
from scarce.positive_unlabeled.rows._labels import Labels, check_both, read_labels
from scarce.positive_unlabeled.rows._row_source import RowSource, checked_rows


@dataclass(frozen=True)
class Given:
    """Checked rows.

    Attributes
    ----------
    rows : RowSource
        The rows.
    positive, negative : ndarray of bool of shape (n,)
        Which are labelled as positive, and which were checked and are not.
    weights : ndarray of shape (n,)
        Their weights, not negative.
    weighted : bool
        Whether they were given.
    """

    rows: RowSource
    positive: Array
    negative: Array
    weights: Array
    weighted: bool

    @property
    def unlabelled(self) -> Array:
        """Which are neither."""
        return ~(self.positive | self.negative)


class GivenRows(FeatureNames):
    """Mixin of estimators of positive and unlabelled rows: what `fit` was given is read here."""

    classes_: Array
    pos_label: Any
    pos_label_: Any
    neg_label: Any = None  # what checked negatives are called, where a subclass has them

    def _given_rows(
        self, X: Any, y: Any, sample_weight: Any, kernel: Any, bytes_a_row: int
    ) -> Given:
        """Return checked rows; features, `classes_` and `pos_label_` are stored.

        ``kernel`` is the learner's; the fit holds ``bytes_a_row`` for every row, wherever that is.
        """
        if comes_in_chunks(X):
            reader = import_module("scarce.positive_unlabeled.rows._chunk_rows")
            found = reader.read_chunks(self, X, y, sample_weight, kernel, bytes_a_row)
            given = Given(*found)
        else:
            rows, y = checked_rows(self, X, kernel, y, reset=True)
            labels = self._settle_labels(y)
            weights = checked_weights(sample_weight, y)
            weighted = sample_weight is not None
            given = Given(rows, labels.positive, labels.negative, weights, weighted)
        check_both(given.positive, given.unlabelled, given.weights)
        return given

    def _settle_labels(self, y: Array) -> Labels:
        """Return what labels mean; store `classes_` and `pos_label_`."""
        labels = read_labels(y, self.pos_label, type(self).__name__, neg_label=self.neg_label)
        self.classes_, self.pos_label_ = labels.classes, labels.pos_label
        return labels
