"""Proportions by mean probabilities, DLLP without a network (docs/theory/label_proportions.md)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from scarce._arrays import Array
from scarce._frame import Interval, StrOptions
from scarce.baselines._share_classifier import ProbabilisticShareClassifier, fit_linear
from scarce.kernels import Kernel, formula_names, landmark_root, make_kernel
from scarce.proportions import RowGroups, share_loss


class ProportionLogistic(ProbabilisticShareClassifier):
    """Logistic regression whose mean probability in each group is to meet the group's proportion.

    Makes small the cross-entropy between proportions and mean probabilities, groups counted by
    their sizes, plus ``|w|^2 / (2 C)``, on the rows themselves or on Nystroem features of a kernel.

    Parameters
    ----------
    C : float, default=10.0
        Inverse strength of the ridge on the weights. Nystroem features are short, and proportions
        say less than labels: small values give constants.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian"}, default="rbf"
        The kernel; linear takes the rows as they are.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernel.
    n_components : int, default=200
        Number of landmark rows of the Nystroem features.
    tol : float, default=1e-6
        Largest entry of the gradient, per row, at which the fit ends.
    max_iter : int, default=1000
        Limit on the number of steps.
    random_state : int, RandomState instance or None, default=None
        Choice of the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels; 0, 1, ... for proportions.
    coef_ : ndarray of shape (n_columns, n_features)
        Weights of the features; one row for two classes, else one a class.
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
    scarce.GroupProbabilitySVM : Convex, certified, calibrated by the same loss.

    Notes
    -----
    E. Ardehaly, A. Culotta, "Co-training for demographic classification using deep learning from
    label proportions", ICDMW 2017, use this loss (DLLP) for a network. The loss is not convex when
    groups hold several rows: what is found is the local optimum reached from zero weights. With
    labels it is logistic regression.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.baselines import ProportionLogistic
    >>> X = np.array([[-3.0], [-2.0], [-2.0], [1.0], [2.0], [3.0]])
    >>> groups = ["north", "north", "east", "east", "west", "west"]
    >>> model = ProportionLogistic(kernel="linear")
    >>> model.fit(X, [0.0, 0.0, 0.5, 0.5, 1.0, 1.0], groups).predict([[-1.0], [1.0]])
    array([0, 1])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "kernel": [StrOptions(set(formula_names()))],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        C: float = 10.0,
        kernel: str = "rbf",
        gamma: Any = "scale",
        n_components: int = 200,
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn(self, X: Any, in_groups: RowGroups, shares: Array) -> None:
        kernel = make_kernel(self.kernel, self.gamma, 3, 0.0)
        if not kernel.explicit:
            kernel = kernel.settled(X, in_groups.parts * in_groups.sizes[in_groups.codes])
            self._gamma = float(kernel.parameter("gamma", 0.0))
            self._landmarks = X[self._chosen(X)]
            self._root = landmark_root(kernel.values(self._landmarks, self._landmarks)).root
        coef, self.intercept_ = fit_linear(
            lambda logits: share_loss(logits, in_groups, shares),
            self._features(X, kernel),
            shares.shape[1],
            in_groups.sizes.sum(),
            self,
        )
        self.coef_ = coef.T

    def _chosen(self, X: Any) -> Array:
        """Return the landmarks, of distinct rows, so that repeating rows changes nothing."""
        direction = np.random.default_rng(0).normal(size=X.shape[1])
        keys = np.round(np.asarray(X @ direction), 6)  # rows of equal sums are taken to be equal
        distinct = np.unique(keys, return_index=True)[1]
        random = check_random_state(self.random_state)
        return np.asarray(distinct[random.permutation(distinct.size)[: self.n_components]])

    def _features(self, X: Any, kernel: Kernel) -> Any:
        if kernel.explicit:
            return X
        return kernel.values(X, self._landmarks) @ self._root

    def _logits(self, X: Any) -> Array:
        kernel = make_kernel(self.kernel, getattr(self, "_gamma", self.gamma), 3, 0.0)
        return np.asarray(self._features(X, kernel) @ self.coef_.T) + self.intercept_
