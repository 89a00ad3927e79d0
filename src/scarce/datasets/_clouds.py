"""Positive and unlabelled rows from several clouds a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from scarce._arrays import Array


def make_positive_unlabeled_clouds(
    n_positive: int = 100,
    n_unlabeled: int = 400,
    *,
    random_state: Any,
    prior: float = 0.3,
    n_positive_clouds: int = 2,
    n_negative_clouds: int = 3,
    n_features: int = 2,
    distance: float = 6.0,
) -> tuple[Array, Array, Array]:
    """Make positive and unlabelled rows; each class is a mixture of normal clouds.

    The unlabelled rows are a sample of the whole population, positives included. The clouds have
    standard deviation 1; in the first two features their centres lie along a circle on which
    neighbours are `distance` apart, and alternate between the classes as far as their numbers
    allow; they are 0 in the other features.

    Parameters
    ----------
    n_positive, n_unlabeled : int, default=100 and 400
        Number of rows.
    random_state : int or Generator
        The seed.
    prior : float, default=0.3
        Proportion of positives among the unlabelled rows.
    n_positive_clouds, n_negative_clouds : int, default=2 and 3
        Number of clouds of each class, equally likely within it.
    n_features : int, default=2
        Number of features, at least 2.
    distance : float, default=6.0
        Distance of neighbouring centres.

    Returns
    -------
    X : ndarray of shape (n_positive + n_unlabeled, n_features)
        The positive rows, then the unlabelled.
    y : ndarray of int
        1 for the positive rows, 0 for the unlabelled.
    y_true : ndarray of int
        1 for rows of the positive class, 0 for others.

    Examples
    --------
    >>> from scarce.datasets import make_positive_unlabeled_clouds
    >>> X, y, y_true = make_positive_unlabeled_clouds(random_state=0)
    >>> X.shape, int(y.sum()), int(y_true.sum())
    ((500, 2), 100, 220)
    """
    if n_features < 2:
        raise ValueError(f"n_features must be at least 2, got {n_features}")
    if not 0.0 <= prior <= 1.0:
        raise ValueError(f"prior must be between 0 and 1, got {prior}")
    counts = {"n_positive_clouds": n_positive_clouds, "n_negative_clouds": n_negative_clouds}
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")
    rng = np.random.default_rng(random_state)
    n_clouds = n_positive_clouds + n_negative_clouds
    angles = 2.0 * np.pi * np.arange(n_clouds) / n_clouds
    centres = np.zeros((n_clouds, n_features))
    # A chord over the angle 2 pi / n of a circle is 2 r sin(pi / n) long.
    centres[:, :2] = np.column_stack([np.cos(angles), np.sin(angles)])
    centres *= distance / (2.0 * np.sin(np.pi / n_clouds))
    # Spread the positive clouds evenly over the circle.
    positive = np.zeros(n_clouds, dtype=bool)
    positive[np.arange(n_positive_clouds) * n_clouds // n_positive_clouds] = True

    y = np.repeat([1, 0], [n_positive, n_unlabeled])
    y_true = y.copy()
    y_true[n_positive : n_positive + round(prior * n_unlabeled)] = 1
    y_true[n_positive:] = rng.permutation(y_true[n_positive:])
    cloud = np.where(
        y_true == 1,
        rng.choice(np.flatnonzero(positive), y.size),
        rng.choice(np.flatnonzero(~positive), y.size),
    )
    return centres[cloud] + rng.normal(size=(y.size, n_features)), y, y_true
