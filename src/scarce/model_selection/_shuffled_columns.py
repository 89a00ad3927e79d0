"""A scorer of one-class models that needs no row of another class."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.utils import check_random_state

from scarce._arrays import Array


class ShuffledColumnsScorer:
    """A scorer that compares rows with rows whose columns are shuffled."""

    def __init__(self, n_shuffles: int = 5, random_state: Any = 0) -> None:
        self.n_shuffles = n_shuffles
        self.random_state = random_state

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the area under the curve of rows against shuffled rows, higher is better."""
        rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
        random = check_random_state(self.random_state)
        flat = rows.reshape(rows.shape[0], -1)
        scorer = getattr(estimator, "score_samples", None) or estimator.decision_function
        own = np.asarray(scorer(X))
        areas = []
        for _ in range(self.n_shuffles):
            other: Any = _permuted(flat, random).reshape(rows.shape)
            if sparse.issparse(X):
                other = sparse.csr_array(other)
            elif hasattr(X, "columns"):
                other = type(X)(other, columns=X.columns)
            scores = np.concatenate([own, np.asarray(scorer(other))])
            areas.append(roc_auc_score(np.repeat([1, 0], own.size), scores))
        return float(np.mean(areas))

    def __repr__(self) -> str:
        return f"shuffled_columns_scorer(n_shuffles={self.n_shuffles})"


def _permuted(rows: Array, random: np.random.RandomState) -> Array:
    order = np.argsort(random.uniform(size=rows.shape), axis=0)
    return np.take_along_axis(rows, order, axis=0)


def shuffled_columns_scorer(n_shuffles: int = 5, random_state: Any = 0) -> ShuffledColumnsScorer:
    """Return a scorer for searches over one-class models, such as `GridSearchCV`.

    Held-out rows are compared with rows made from them by shuffling every column on its own: the
    same columns, without what ties them together. The score is the area under the ROC curve. It can
    compare kernels and widths, and needs no row of another class.

    Limits. It takes about 50 clean rows, and columns that depend on each other: with independent
    columns every score is near one half. With rows of other classes among the sample it prefers too
    narrow widths, and for several tasks it does not work: what is left out of a pooled sample is
    mostly of the sources.

    Parameters
    ----------
    n_shuffles : int, default=5
        How often columns are shuffled; the mean is taken.
    random_state : int or RandomState instance, default=0
        Seed of the shuffles; the same for every candidate.

    Returns
    -------
    callable
        ``scorer(estimator, X, y=None)``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from scarce import OneClassSVM
    >>> from scarce.model_selection import shuffled_columns_scorer
    >>> angle = np.random.default_rng(0).uniform(0, 6.28, size=200)
    >>> ring = np.c_[np.cos(angle), np.sin(angle)]
    >>> grid = {"gamma": [0.1, 10.0]}
    >>> model = OneClassSVM(nu=0.1)
    >>> search = GridSearchCV(model, grid, scoring=shuffled_columns_scorer(), cv=3).fit(ring)
    >>> search.best_params_
    {'gamma': 10.0}
    """
    if not isinstance(n_shuffles, Integral) or n_shuffles < 1:
        raise ValueError(
            "n_shuffles must be an integer of at least 1, got "
            f"{type(n_shuffles).__name__ if hasattr(n_shuffles, 'fit') else repr(n_shuffles)}; "
            "a search takes scoring=shuffled_columns_scorer(), with brackets"
        )
    return ShuffledColumnsScorer(int(n_shuffles), random_state)
