"""Strong negatives by spies: positives hidden among the unlabelled rows say what a low score is."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import MultinomialNB
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from scarce._arrays import Array
from scarce._frame import HasMethods, Interval, fit_frame, plain_weights
from scarce.positive_unlabeled.mapping_convergence._out_of_bag_mapper import stacked_rows


class SpyMapper(BaseEstimator):
    """Call strong negatives what scores below nearly all positives hidden as spies, as S-EM does.

    Some positives, the spies, join the unlabelled rows, and a classifier learns the other positives
    against these. What spies score is what unlabelled positives score. A row is a strong negative
    if it scores below the spies, but for a proportion of them that may be noise.

    Parameters
    ----------
    classifier : estimator or None, default=None
        A classifier with `decision_function` or `predict_log_proba`. None is naive Bayes for counts
        of words, ``MultinomialNB()``, the published one.
    spies : float, default=0.1
        Proportion of the positives that are spies, at least one of them.
    noise : float, default=0.15
        Proportion of the spies that may score below the threshold.
    random_state : int, RandomState instance or None, default=None
        Draws the spies.

    Attributes
    ----------
    classifier_ : estimator
        The fitted classifier; 1 is the positive class, 0 the unlabelled rows with the spies.
    spies_ : ndarray of int
        Which positives were spies.
    threshold_ : float
        Decision value, or log odds, below which a row is a strong negative.

    Notes
    -----
    S-EM goes on with an EM algorithm of naive Bayes; here the loop of the mapping goes on.

    References
    ----------
    B. Liu, W. S. Lee, P. S. Yu, X. Li, "Partially supervised classification of text documents",
    ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.positive_unlabeled import SpyMapper
    >>> random = np.random.default_rng(0)
    >>> of_class, others = (random.poisson(rates, size=(80, 3)) for rates in ([6, 2, 2], [1, 2, 7]))
    >>> unlabeled = np.r_[of_class[40:], others]
    >>> mapper = SpyMapper(random_state=0).fit(of_class[:40], unlabeled=[(unlabeled, np.ones(120))])
    >>> mapper.score_samples([[6, 2, 2], [1, 2, 7]]) < 0
    array([False,  True])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "classifier": [
            HasMethods(["fit", "decision_function"]),
            HasMethods(["fit", "predict_log_proba"]),
            None,
        ],
        "spies": [Interval(Real, 0.0, 1.0, closed="neither")],
        "noise": [Interval(Real, 0.0, 1.0, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        spies: float = 0.1,
        noise: float = 0.15,
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
        self.spies = spies
        self.noise = noise
        self.random_state = random_state

    @fit_frame(nested_checks=True)
    def fit(
        self,
        positives: Any,
        sample_weight: Array | None = None,
        unlabeled: Iterable[tuple[Any, Array]] = (),
    ) -> Self:
        """Draw the spies, fit the classifier and find the threshold.

        Parameters
        ----------
        positives : {array-like, sparse matrix} of shape (n_positives, n_features)
            The labelled positives, at least two.
        sample_weight : ndarray of shape (n_positives,), default=None
            Their weights.
        unlabeled : iterable of (rows, weights)
            The unlabelled rows in blocks.

        Returns
        -------
        self : object
            The fitted mapper.
        """
        n = positives.shape[0]
        if n < 2:
            raise ValueError(f"positives must have at least two rows, one of them a spy; got {n}")
        X, weights = stacked_rows(positives, plain_weights(sample_weight, positives), unlabeled)
        random = check_random_state(self.random_state)
        self.spies_ = np.sort(random.permutation(n)[: min(max(1, round(self.spies * n)), n - 1)])
        y = np.zeros(weights.size, dtype=int)
        y[:n] = 1
        y[self.spies_] = 0
        learner = MultinomialNB() if self.classifier is None else clone(self.classifier)
        given = {} if np.all(weights == 1.0) else {"sample_weight": weights}
        if given and not has_fit_parameter(learner, "sample_weight"):
            raise ValueError(f"classifier={learner} takes no sample_weight; use one that does")
        self.classifier_ = learner.fit(X, y, **given)
        self.threshold_ = float(
            np.quantile(
                self._scores(positives[self.spies_]),
                self.noise,
                weights=weights[self.spies_],
                method="inverted_cdf",
            )
        )
        return self

    def score_samples(self, X: Any) -> Array:
        """Return how far rows lie above the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Below zero for strong negatives.
        """
        return self._scores(X) - self.threshold_

    def _scores(self, X: Any) -> Array:
        if hasattr(self.classifier_, "decision_function"):
            return np.ravel(self.classifier_.decision_function(X))
        # Log odds, because probabilities of long texts round to 0 and 1.
        logs = np.maximum(self.classifier_.predict_log_proba(X), -1e300)  # trees say never
        return np.asarray(logs[:, 1] - logs[:, 0])
