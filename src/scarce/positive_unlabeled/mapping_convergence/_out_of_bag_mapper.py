"""Strong negatives by the ranking of a bag of margin classifiers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from scarce._arrays import Array
from scarce._frame import fit_frame, plain_weights
from scarce.positive_unlabeled._positive_unlabeled_svc import PositiveUnlabeledSVC
from scarce.positive_unlabeled.rows._given import Given
from scarce.positive_unlabeled.rows._row_source import MemoryRows, RowSource

LEFT_BELOW = 0.05  # of the labelled rows


def default_bags(**parameters: Any) -> PositiveUnlabeledSVC:
    """Return the models for a ranking: nothing random is left."""
    return PositiveUnlabeledSVC(n_bags=20, random_state=0, **parameters)


def stacked_rows(
    positives: Any, own: Array, unlabeled: Iterable[tuple[Any, Array]]
) -> tuple[Any, Array]:
    """Return positives and unlabelled rows in one matrix, and their weights."""
    blocks = list(unlabeled)
    if not blocks:
        raise ValueError("unlabeled must give at least one pair of rows and weights, got none")
    rows = [positives, *(block for block, _ in blocks)]
    X = sparse.csr_array(sparse.vstack(rows)) if sparse.issparse(positives) else np.vstack(rows)
    return X, np.concatenate([own, *(masses for _, masses in blocks)])


class OutOfBagMapper(BaseEstimator):
    """Take for strong negatives what ranks below nearly all positives, by models without it.

    Every row gets a score from the models of a :class:`PositiveUnlabeledSVC` that were not
    trained on it. Unlabelled rows below all but a twentieth of the labelled ones are strong
    negatives.

    Parameters
    ----------
    bags : PositiveUnlabeledSVC or None, default=None
        The models. None is ``PositiveUnlabeledSVC(n_bags=20, random_state=0)``.

    Attributes
    ----------
    bags_ : PositiveUnlabeledSVC
        Fitted to the same rows, without an estimate of the class prior.
    threshold_ : float
        Scores below it are strong negatives.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.positive_unlabeled import OutOfBagMapper
    >>> random = np.random.default_rng(0)
    >>> positives = random.normal(size=(40, 2))
    >>> unlabeled = random.uniform(-5, 5, size=(300, 2))
    >>> mapper = OutOfBagMapper().fit(positives, unlabeled=[(unlabeled, np.ones(300))])
    >>> mapper.score_samples([[0.0, 0.0], [8.0, 8.0]]) < 0
    array([False,  True])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {"bags": [PositiveUnlabeledSVC, None]}

    def __init__(self, bags: PositiveUnlabeledSVC | None = None) -> None:
        self.bags = bags

    @fit_frame(nested_checks=True)
    def fit(
        self,
        positives: Any,
        sample_weight: Array | None = None,
        unlabeled: Iterable[tuple[Any, Array]] = (),
    ) -> Self:
        """Fit the bags.

        Parameters
        ----------
        positives : {array-like, sparse matrix} of shape (n_positives, n_features)
            The labelled positives.
        sample_weight : ndarray of shape (n_positives,), default=None
            Their weights.
        unlabeled : iterable of (rows, weights)
            The unlabelled rows in blocks.

        Returns
        -------
        self : object
            The fitted mapper.
        """
        own = plain_weights(sample_weight, positives)
        X, weights = stacked_rows(positives, own, unlabeled)
        all_rows = np.arange(weights.size)
        self.map_rows(MemoryRows(X), all_rows[: own.size], all_rows[own.size :], weights)
        return self

    def map_rows(
        self, rows: RowSource, positives: Array, unlabelled: Array, weights: Array
    ) -> Array:
        """Fit the bags, and return the out-of-bag score of every unlabelled row.

        Parameters
        ----------
        rows : RowSource
            All rows.
        positives, unlabelled : ndarray of int
            Which take part, by number.
        weights : ndarray
            One per row.

        Returns
        -------
        ndarray
            Below zero for strong negatives.
        """
        taking_part = np.zeros(weights.size)
        taking_part[positives] = weights[positives]
        taking_part[unlabelled] = weights[unlabelled]
        positive = np.zeros(weights.size, bool)
        positive[positives] = True
        bags = default_bags() if self.bags is None else clone(self.bags)
        nobody = np.zeros(weights.size, bool)
        given = Given(rows, positive, nobody, taking_part, weighted=True)
        numbers = bags._fit_member(given, ranking_only=True).rows.numbers
        own, others = bags.out_of_bag_scores_
        counted = np.bincount(numbers[positives], weights[positives])
        self.bags_ = bags
        self.threshold_ = float(
            np.quantile(own, LEFT_BELOW, weights=counted, method="inverted_cdf")
        )
        return np.asarray(others[numbers[unlabelled] - own.size] - self.threshold_)

    def score_samples(self, X: Any) -> Array:
        """Return how far rows lie above the threshold, by the mean of all models.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Below zero for strong negatives.
        """
        return np.asarray(self.bags_.decision_function(X) - self.threshold_)
