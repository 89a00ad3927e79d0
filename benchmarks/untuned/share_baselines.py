"""Methods of learning from proportions that the library is compared with.

They take the same arguments as `scarce.baselines.ProportionLogistic` to `fit`.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit, logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from scarce import SVC, GroupProbabilitySVM
from scarce._arrays import Array
from scarce._frame import Interval, StrOptions, collected_notes
from scarce.baselines._share_classifier import (
    ProbabilisticShareClassifier,
    ShareClassifier,
    fit_linear,
)
from scarce.kernels import formula_names
from scarce.proportions._share_loss import RowGroups, shares_of_all


class LinearShareClassifier(ProbabilisticShareClassifier):
    """Logistic models with weights of the features."""

    coef_: Array
    intercept_: Array

    _allowed_values: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, C: float = 1.0, tol: float = 1e-6, max_iter: int = 1000) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def _logits(self, X: Any) -> Array:
        return np.asarray(X @ self.coef_.T) + self.intercept_


def group_rows(X: Any, in_groups: RowGroups) -> Any:
    """Return the mean row of every group, sparse for sparse rows."""
    shape = (in_groups.sizes.size, in_groups.codes.size)
    means = sparse.csr_array((in_groups.parts, (in_groups.codes, np.arange(shape[1]))), shape=shape)
    return means @ X


class GroupMeanLogistic(LinearShareClassifier):
    """Logistic regression of the proportions on the groups' mean rows, each counted by its size.

    A group is one row, its proportion a soft label. With labels it is scikit-learn's
    LogisticRegression. The probability of a mean row is less extreme than that of single rows, so
    probabilities of rows are off.
    """

    def _learn(self, X: Any, in_groups: RowGroups, shares: Array) -> None:
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


class MeanMapClassifier(LinearShareClassifier):
    """Logistic regression whose only use of labels, the means of the classes, is estimated.

    The mean row of a group is the mean of the classes' mean rows, weighted by the proportions.
    Least squares over the groups give the classes' means; these, and the rows without labels, are
    all that logistic regression needs. N. Quadrianto, A. Smola, T. Caetano, Q. Le, "Estimating
    labels from label proportions", JMLR 2009, in the space of the features given.
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


class AlternatingLabelSVM(ShareClassifier):
    """Fit an SVM and labels of all rows in turn, the labels always meeting the proportions.

    F. X. Yu, D. Liu, S. Kumar, T. Jebara, S.-F. Chang, "pSVM for learning with label proportions",
    ICML 2013 (alter-pSVM), with an infinite cost of a wrong proportion. The first decision values
    are those of GroupProbabilitySVM instead of the best of many random labellings, so that the
    answer does not depend on chance. With labels it is `SVC`.
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
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
