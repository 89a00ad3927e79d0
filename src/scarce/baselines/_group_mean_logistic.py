"""Learning from shares by logistic regression on the groups' mean rows (docs/theory/shares.md)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce._frame import Interval, fit_frame
from scarce.baselines._share_classifier import ProbabilisticShareClassifier, group_rows


class GroupMeanLogistic(ProbabilisticShareClassifier):
    """Logistic regression of the shares on the mean rows of the groups, each counted by its size.

    The simplest thing that works: a group is one row, its share a soft label.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the ridge on the weights.
    tol : float, default=1e-6
        Tolerance of the fit.
    max_iter : int, default=1000
        Limit on the number of steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels; 0, 1, ... for shares.
    coef_ : ndarray of shape (n_columns, n_features)
        Weights of the features; one line for two classes, else one a class.
    intercept_ : ndarray of shape (n_columns,)
        Constants.
    n_iter_ : int
        Steps taken.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    ProportionLogistic : Means of probabilities instead of the probability of the mean row.

    Notes
    -----
    With labels it is :class:`sklearn.linear_model.LogisticRegression`, which does the work. The
    probability of a mean row is less extreme than that of single rows, so probabilities of rows
    are off.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.baselines import GroupMeanLogistic
    >>> X = np.array([[-3.0], [-2.0], [-2.0], [1.0], [2.0], [3.0]])
    >>> groups = ["north", "north", "east", "east", "west", "west"]
    >>> model = GroupMeanLogistic().fit(X, [0.0, 0.0, 0.5, 0.5, 1.0, 1.0], groups)
    >>> model.predict([[-1.0], [1.0]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, C: float = 1.0, tol: float = 1e-6, max_iter: int = 1000) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    @fit_frame
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Learn from shares, or from labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            With groups, the share of positives in each row's group, or the shares of all classes.
            Without groups, labels, or the shares of all classes for each row.
        groups : array-like of shape (n_samples,), default=None
            Group of each row: any hashable ids. A row of no group has -2, None or NaN, and NaN for
            `y`; it takes no part. By default every row is a group of its own.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in its group's mean and size.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        from sklearn.linear_model import LogisticRegression  # loads half of scikit-learn

        X, in_groups, shares, _ = self._read(X, y, groups, sample_weight)
        if shares.shape[1] == 1:
            shares = np.column_stack([1.0 - shares[:, 0], shares[:, 0]])
        means = group_rows(X, in_groups)
        label, group = np.nonzero(shares.T)
        missing = np.setdiff1d(np.arange(self.classes_.size), label)
        if missing.size:
            raise ValueError(f"y gives class {self.classes_[missing[0]]} no share in any group")
        model = LogisticRegression(C=self.C, tol=self.tol, max_iter=self.max_iter)
        stack = sparse.csr_array(means)[group] if sparse.issparse(means) else means[group]
        model.fit(stack, label, sample_weight=in_groups.sizes[group] * shares[group, label])
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.n_iter_ = max(1, int(np.max(model.n_iter_)))
        return self

    def _logits(self, X: Any) -> Array:
        return np.asarray(X @ self.coef_.T + self.intercept_)
