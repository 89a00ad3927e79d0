"""Labels for part of a class, at random or by somebody who prefers some of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array


def label_some_positives(
    X: Any,
    y_true: Any,
    n_labelled: int,
    *,
    bias: float = 0.0,
    along: Any = None,
    random_state: Any,
) -> Array:
    """Label some rows of a class; everything else becomes unlabelled.

    Methods for positive and unlabelled rows take the labelled rows for a random part of the class.
    With a `bias` they are not: rows far out along a direction are labelled rather than others, so
    that one can see how a method bears it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    y_true : array-like of bool of shape (n_samples,)
        Which belong to the class.
    n_labelled : int
        How many of those to label.
    bias : float, default=0.0
        A row is ``exp(bias)`` times as likely to be drawn next as one a standard deviation of the
        class behind it. 0 for labels at random; below 0 hard cases are labelled first.
    along : array-like of shape (n_features,), default=None
        The direction. None is from the mean of all other rows to that of the class: the rows that
        are easiest to tell from the others come first.
    random_state : int or Generator
        The seed.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        1 for labelled rows, 0 for unlabelled ones.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.datasets import label_some_positives
    >>> random = np.random.default_rng(0)
    >>> truth = np.arange(1000) < 300
    >>> X = random.normal(size=(1000, 2)) + 2.0 * truth[:, None]
    >>> fair = label_some_positives(X, truth, 60, random_state=0)
    >>> biased = label_some_positives(X, truth, 60, bias=1.0, random_state=0)
    >>> [round(float(X[y == 1].mean()), 1) for y in (fair, biased)]
    [2.0, 2.6]
    """
    rows, truth = np.asarray(X, dtype=np.float64), np.asarray(y_true).astype(bool)
    of_class = np.flatnonzero(truth)
    if not 1 <= n_labelled <= of_class.size:
        raise ValueError(
            f"n_labelled must be from 1 to {of_class.size}, the rows of the class, got {n_labelled}"
        )
    if along is None:
        if truth.all():
            raise ValueError(
                "along must be a direction, one number per feature, where every row belongs to the "
                "class; got None"
            )
        along = rows[truth].mean(axis=0) - rows[~truth].mean(axis=0)
    places = rows[of_class] @ np.asarray(along, dtype=np.float64)
    deviation = float(places.std()) or 1.0
    rng = np.random.default_rng(random_state)
    # The largest of log weight plus Gumbel noise: weighted draws without replacement.
    keys = bias * places / deviation + rng.gumbel(size=of_class.size)
    y = np.zeros(truth.size, int)
    y[of_class[np.argsort(-keys)[:n_labelled]]] = 1
    return y
