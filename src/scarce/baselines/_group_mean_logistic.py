"""Learning from shares by logistic regression on the groups' mean rows (docs/theory/shares.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array
from scarce.baselines._share_classifier import LinearShareClassifier, group_rows
from scarce.proportions._share_loss import RowGroups, shares_of_all


class GroupMeanLogistic(LinearShareClassifier):
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

    def _learn(self, X: Any, in_groups: RowGroups, shares: Array) -> None:
        from sklearn.linear_model import LogisticRegression  # loads half of scikit-learn

        shares = shares_of_all(shares)
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
