"""A scorer of probabilities that needs proportions of groups and no label of a row."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from scarce.proportions import share_cross_entropy


class ShareCrossEntropyScorer:
    """Score a classifier by the cross-entropy of given proportions and its mean probabilities.

    Beside `GroupErrorScorer`, which counts labels, this one is smooth and asks for probabilities
    that are right. Under metadata routing it asks for `groups` and `sample_weight` without set-up;
    `y` holds the proportions as for `GroupProbabilitySVM`.

    See Also
    --------
    GroupErrorScorer : By the proportions of predicted labels.
    GroupShareKFold : Folds of whole groups.
    scarce.proportions.share_cross_entropy : The loss itself.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import config_context
    >>> from sklearn.model_selection import GridSearchCV
    >>> from scarce import GroupProbabilitySVM
    >>> from scarce.model_selection import GroupShareKFold, ShareCrossEntropyScorer
    >>> from scarce.proportions import expand_proportions, group_proportions
    >>> random = np.random.default_rng(0)
    >>> X, groups = random.normal(size=(640, 2)), np.arange(640) // 8
    >>> y = expand_proportions(group_proportions(X[:, 0] > 0, groups), groups)
    >>> with config_context(enable_metadata_routing=True):
    ...     search = GridSearchCV(
    ...         GroupProbabilitySVM(kernel="linear"),
    ...         {"calibrate": [None, "shares"]},
    ...         scoring=ShareCrossEntropyScorer(),
    ...         cv=GroupShareKFold(3),
    ...     ).fit(X, y, groups=groups)
    >>> search.best_params_
    {'calibrate': 'shares'}
    """

    def __call__(
        self, estimator: Any, X: Any, y: Any, groups: Any = None, sample_weight: Any = None
    ) -> float:
        """Return minus the cross-entropy, so that more is better.

        Parameters
        ----------
        estimator : object
            A fitted classifier with `predict_proba`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Proportions of each row's group.
        groups : array-like of shape (n_samples,), default=None
            Group of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            At most 0.
        """
        return -share_cross_entropy(
            y, estimator.predict_proba(X), groups, sample_weight=sample_weight
        )

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask for the groups and weights of the rows.

        Returns
        -------
        MetadataRequest
            What metadata routing passes to the scorer.
        """
        request = MetadataRequest(owner=self)
        for name in ("groups", "sample_weight"):
            request.score.add_request(param=name, alias=True)
        return request

    def __repr__(self) -> str:
        return "ShareCrossEntropyScorer()"
