"""Labels of two classes, or of several; several by one model for every pair of them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from scarce._arrays import Array

if TYPE_CHECKING:
    from scarce.chunks import Survey

ONE_CLASS_LEFT = "Invalid input - all samples with positive weights belong to the same class."


def check_labels(y: Array) -> None:
    """Refuse what are no labels, and labels that have no order among each other."""
    if y.dtype == object:
        firsts = {isinstance(label, str): label for label in y[::-1] if label is not None}
        if len(firsts) > 1:
            raise ValueError(
                f"y has labels that are texts and others that are not, such as {firsts[True]!r} "
                f"and {firsts[False]!r}: give all as texts, or all as numbers"
            )
    check_classification_targets(y)


def _classes_of(y: Array) -> tuple[Array, Array]:
    """Return the labels and each row's place among them; refuse what are no labels."""
    # Words and whole numbers are labels, unless nearly all differ.
    kind = y.dtype.kind
    plain = kind in "iubU" or (kind == "f" and bool((y == y.astype(np.int64)).all()))
    if not plain:
        check_labels(y)
    classes = np.unique(y)
    codes = classes.searchsorted(y)
    if plain and 2 * len(classes) > len(y):
        check_labels(y)
    return classes, codes


def two_classes(
    y: Array, weights: Array, name: str, one_class_left: str = ONE_CLASS_LEFT, advice: str = ""
) -> tuple[Array, Array]:
    """Return the two labels and a sign per row, +1 for the second; refuse any other number.

    ``name`` is the estimator's; ``advice`` comes before that to wrap it when classes are more.
    """
    classes, codes = _classes_of(y)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The target has {len(classes)} classes; "
            f"{advice}wrap the estimator: sklearn.multiclass.OneVsOneClassifier({name}())."
        )
    if len(classes) < 2:
        raise ValueError("The number of classes has to be greater than one; got 1 class")
    if np.unique(codes[weights > 0]).size < 2:
        raise ValueError(one_class_left)
    return classes, 2.0 * codes - 1.0


def several_classes(
    y: Array, weights: Array, one_class_left: str = ONE_CLASS_LEFT
) -> tuple[Array, Array]:
    """Return the labels and each row's place among them; refuse one class, or one without weight.

    ``one_class_left`` is what to say when the weights leave one class.
    """
    classes, codes = _classes_of(y)
    if len(classes) < 2:
        raise ValueError("The number of classes has to be greater than one; got 1 class")
    rows = np.bincount(codes[weights > 0], minlength=len(classes))
    present = np.count_nonzero(rows)
    if present < 2:
        raise ValueError(one_class_left)
    if present < len(classes):
        raise ValueError(
            f"class {classes[rows.argmin()]!r} has no sample with a positive weight: leave its "
            "samples out"
        )
    return classes, codes


def with_labels_only(y: Any, labelled: Array) -> Array:
    """Return `y` with some row's label in place of whatever the rows without label hold."""
    labels: Array = np.array(y)
    if labels.shape == labelled.shape and labelled.any():
        labels[~labelled] = labels[labelled][0]
    return labels


def check_lengths(X: Any, y: Array) -> None:
    """Refuse labels whose number is not that of the rows."""
    if y.shape[0] != X.shape[0]:
        raise ValueError(
            f"X and y have incompatible shapes: X has {X.shape[0]} samples, but y has {y.shape[0]}."
        )


def check_classes(found: Survey, one_class_left: str, name: str) -> Array:
    """Return the two labels that a read of all rows found; refuse any other number."""
    classes = found.classes
    if classes.size > 2:
        raise ValueError(
            f"rows in chunks can be of two classes, got {classes.size}; fit every pair of them: "
            f"sklearn.multiclass.OneVsOneClassifier({name}(...)) on rows in memory"
        )
    if classes.size == 0:
        raise ValueError(f"{name} needs y, one label per row; rows in chunks came without")
    if classes.size < 2:
        raise ValueError("The number of classes has to be greater than one; got 1 class")
    if not found.totals.all():
        raise ValueError(one_class_left)
    return classes


# Pairs of classes in LIBSVM's layout: (0, 1), (0, 2), ..., (1, 2), ...; a decision of a pair is
# positive for its first class. A support vector of class c has a coefficient in each of the
# ``n_classes - 1`` pairs that c is in: row l of `dual_coef_` holds that of the pair with class l,
# or l + 1 from c on.


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return all pairs of classes in LIBSVM's order."""
    return list(combinations(range(n_classes), 2))


def pair_coefficients(values: list[Array], codes: Array, n_classes: int) -> Array:
    """Return the table of coefficients, one column per sample, from those of the pairs.

    ``values``: for every pair, one value for each row of its two classes, in the order of the rows.
    """
    table = np.zeros((n_classes - 1, codes.size))
    for (first, second), value in zip(class_pairs(n_classes), values, strict=True):
        own = codes[(codes == first) | (codes == second)]
        table[second - 1, codes == first] = value[own == first]
        table[first, codes == second] = value[own == second]
    return table


def of_pair(table: Array, codes: Array, pair: tuple[int, int]) -> Array:
    """Return the values of the rows of two classes, in the order of the rows."""
    first, second = pair
    rows = (codes == first) | (codes == second)
    return np.asarray(np.where(codes[rows] == first, table[second - 1, rows], table[first, rows]))


def pair_sums(parts: Any, n_classes: int) -> Array:
    """Return what every pair adds up to.

    ``parts``: sums over the support vectors of each class with each row of coefficients.
    """
    return np.array([parts[i, j - 1] + parts[j, i] for i, j in class_pairs(n_classes)])


def class_totals(values: Array, n_classes: int) -> Array:
    """Return for each class the sum over its pairs of what is for it.

    ``values``: what each pair has for its first class; the opposite is for its second.
    """
    totals = np.zeros((values.shape[0], n_classes))
    for column, (first, second) in zip(values.T, class_pairs(n_classes), strict=True):
        totals[:, first] += column
        totals[:, second] -= column
    return totals


def most_votes(decisions: Array, n_classes: int) -> Array:
    """Return the class that wins most pairs, the first of several; zero is for the second."""
    return np.asarray(class_totals(np.where(decisions > 0, 1, -1), n_classes).argmax(axis=1))


def one_vs_rest(decisions: Array, n_classes: int) -> Array:
    """Return a decision for each class: the pairs it wins, and by less than half its confidence.

    As in scikit-learn a decision of zero is here for the pair's first class.
    """
    votes = 0.5 * (class_totals(np.where(decisions >= 0, 1, -1), n_classes) + n_classes - 1)
    sums = class_totals(decisions, n_classes)
    return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))
