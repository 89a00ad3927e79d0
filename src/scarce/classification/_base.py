"""What the binary margin classifiers share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from scarce._kernel_machine import KernelMachine

Array = NDArray[Any]

ONE_CLASS_LEFT = "Invalid input - all samples with positive weights belong to the same class."


def two_classes(
    y: Array, weights: Array, name: str, one_class_left: str = ONE_CLASS_LEFT
) -> tuple[Array, Array]:
    """Return the two labels and a sign per row, +1 for the second; refuse any other number."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The target has {len(classes)} classes; "
            f"wrap the estimator: sklearn.multiclass.OneVsOneClassifier({name}())."
        )
    if len(classes) < 2:
        raise ValueError("The number of classes has to be greater than one; got 1 class")
    if np.unique(codes[weights > 0]).size < 2:
        raise ValueError(one_class_left)
    return classes, 2.0 * codes - 1.0


def with_labels_only(y: Any, labelled: Array) -> Array:
    """Return `y` with some row's label in place of whatever the rows without label hold."""
    labels: Array = np.array(y)
    if labels.shape == labelled.shape and labelled.any():
        labels[~labelled] = labels[labelled][0]
    return labels


class BinaryMachine(ClassifierMixin, KernelMachine):
    """Base of binary classifiers: labels, class weights, decision and prediction."""

    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}
    _one_class_left: ClassVar[str] = ONE_CLASS_LEFT

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any, labelled: Array | None = None
    ) -> tuple[Any, Array, Array]:
        """Return rows, signs (+1 for ``classes_[1]``) and weights; set the class attributes.

        ``labelled`` tells which rows have a label, by default all. What `y` holds for the others is
        not looked at, and their signs mean nothing.
        """
        if labelled is not None and y is not None:
            y = with_labels_only(y, labelled)
        X, y = self._validated(X, y, reset=True)
        y = column_or_1d(y, warn=True)
        if y.shape[0] != X.shape[0]:
            raise ValueError(
                f"X and y have incompatible shapes: X has {X.shape[0]} samples, but y has "
                f"{y.shape[0]}."
            )
        weights = self._checked_weights(sample_weight, X)
        known = weights if labelled is None else np.where(labelled.ravel(), weights, 0.0)
        self.classes_, signs = two_classes(y, known, type(self).__name__, self._one_class_left)
        self.class_weight_ = compute_class_weight(
            self.class_weight, classes=self.classes_, y=y, sample_weight=known
        )
        return X, signs, weights

    @property
    def n_support_(self) -> Array:
        """Number of support vectors of each class."""
        return np.asarray(self._n_support)

    def _keep_expansion(
        self, X: Any, rows: Array, signs: Array, operator: Any, coefficients: Array
    ) -> None:
        """Store the expansion, ``classes_[0]`` first as LIBSVM does."""
        support, weights = self._expansion(operator, coefficients)
        order = np.argsort(signs[support], kind="stable")
        self._keep(X, rows[support[order]], weights[order])
        positive = int((signs[support] > 0).sum())
        self._n_support = np.array([support.size - positive, positive], dtype=np.int32)

    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        scores = self._raw_scores(X)
        if self._n_support.sum() != self.dual_coef_.shape[1]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        return np.asarray(scores + self.intercept_)

    def predict(self, X: Any) -> Array:
        """Return the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for a precomputed kernel, their values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of ``classes_``.
        """
        check_is_fitted(self)
        # Only the replacements of scikit-learn's classes have these two parameters.
        if getattr(self, "break_ties", False) and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        decisions = self.decision_function(X)
        return np.asarray(self.classes_[(decisions > 0).astype(np.intp)])
