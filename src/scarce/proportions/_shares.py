"""Helpers around proportions: from labels, from a table to rows, and their error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d

from scarce._arrays import Array
from scarce._frame import plain_weights
from scarce.proportions._groups import group_values, read_groups, read_shares


def group_proportions(
    y: ArrayLike,
    groups: Any,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> dict[Any, Any]:
    """Count the proportions of the classes in every group.

    What the owner of the labels does before only the proportions are handed on.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of the rows.
    groups : array-like of shape (n_samples,)
        Group of each row: any hashable ids. Common rows (-1) and leftover rows (-2, None or NaN)
        are not counted.
    classes : array-like, default=None
        The labels in the order of the proportions; the sorted ones of `y` by default.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    dict
        For every group the proportion of the second of two classes, or an array with the
        proportions of all classes when there are more.

    See Also
    --------
    expand_proportions : The way back to one value per row.

    Examples
    --------
    >>> from scarce.proportions import group_proportions
    >>> group_proportions([1, 0, 1, 1], ["a", "a", "b", "b"])
    {'a': 0.5, 'b': 1.0}
    """
    labels = column_or_1d(y)
    codes, ids = read_groups(groups, labels.size)
    weights = plain_weights(sample_weight, labels)
    known = np.unique(labels) if classes is None else np.asarray(classes)
    unknown = np.setdiff1d(labels[codes >= 0], known)
    if unknown.size:
        raise ValueError(f"y must hold only the classes {known.tolist()}, got {unknown[0]!r}")
    if known.size < 2:
        raise ValueError(
            f"y holds the one class {known.tolist()}; give classes, the labels there could be"
        )
    inside = codes >= 0
    counts = np.array(
        [
            np.bincount(
                codes[inside], weights[inside] * (labels[inside] == label), minlength=len(ids)
            )
            for label in known
        ]
    ).T
    totals = counts.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        nobody = ids[int(np.flatnonzero(totals[:, 0] == 0)[0])]
        raise ValueError(f"every row of group {nobody!r} has sample_weight 0")
    shares = counts / totals
    if known.size == 2:
        return {group: float(share) for group, share in zip(ids, shares[:, 1], strict=True)}
    return dict(zip(ids, shares, strict=True))


def expand_proportions(proportions: Mapping[Any, Any] | ArrayLike, groups: Any) -> Array:
    """Give every row the proportion of its group: the `y` that the estimators take.

    Parameters
    ----------
    proportions : dict or array-like of shape (n_groups,) or (n_groups, n_classes)
        For every group the proportion of positives, or those of several classes. Of an array the
        first is that of the group that sorts first.
    groups : array-like of shape (n_samples,)
        Group of each row. Common rows (-1) and leftover rows (-2, None or NaN) get NaN.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
        The proportions.

    Examples
    --------
    >>> from scarce.proportions import expand_proportions
    >>> expand_proportions({"a": 0.5, "b": 1.0}, ["a", "b", "b", -1])
    array([0.5, 1. , 1. , nan])
    >>> expand_proportions([0.5, 1.0], [7, 3, 3])
    array([1. , 0.5, 0.5])
    """
    codes, ids = read_groups(groups, len(groups))
    given: Any = proportions
    if not hasattr(given, "keys"):  # which a Series has too
        values = np.asarray(given, dtype=np.float64)
        if values.ndim == 0 or len(values) != len(ids):
            raise ValueError(
                f"proportions must have one entry for each of the {len(ids)} groups, in the order "
                f"in which they sort, got shape {values.shape}; or give a dict by group"
            )
        try:
            given = dict(zip(sorted(ids), values, strict=True))
        except TypeError:
            raise ValueError(
                f"groups such as {ids[:2]} have no order; give proportions as a dict by group"
            ) from None
    absent = [group for group in ids if group not in given]
    if absent:
        raise ValueError(f"proportions must name every group; it has none for {absent[:5]}")
    empty = [group for group in given.keys() if group not in set(ids)]
    if empty:
        raise ValueError(f"empty groups: proportions names {empty[:5]}, but groups has no such row")
    rows = [np.atleast_1d(np.asarray(given[group], dtype=np.float64)) for group in ids]
    widths = {row.size for row in rows}
    if len(widths) > 1:
        raise ValueError(
            f"proportions must have equally many values for every group, got {sorted(widths)}"
        )
    width = widths.pop() if widths else 1
    table = np.vstack([*rows, np.full((1, width), np.nan)])  # the last row is for no group
    shares = read_shares(table[np.where(codes >= 0, codes, len(ids))], codes.size)
    return shares[:, 0] if width == 1 else shares


def group_error(
    y: ArrayLike,
    predicted: ArrayLike,
    groups: Any = None,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return how far predicted proportions are from the given ones, between 0 and 1.

    In every group the given proportion of positives is compared with the proportion among the
    predictions; for several classes half the sum of the absolute differences is taken, the
    proportion of rows that must be labelled wrongly. Groups count by their size, so that ``1 -
    group_error`` is the largest accuracy the predicted labels can have. It needs no label of a row.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_classes)
        Proportions of each row's group, as in fit.
    predicted : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted labels, or class probabilities.
    groups : array-like of shape (n_samples,), default=None
        Group of each row; common rows (-1) and leftover rows (-2, None or NaN) are left out. By
        default every row is a group of its own.
    classes : array-like, default=None
        The labels in the order of the proportions, for predicted labels; 0, 1, ... by default.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The mean error of the proportions.

    Examples
    --------
    >>> from scarce.proportions import group_error
    >>> group_error([0.5, 0.5, 1.0, 1.0], [1, 0, 1, 0], ["a", "a", "b", "b"])
    0.25
    """
    found = np.asarray(predicted)
    n = found.shape[0]
    shares = read_shares(y, n)
    codes, ids = (np.arange(n), list(range(n))) if groups is None else read_groups(groups, n)
    weights = plain_weights(sample_weight, np.empty(n))
    values = group_values(shares, codes, ids)
    if values.shape[1] == 1:
        values = np.column_stack([1.0 - values[:, 0], values[:, 0]])
    if found.ndim == 1:
        names = np.arange(values.shape[1]) if classes is None else np.asarray(classes)
        found = (found[:, None] == names).astype(float)
        if not found.any(axis=1).all():
            wrong = np.asarray(predicted)[~found.any(axis=1)][0]
            raise ValueError(f"predicted must hold the classes {names.tolist()}, got {wrong!r}")
    check_consistent_length(found, shares)
    if found.shape[1] != values.shape[1]:
        raise ValueError(
            f"y has proportions of {values.shape[1]} classes, "
            f"predicted has {found.shape[1]} columns"
        )
    inside = np.flatnonzero((codes >= 0) & (weights > 0))
    if inside.size == 0:
        raise ValueError(
            "groups has no group with a row of positive weight: the error of proportions needs "
            "one. (A splitter by groups takes all common rows, -1, for one group, and may make a "
            "fold of them alone; GroupErrorScorer shows how to keep them in every fit.)"
        )
    sizes = np.bincount(codes[inside], weights[inside], minlength=len(ids))
    sums = np.array(
        [
            np.bincount(codes[inside], weights[inside] * column[inside], minlength=len(ids))
            for column in found.T
        ]
    ).T
    return float(0.5 * np.abs(sums - sizes[:, None] * values).sum() / sizes.sum())


def class_position(estimator: Any, class_of_interest: Any) -> int:
    """Return the position of a class among those of the fit."""
    classes = list(estimator.classes_)
    if class_of_interest is None:
        if len(classes) > 2:
            raise ValueError(f"class_of_interest must be one of the {len(classes)} {classes}")
        return 1
    if class_of_interest not in classes:
        raise ValueError(f"class_of_interest must be one of {classes}, got {class_of_interest!r}")
    return classes.index(class_of_interest)


def shares_of_class(shares: Array, position: int, n_classes: int) -> Array:
    """Return the proportions of one class; one column is that of the second of two."""
    if shares.shape[1] == 1 and n_classes == 2:
        return np.asarray(shares[:, 0] if position == 1 else 1.0 - shares[:, 0])
    if shares.shape[1] != n_classes:
        raise ValueError(f"y has proportions of {shares.shape[1]} classes, the fit had {n_classes}")
    return np.asarray(shares[:, position])
