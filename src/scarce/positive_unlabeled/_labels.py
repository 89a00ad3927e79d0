"""Which of two labels is the positive one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from scarce._arrays import Array
from scarce._frame import note
from scarce._warnings import ScarceDataWarning

UNLABELED_WORDS = frozenset(
    """
    unlabelled unlabeled unlabelled_rows unlabeled_rows unlabel unknown unk unsure undefined
    undetermined unspecified unseen unchecked unreviewed unannotated unclassified untagged unrated
    none null nan na n/a missing blank empty other others rest background ? -
    """.split()
) | {""}
"""Words that mean "unlabelled", compared without regard to case and surrounding space."""


def positive_rows(y: Array, pos_label: Any, name: str) -> tuple[Array, Any, Array]:
    """Return the two labels, the positive one of them, and which rows have it.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    pos_label : label or None
        The positive one; None to settle it by `UNLABELED_WORDS`, else the one that sorts last.
    name : str
        The estimator's, for errors.

    Returns
    -------
    tuple
        ``classes``, ``pos_label`` and a mask.
    """
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The target has {len(classes)} classes; "
            "y must have one value for positive rows and one for unlabelled ones. To take each "
            "class against all rows, wrap the estimator: "
            f"sklearn.multiclass.OneVsRestClassifier({name}())."
        )
    if len(classes) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got 1 class: positive and "
            f"unlabelled rows are needed, and every row is {classes[0]!r}"
        )
    if pos_label is None:
        pos_label = _settled(classes)
    elif pos_label not in classes.tolist():
        raise ValueError(
            f"pos_label must be one of the labels {classes.tolist()}, got {pos_label!r}"
        )
    which = int(pos_label == classes[1])
    return classes, classes.tolist()[which], np.asarray(y == classes[which])


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


def check_both(positive: Array, weights: Array, classes: Array, pos_label: Any) -> None:
    """Refuse rows with weights of one label only."""
    rest = classes[0] if pos_label == classes[1] else classes[1]
    taking_part = weights > 0
    n_positive = int((positive & taking_part).sum())
    n_unlabelled = int((~positive & taking_part).sum())
    if not (n_positive and n_unlabelled):
        raise ValueError(
            "Invalid input - all samples with positive weights belong to the same class: "
            f"{n_positive} positive rows ({pos_label!r}) and {n_unlabelled} unlabelled ones "
            f"({rest!r})."
        )
