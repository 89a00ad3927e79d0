"""Strong negatives by 1-DNF: rows without any feature that is typical of the positives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from scarce._arrays import Array


class OneDNFMapper(BaseEstimator):
    """Call strong negatives the rows with no positive feature, as PEBL does.

    Features are 0 or 1. One is positive if it is more frequent among the positives than among the
    unlabelled rows.

    Attributes
    ----------
    positive_features_ : ndarray of bool of shape (n_features,)
        The positive features.

    References
    ----------
    H. Yu, J. Han, K. C.-C. Chang, "PEBL: positive example based learning for web page
    classification using SVM", KDD 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.positive_unlabeled import OneDNFMapper
    >>> positives, unlabeled = np.array([[1, 1, 0]]), np.array([[1, 1, 0], [1, 0, 1]])
    >>> mapper = OneDNFMapper().fit(positives, unlabeled=[(unlabeled, np.ones(2))])
    >>> mapper.positive_features_
    array([False,  True, False])
    >>> mapper.score_samples(unlabeled) < 0
    array([False,  True])
    """

    def fit(
        self,
        positives: Any,
        sample_weight: Array | None = None,
        unlabeled: Iterable[tuple[Any, Array]] = (),
    ) -> Self:
        """Find the positive features.

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
        among_positives = _counts(positives, weights) / weights.sum()
        counts, total = np.zeros(among_positives.size), 0.0
        for rows, row_weights in unlabeled:
            counts += _counts(rows, row_weights)
            total += float(np.sum(row_weights))
        if total == 0.0:
            raise ValueError("unlabeled must hold at least one row, got none")
        self.positive_features_ = among_positives > counts / total
        return self

    def score_samples(self, X: Any) -> Array:
        """Return the number of positive features, less one half.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of zeros and ones.

        Returns
        -------
        ndarray of shape (n_samples,)
            Below zero for strong negatives.
        """
        _check_binary(X)
        return np.asarray(X @ self.positive_features_.astype(np.float64)) - 0.5


def _counts(X: Any, weights: Array) -> Array:
    """Return the weight of the rows that have each feature."""
    _check_binary(X)
    return np.asarray(weights @ X, dtype=np.float64)


def _check_binary(X: Any) -> None:
    values = X.data if sparse.issparse(X) else np.asarray(X)
    other = values[(values != 0) & (values != 1)]
    if other.size:
        raise ValueError(
            f"OneDNFMapper needs features that are 0 or 1, got {other.flat[0]:g}; binarise X, for "
            "example with sklearn.preprocessing.Binarizer"
        )
