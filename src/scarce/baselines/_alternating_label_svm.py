"""Learning from shares by guessing labels in turn (docs/theory/shares.md)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from scarce._arrays import Array
from scarce._frame import Interval, StrOptions, collected_notes
from scarce.baselines._share_classifier import ShareClassifier
from scarce.classification import SVC
from scarce.kernels import formula_names
from scarce.proportions import GroupProbabilitySVM
from scarce.proportions._share_loss import RowGroups


class AlternatingLabelSVM(ShareClassifier):
    """Fit an SVM and labels of all rows in turn, the labels always meeting the shares.

    In each group the rows of the largest decision values are labelled positive, as many as the
    share says; an :class:`SVC` of these labels gives the next decision values. Two classes only.

    Parameters
    ----------
    C : float, default=1.0
        Price of one unit of slack.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian"}, default="rbf"
        The kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernel.
    max_rounds : int, default=20
        Limit on the number of SVMs.
    tol : float, default=1e-3
        Tolerance of each of them.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; 0 and 1 for shares.
    svc_ : SVC
        The SVM of the last round.
    n_rounds_ : int
        Number of SVMs.
    converged_ : bool
        Whether the labels stayed the same in the last round.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    scarce.TransductiveSVM : Labels given for some rows.

    Notes
    -----
    F. Yu, D. Liu, S. Kumar, T. Jebara, S.-F. Chang, "SVM for learning with label proportions", ICML
    2013 (alter-pSVM), with an infinite price of a wrong share. Chosen here: the first decision
    values are those of :class:`scarce.GroupProbabilitySVM` instead of the best of many random
    labellings, so that the answer does not depend on chance. With labels it is `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.baselines import AlternatingLabelSVM
    >>> X = np.array([[-3.0], [-2.0], [-2.0], [1.0], [2.0], [3.0]])
    >>> groups = ["north", "north", "east", "east", "west", "west"]
    >>> model = AlternatingLabelSVM(kernel="linear")
    >>> model.fit(X, [0.0, 0.0, 0.5, 0.5, 1.0, 1.0], groups).predict([[-1.0], [1.0]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "kernel": [StrOptions(set(formula_names()))],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: Any = "scale",
        max_rounds: int = 20,
        tol: float = 1e-3,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.max_rounds = max_rounds
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _learn(self, X: Any, in_groups: RowGroups, shares: Array) -> None:
        if shares.shape[1] > 1:
            raise ValueError(
                f"Only binary classification is supported. The target has {shares.shape[1]} "
                "classes; ProportionLogistic and scarce.GroupProbabilitySVM take several."
            )
        weights = in_groups.parts * in_groups.sizes[in_groups.codes]
        settings = {"kernel": self.kernel, "gamma": self.gamma, "tol": self.tol}
        if in_groups.sizes.size == in_groups.codes.size:  # every row has its own share
            decisions = shares[in_groups.codes, 0]
        else:
            start = GroupProbabilitySVM(calibrate=None, **settings)
            with collected_notes():  # they are about the start
                start.fit(X, shares[in_groups.codes, 0], in_groups.codes, sample_weight=weights)
            decisions = start.decision_function(X)
        labels = labels_of_shares(decisions, in_groups, shares[:, 0])
        for n_rounds in range(1, self.max_rounds + 1):
            if np.ptp(labels) == 0:
                raise ValueError(
                    f"the shares leave no row to class {self.classes_[1 - labels[0]]}: every "
                    "group's share rounds to one class; use larger groups, or ProportionLogistic"
                )
            self.svc_ = SVC(C=self.C, **settings).fit(X, labels, sample_weight=weights)
            self.n_rounds_, before = n_rounds, labels
            labels = labels_of_shares(self.svc_.decision_function(X), in_groups, shares[:, 0])
            self.converged_ = bool((labels == before).all())
            if self.converged_:
                break

    def _logits(self, X: Any) -> Array:
        return np.asarray(self.svc_.decision_function(X))[:, None]


def labels_of_shares(decisions: Array, in_groups: RowGroups, shares: Array) -> Array:
    """Return 1 for the rows of the largest decisions in each group, as many as its share says."""
    order = np.lexsort((-decisions, in_groups.codes))
    group = in_groups.codes[order]
    upto = np.cumsum(in_groups.parts[order]) - group  # parts sum to one in each group before
    labels = np.zeros(decisions.size, dtype=np.intp)
    labels[order] = upto - 0.5 * in_groups.parts[order] < shares[group]  # more than half of the row
    return labels
