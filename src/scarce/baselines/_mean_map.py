"""Learning from shares by estimated class means (docs/theory/shares.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import expit, logsumexp, softmax

from scarce._arrays import Array
from scarce.baselines._share_classifier import (
    LinearShareClassifier,
    fit_linear,
    group_rows,
)
from scarce.proportions._share_loss import RowGroups, shares_of_all


class MeanMapClassifier(LinearShareClassifier):
    """Logistic regression whose only use of labels, the means of the classes, comes from shares.

    The mean row of a group is the mean of the classes' mean rows, weighted by the shares. Least
    squares over the groups give the classes' means; these, and the rows without labels, are all
    that logistic regression needs.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the ridge on the weights.
    tol : float, default=1e-6
        Largest entry of the gradient, per row, at which the fit ends.
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
    class_means_ : ndarray of shape (n_classes, n_features)
        Estimated means of the classes.

    See Also
    --------
    ProportionLogistic : Meets the shares by mean probabilities.

    Notes
    -----
    N. Quadrianto, A. Smola, T. Caetano, Q. Le, "Estimating labels from label proportions", JMLR
    2009; in the space of the features given. It assumes that the rows of a class have the same
    mean in every group. With labels it is logistic regression.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.baselines import MeanMapClassifier
    >>> X = np.array([[-3.0], [-2.0], [-2.0], [1.0], [2.0], [3.0]])
    >>> groups = ["north", "north", "east", "east", "west", "west"]
    >>> model = MeanMapClassifier().fit(X, [0.0, 0.0, 0.5, 0.5, 1.0, 1.0], groups)
    >>> model.predict([[-1.0], [1.0]])
    array([0, 1])
    """

    def _learn(self, X: Any, in_groups: RowGroups, shares: Array) -> None:
        two = shares.shape[1] == 1
        every = shares_of_all(shares)
        root = np.sqrt(in_groups.sizes)
        solve = linalg.pinv(root[:, None] * every) * root
        self.class_means_ = np.asarray(group_rows(X, in_groups).T @ solve.T).T
        weights = in_groups.parts * in_groups.sizes[in_groups.codes]
        counts = in_groups.sizes @ every  # rows of each class
        known = np.column_stack([self.class_means_, np.ones(len(every.T))]) * counts[:, None]
        known = known[1:] if two else known

        def loss(logits: Array) -> tuple[float, Array]:
            if two:
                return float(weights @ np.logaddexp(0.0, logits[:, 0])), (
                    weights[:, None] * expit(logits)
                )
            return float(weights @ logsumexp(logits, axis=1)), (
                weights[:, None] * softmax(logits, axis=1)
            )

        coef, self.intercept_ = fit_linear(
            loss, X, shares.shape[1], in_groups.sizes.sum(), self, known
        )
        self.coef_ = coef.T
