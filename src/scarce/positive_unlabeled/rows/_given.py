"""What `fit` was given: the rows, and what their labels mean."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from scarce._arrays import Array
from scarce._classes import check_labels
from scarce._data import FeatureNames, comes_in_chunks
from scarce._frame import checked_weights, note
from scarce._warnings import ScarceDataWarning
from scarce.positive_unlabeled.rows._row_source import RowSource, checked_rows

UNLABELED_WORDS = frozenset(
    """
    unlabelled unlabeled unlabelled_rows unlabeled_rows unlabel unknown unk unsure undefined
    undetermined unspecified unseen unchecked unreviewed unannotated unclassified untagged unrated
    none null nan na n/a missing blank empty other others rest background ? -
    """.split()
) | {""}
"""Words that mean "unlabelled", compared without regard to case and surrounding space."""


class Labels(NamedTuple):
    """What labels mean: the two answers, the positive one, and which rows are of which kind."""

    classes: Array
    pos_label: Any
    positive: Array
    negative: Array


def read_labels(y: Array, pos_label: Any, name: str, *, neg_label: Any = None) -> Labels:
    """Return which rows are labelled as positive, and which were checked and are not.

    ``pos_label``: the positive one; None to settle it by `UNLABELED_WORDS`, else the one that sorts
    last. ``neg_label``: the label of rows that were checked and do not belong to the class, in
    place of which the answers have the label of unlabelled rows if it is None.
    """
    check_labels(y)
    classes = np.unique(y)
    negative = np.zeros(y.shape[0], bool)
    if neg_label is not None:
        if pos_label is not None and pos_label == neg_label:
            raise ValueError(f"pos_label and neg_label must differ, got {neg_label!r} for both")
        negative = np.asarray(y == neg_label)
        if not negative.any():
            note(
                f"neg_label={neg_label!r} is the label of no row: y has {classes.tolist()[:5]}, "
                "and there are no checked negatives.",
                ScarceDataWarning,
            )
        classes = classes[classes != neg_label]
    if len(classes) > 2:
        raise ValueError(_too_many(classes, name, neg_label))
    if len(classes) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got 1 class: positive and "
            f"unlabelled rows are needed, and every row is {classes.tolist()[0]!r}"
            if len(classes)
            else f"neg_label={neg_label!r} is the label of every row; positive and unlabelled rows "
            "are needed too"
        )
    if pos_label is None:
        pos_label = _settled(classes)
    elif pos_label not in classes.tolist():
        raise ValueError(
            f"pos_label must be one of the labels {classes.tolist()}, got {pos_label!r}"
        )
    which = int(pos_label == classes[1])
    positive = np.asarray(y == classes[which])
    if neg_label is not None:  # what is not positive is negative, not unlabelled
        classes = np.unique(np.array([neg_label, classes.tolist()[which]], dtype=y.dtype))
        which = int(pos_label == classes[1])
    return Labels(classes, classes.tolist()[which], positive, negative)


def _too_many(classes: Array, name: str, neg_label: Any) -> str:
    """Return an error for more than two labels besides that of checked negatives."""
    beside = "" if neg_label is None else f" beside neg_label={neg_label!r}"
    found = f"The target has {len(classes)} classes{beside}"
    if len(classes) == 3 and neg_label is None:
        found += f" {classes.tolist()}; if one of them means a checked negative, name it neg_label"
    return (
        f"Only binary classification is supported. {found}; "
        "y must have one value for positive rows and one for unlabelled ones. To take each "
        "class against all rows, wrap the estimator: "
        f"sklearn.multiclass.OneVsRestClassifier({name}())."
    )


def _settled(classes: Array) -> Any:
    first, second = classes.tolist()
    unlabelled = [
        isinstance(label, str) and label.strip().lower() in UNLABELED_WORDS
        for label in (first, second)
    ]
    if unlabelled[0] != unlabelled[1]:
        return first if unlabelled[1] else second
    # False and True, 0 and 1, -1 and 1: everybody means the second.
    if isinstance(first, str) or not first <= 0 < second:
        note(
            f"pos_label=None: {second!r} is taken for the label of positive rows, and {first!r} "
            "for that of unlabelled ones, because it sorts last; name the positive label as "
            "pos_label.",
            ScarceDataWarning,
        )
    return second


def refuse_missing(y: Any) -> None:
    """Refuse labels that are missing values: an answer must have a label too."""
    values = np.ravel([] if y is None else np.asarray(y))  # no labels at all: said elsewhere
    missing = np.zeros(values.shape, bool)
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype == object:
        missing = np.array([v is None or type(v).__name__ == "NAType" or v != v for v in values])
    if missing.any():
        raise ValueError(
            f"Input y contains NaN or None, in {int(missing.sum())} of {missing.size} rows: give "
            'unlabelled rows a label of their own, such as 0 or "unlabelled"'
        )


def check_both(positive: Array, unlabelled: Array, weights: Array) -> None:
    """Refuse rows with weights of one kind only."""
    n_positive = int((positive & (weights > 0)).sum())
    n_unlabelled = int((unlabelled & (weights > 0)).sum())
    if not (n_positive and n_unlabelled):
        raise ValueError(
            "Invalid input - all samples with positive weights belong to the same class: "
            f"{n_positive} positive rows and {n_unlabelled} unlabelled ones."
        )


@dataclass(frozen=True)
class Given:
    """Checked rows."""

    rows: RowSource  # the rows
    # positive, negative: (n,): which are labelled as positive, and which were checked and are not
    positive: Array
    negative: Array
    weights: Array  # (n,): their weights, not negative
    weighted: bool  # whether they were given

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
            refuse_missing(y)
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
