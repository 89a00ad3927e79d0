"""Classifiers mixed row by row, by how well each fits the target's structure there.

See docs/theory/baselines.md.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from scarce._arrays import Array, unpacked_rows
from scarce._classes import two_classes, with_labels_only
from scarce._data import lazily
from scarce._frame import HasMethods, Interval, checked_weights, fit_frame, fit_task, validate_data
from scarce._predictions import LabelPredictions
from scarce._sklearn import CallbackSupportMixin
from scarce.baselines._domains import require_weight, source_rows
from scarce.classification import SVC


class LocallyWeightedEnsemble(
    LabelPredictions, ClassifierMixin, CallbackSupportMixin, BaseEstimator
):
    """Mix source classifiers with weights that depend on the row.

    The target rows are clustered. A model is trusted at a row as far as it agrees with the
    clustering there: among the row's nearest target rows, those to which the model gives the row's
    label should be those of the row's cluster. Where no model agrees, the row gets the mean
    probability of its cluster. The labels of target rows are never used.

    Parameters
    ----------
    estimators : list of classifiers or None, default=None
        The models. Each is cloned and fitted to all labelled rows; one that is fitted already, to a
        source of its own for instance, is given in :class:`sklearn.frozen.FrozenEstimator`. None
        means two :class:`SVC`, with an rbf and a linear kernel.
    clusterer : clusterer or None, default=None
        What clusters the target rows: any scikit-learn clusterer, of which `labels_` is used. None
        means k-means with two clusters, started at two rows far apart, without randomness.
    n_neighbors : int, default=10
        Number of target rows, counted by their weights, that are a row's neighbourhood. A training
        row of the target is its own first neighbour.
    threshold : float, default=0.25
        A row takes its cluster's probability when the mean of its similarities is below this. 0
        turns that step off.
    tol : float, default=1e-3
        Tolerance of the two default models.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second.
    estimators_ : list of classifiers
        The fitted models.
    target_rows_ : ndarray or CSR of shape (n_target, n_features)
        The target rows.
    target_clusters_ : ndarray of int of shape (n_target,)
        The clusters of the target rows.
    target_labels_ : ndarray of int of shape (n_models, n_target)
        The class that each model gives to each target row, as a position in `classes_`.
    cluster_probability_ : dict
        For each cluster with rows at or above the threshold, their mean probability of
        ``classes_[1]``.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    sklearn.ensemble.VotingClassifier : The same weights everywhere.
    ProjectionMMDSVM : One margin learner for both domains.

    Notes
    -----
    Due to Gao, Fan, Jiang and Han [1]_. Their text was not at hand. What is known of the method:
    the weights of the models are similarities between two neighbourhoods of a row, one by the
    model's labels and one by a clustering, normalised to sum to one; below a threshold the row is
    labelled from confident rows of its cluster.

    Chosen here: the similarity is the number of rows in both neighbourhoods over the number in
    either, where the authors count common edges. Both are taken among the `n_neighbors` nearest
    target rows in Euclidean distance. A new row is in the cluster of its nearest target row. With
    similarities all zero the weights are equal. A row is confident when its mean similarity is not
    below the threshold, and a cluster without one leaves the mixture as it is. A model without
    `predict_proba` has the probability ``1 / (1 + exp(-decision))``. The default models, clusterer,
    number of neighbours and threshold are ours.

    References
    ----------
    .. [1] J. Gao, W. Fan, J. Jiang and J. Han, "Knowledge transfer via multiple model local
       structure mapping", KDD 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from scarce import SVC, LocallyWeightedEnsemble
    >>> random = np.random.default_rng(0)
    >>> y, domain = np.arange(120) % 2, np.repeat([0, -1], 60)
    >>> X = random.normal(size=(120, 2)) + np.c_[4.0 * y, 1.5 * (domain < 0)]
    >>> models = [SVC(), LogisticRegression(), GaussianNB()]
    >>> model = LocallyWeightedEnsemble(estimators=models).fit(X, y, sample_domain=domain)
    >>> float(model.score(X[domain < 0], y[domain < 0])) > 0.9
    True
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "estimators": [list, None],
        "clusterer": [HasMethods(["fit"]), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0.0, 1.0, closed="both")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sample_weight": True,
        "sample_domain": True,
    }
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}

    def __init__(
        self,
        *,
        estimators: Any = None,
        clusterer: Any = None,
        n_neighbors: int = 10,
        threshold: float = 0.25,
        tol: float = 1e-3,
    ) -> None:
        self.estimators = estimators
        self.clusterer = clusterer
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        parts = [*(self.estimators or []), *([] if self.clusterer is None else [self.clusterer])]
        tags.input_tags.sparse = all(get_tags(part).input_tags.sparse for part in parts)
        return tags

    # A saved ensemble of sparse rows holds plain arrays: skops would not trust SciPy's classes.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        rows: Any = state.get("target_rows_")
        if sparse.issparse(rows):
            state["target_rows_"] = (rows.data, rows.indices, rows.indptr, rows.shape)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        rows = state.get("target_rows_")
        if isinstance(rows, tuple):
            name = f"{type(self).__name__}.target_rows_"
            state["target_rows_"] = unpacked_rows(rows, name, sparse.csr_array)
        super().__setstate__(state)

    @fit_frame(nested_checks=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, sample_domain: Any = None) -> Self:
        """Fit the models to the source and take in the structure of the target.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows of both domains.
        y : array-like of shape (n_samples,)
            Labels, two different ones. What it holds for target rows is not looked at.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for the models, the clusterer and in neighbourhoods; a row of
            weight 0 or less takes no part.
        sample_domain : array-like of int of shape (n_samples,), default=None
            Domain of each row: at least 0 for a source, one negative value for the target. By
            default all rows are labelled and their structure is that of the target.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        for model in self.estimators or []:
            if not hasattr(model, "fit"):  # a name, or a pair of name and model
                raise ValueError(f"estimators must be a list of classifiers, got {model!r} in it")
        source = source_rows(sample_domain, X)
        X, y = validate_data(
            self,
            X,
            y if source is None or y is None else with_labels_only(y, source),
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr",
        )
        y = column_or_1d(y, warn=True)
        weights = checked_weights(sample_weight, X)
        known = weights if source is None else np.where(source, weights, 0.0)
        self.classes_, _ = two_classes(y, known, type(self).__name__)
        if source is not None:
            require_weight(weights, source)
        part = weights > 0
        labelled = np.flatnonzero(part if source is None else part & source)
        target = np.flatnonzero(part if source is None else part & ~source)
        self._weights = weights[target]
        unweighted = sample_weight is None
        self.estimators_ = self._fitted_models(
            X[labelled], y[labelled], None if unweighted else weights[labelled]
        )
        self.target_rows_ = X[target]
        self.target_clusters_ = self._clusters(unweighted)
        probabilities = self._probabilities(self.target_rows_)
        self.target_labels_ = (probabilities > 0.5).astype(np.intp)
        self.cluster_probability_: dict[int, float] = {}
        mixed, similarity, clusters = self._mixed(self.target_rows_, probabilities)
        for cluster in np.unique(clusters):
            sure = (clusters == cluster) & (similarity >= self.threshold)
            if sure.any():
                mean = np.average(mixed[sure], weights=self._weights[sure])
                self.cluster_probability_[int(cluster)] = float(mean)
        return self

    def _fitted_models(self, X: Any, y: Array, weights: Array | None) -> list[Any]:
        models = self.estimators
        if models is None:
            models = [SVC(tol=self.tol), SVC(kernel="linear", tol=self.tol)]
        if not models:
            raise ValueError("estimators must hold at least one classifier, got an empty list")
        fitted = []
        with fit_task(self, len(models)) as task:
            for model in models:
                with task.part("model"):
                    fitted.append(_fitted(model, X, y, weights))
                    if not np.array_equal(fitted[-1].classes_, self.classes_):
                        raise ValueError(
                            f"estimators must know the classes {self.classes_.tolist()}, got "
                            f"{model!r} with classes_ {fitted[-1].classes_.tolist()}"
                        )
        return fitted

    def _clusters(self, unweighted: bool) -> Array:
        """Return the cluster of every target row."""
        if self.clusterer is None:
            return _two_clusters(self.target_rows_, self._weights)
        clusterer = clone(self.clusterer)
        if unweighted or not has_fit_parameter(clusterer, "sample_weight"):
            clusterer.fit(self.target_rows_)
        else:
            clusterer.fit(self.target_rows_, sample_weight=self._weights)
        return np.asarray(clusterer.labels_)

    def _probabilities(self, X: Any) -> Array:
        """Return each model's probability of ``classes_[1]``, one line a model."""
        return np.array([_probability(model, X) for model in self.estimators_])

    def _mixed(self, X: Any, probabilities: Array) -> tuple[Array, Array, Array]:
        """Return mixed probabilities, mean similarities and clusters of some rows."""
        from sklearn.neighbors import NearestNeighbors  # loads half of scikit-learn

        # As many as are needed if all of them were the lightest.
        lightest = np.cumsum(np.sort(self._weights))
        enough = int(np.searchsorted(lightest, self.n_neighbors)) + 1
        search = NearestNeighbors(n_neighbors=min(enough, self._weights.size))
        near = search.fit(self.target_rows_).kneighbors(X, return_distance=False)
        reached = np.minimum(np.cumsum(self._weights[near], axis=1), self.n_neighbors)
        counted = np.diff(reached, axis=1, prepend=0.0)
        clusters = self.target_clusters_[near[:, 0]]
        same_cluster = self.target_clusters_[near] == clusters[:, None]
        same_label = self.target_labels_[:, near] == (probabilities > 0.5)[:, :, None]
        both = (counted * (same_cluster & same_label)).sum(axis=2)
        either = (counted * (same_cluster | same_label)).sum(axis=2)
        similarity = both / either  # the nearest row is always of the cluster
        total = similarity.sum(axis=0)
        shares = np.where(total > 0, similarity, 1.0)
        mixed = (shares * probabilities).sum(axis=0) / shares.sum(axis=0)
        return mixed, similarity.mean(axis=0), clusters

    @lazily
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            One column per entry of ``classes_``.
        """
        positive = self._positive(X)
        return np.column_stack([1.0 - positive, positive])

    def _positive(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            reset=False,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr",
        )
        mixed, similarity, clusters = self._mixed(X, self._probabilities(X))
        for row in np.flatnonzero(similarity < self.threshold):
            mixed[row] = self.cluster_probability_.get(int(clusters[row]), mixed[row])
        return mixed

    @lazily
    def decision_function(self, X: Any) -> Array:
        """Return how much more probable the second class is than the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            In [-1, 1], positive for ``classes_[1]``.
        """
        return 2.0 * self._positive(X) - 1.0


def _fitted(model: Any, X: Any, y: Array, weights: Array | None) -> Any:
    """Return a fitted copy of a model."""
    copied = clone(model)
    if weights is None or isinstance(model, FrozenEstimator):
        return copied.fit(X, y)
    if not has_fit_parameter(copied, "sample_weight"):
        raise ValueError(
            f"sample_weight was given, but {type(model).__name__} among the estimators takes no "
            "sample_weight in fit; leave out one or the other"
        )
    return copied.fit(X, y, sample_weight=weights)


def _probability(model: Any, X: Any) -> Array:
    """Return a model's probability of its second class."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)
    return np.asarray(expit(model.decision_function(X)), dtype=np.float64)


def _two_clusters(X: Any, weights: Array) -> Array:
    """Return the clusters of k-means, started at the row farthest from the mean and its opposite.

    The start depends on neither chance nor order nor repetition of rows.
    """
    from sklearn.cluster import KMeans  # loads half of scikit-learn
    from sklearn.metrics.pairwise import euclidean_distances

    mean = np.atleast_2d(weights @ X / weights.sum())
    first = int(np.argmax(euclidean_distances(X, mean)))
    distances = euclidean_distances(X, X[[first]]).ravel()
    second = int(np.argmax(distances))
    if distances[second] == 0:
        return np.zeros(X.shape[0], np.int64)  # all rows are one
    start = X[[first, second]]
    start = start.toarray() if hasattr(start, "toarray") else start
    search = KMeans(2, init=start, n_init=1, tol=0.0).fit(X, sample_weight=weights)
    return np.asarray(search.labels_, dtype=np.int64)
