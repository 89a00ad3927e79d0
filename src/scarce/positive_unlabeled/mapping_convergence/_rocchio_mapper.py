"""Strong negatives by Rocchio's rule: rows nearer to the unlabelled rows than to the positives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import normalize

from scarce._arrays import Array

ALPHA, BETA = 16.0, 4.0  # the weights of a prototype's own rows and of the others, as published


class RocchioMapper(BaseEstimator):
    """Call strong negatives what Rocchio's rule gives to the unlabelled rows, as Roc-SVM does.

    With rows of unit length and their means ``p`` of the positives and ``u`` of the unlabelled
    rows, the prototypes are ``16 p - 4 u`` and ``16 u - 4 p``. A row is a strong negative if its
    cosine with the second is the larger. Meant for texts, as word counts or tf-idf.

    Attributes
    ----------
    direction_ : ndarray of shape (n_features,)
        Difference of the prototypes, each of unit length.

    References
    ----------
    X. Li, B. Liu, "Learning to classify texts using positive and unlabeled data", IJCAI 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.positive_unlabeled import RocchioMapper
    >>> positives, unlabeled = np.array([[3.0, 1.0]]), np.array([[3.0, 1.0], [0.0, 2.0]])
    >>> mapper = RocchioMapper().fit(positives, unlabeled=[(unlabeled, np.ones(2))])
    >>> mapper.score_samples(unlabeled) < 0
    array([False,  True])
    """

    def fit(
        self,
        positives: Any,
        sample_weight: Array | None = None,
        unlabeled: Iterable[tuple[Any, Array]] = (),
    ) -> Self:
        """Find the prototypes.

        Parameters
        ----------
        positives : {array-like, sparse matrix} of shape (n_positives, n_features)
            The labelled positives.
        sample_weight : ndarray of shape (n_positives,), default=None
            Their weights.
        unlabeled : iterable of (rows, weights)
            Blocks of the unlabelled rows, each with one weight per row.

        Returns
        -------
        self : object
            The fitted mapper.
        """
        weights = np.ones(positives.shape[0]) if sample_weight is None else sample_weight
        mean = _sum(positives, weights) / weights.sum()
        others, total = np.zeros(mean.size), 0.0
        for rows, row_weights in unlabeled:
            others += _sum(rows, row_weights)
            total += float(np.sum(row_weights))
        if total == 0.0:
            raise ValueError("unlabeled must hold at least one row, got none")
        others /= total
        prototypes = np.array([ALPHA * mean - BETA * others, ALPHA * others - BETA * mean])
        positive, negative = normalize(prototypes)
        self.direction_ = positive - negative
        return self

    def score_samples(self, X: Any) -> Array:
        """Return the cosine with the positive prototype, less that with the other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Below zero for strong negatives; zero for a row of zeros.
        """
        return np.asarray(normalize(X) @ self.direction_)


def _sum(X: Any, weights: Array) -> Array:
    """Return the weighted sum of rows of unit length."""
    return np.asarray(weights @ normalize(X), dtype=np.float64)
