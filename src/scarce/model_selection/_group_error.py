"""Scorers that need proportions of groups and no label of a row."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from scarce.proportions import group_error, share_cross_entropy


class _GroupScorer:
    """A scorer that asks metadata routing for groups and weights, without set-up."""

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


class GroupErrorScorer(_GroupScorer):
    """Score a classifier by how well it meets the proportions of the classes in groups.

    For `scoring` in searches and cross-validation over any classifier. With metadata routing on it
    asks for `groups` and `sample_weight` without set-up; `y` holds the proportions as for
    `GroupProbabilitySVM`.

    Parameters
    ----------
    response : {"labels", "probabilities"}, default="labels"
        What the proportions are predicted from: counted labels, or the means of `predict_proba`.
        Labels suit the choice of a classifier; probabilities also judge the calibration.

    See Also
    --------
    scarce.proportions.group_error : The error itself.
    GroupShareKFold : Folds of whole groups.

    Notes
    -----
    Without metadata routing a search passes `groups` to its splitter only. One column of
    proportions is then an error; proportions of several classes are taken for those of single
    rows, and not noticed.

    `GroupShareKFold` keeps groups in one piece and common rows in every fit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import config_context
    >>> from sklearn.model_selection import GridSearchCV
    >>> from scarce import TransferGroupProbabilitySVM
    >>> from scarce.model_selection import GroupErrorScorer, GroupShareKFold
    >>> from scarce.proportions import expand_proportions, group_proportions
    >>> random = np.random.default_rng(0)
    >>> X, groups = random.normal(size=(640, 2)), np.arange(640) // 8
    >>> y = expand_proportions(group_proportions(X[:, 0] > 0, groups), groups)
    >>> groups[:24], y[:24] = -1, np.nan  # common rows
    >>> with config_context(enable_metadata_routing=True):
    ...     search = GridSearchCV(
    ...         TransferGroupProbabilitySVM(source=([0.2, 1.0], 0.0), kernel="linear"),
    ...         {"transfer": [0.1, 1000.0]},
    ...         scoring=GroupErrorScorer(),
    ...         cv=GroupShareKFold(3),
    ...     ).fit(X, y, groups=groups)
    >>> search.best_params_
    {'transfer': 0.1}
    """

    def __init__(self, response: str = "labels") -> None:
        if response not in ("labels", "probabilities"):
            raise ValueError(f'response must be "labels" or "probabilities", got {response!r}')
        self.response = response

    def __call__(
        self, estimator: Any, X: Any, y: Any, groups: Any = None, sample_weight: Any = None
    ) -> float:
        """Return minus the error of the proportions, so that more is better.

        Parameters
        ----------
        estimator : object
            A fitted classifier.
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
            Between -1 and 0.
        """
        labels = self.response == "labels"
        predicted = estimator.predict(X) if labels else estimator.predict_proba(X)
        return -group_error(
            y, predicted, groups, classes=estimator.classes_, sample_weight=sample_weight
        )

    def __repr__(self) -> str:
        return f"GroupErrorScorer(response={self.response!r})"


class ShareCrossEntropyScorer(_GroupScorer):
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

    def __repr__(self) -> str:
        return "ShareCrossEntropyScorer()"
