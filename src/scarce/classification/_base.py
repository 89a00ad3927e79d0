"""What the binary margin classifiers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from scarce._kernel_machine import KernelMachine

Array = NDArray[Any]


class BinaryMachine(ClassifierMixin, KernelMachine):
    """Base of binary classifiers: labels, class weights, decision and prediction."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array]:
        """Return rows, signs (+1 for ``classes_[1]``) and weights; set the class attributes."""
        X, y = self._validated(X, y, reset=True)
        y = column_or_1d(y, warn=True)
        if y.shape[0] != X.shape[0]:
            raise ValueError(
                f"X and y have incompatible shapes: X has {X.shape[0]} samples, but y has "
                f"{y.shape[0]}."
            )
        check_classification_targets(y)
        weights = self._checked_weights(sample_weight, X)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The target has {len(classes)} classes; "
                f"wrap the estimator: sklearn.multiclass.OneVsOneClassifier({type(self).__name__}())."
            )
        if len(classes) < 2:
            raise ValueError("The number of classes has to be greater than one; got 1 class")
        if len(np.unique(codes[weights > 0])) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class."
            )
        self.classes_ = classes
        self.class_weight_ = compute_class_weight(self.class_weight, classes=classes, y=y)
        return X, 2.0 * codes - 1.0, weights * self.class_weight_[codes]

    @staticmethod
    def _class_order(coefficients: Array, signs: Array) -> Array:
        """Return the support vectors, those of ``classes_[0]`` first, as LIBSVM does."""
        support = np.flatnonzero(coefficients)
        return np.concatenate([support[signs[support] < 0], support[signs[support] > 0]])

    @property
    def n_support_(self) -> Array:
        """Number of support vectors of each class."""
        return np.asarray(self._n_support)

    def _count_support(self, order: Array, signs: Array) -> None:
        positive = int((signs[order] > 0).sum())
        self._n_support = np.array([order.size - positive, positive], dtype=np.int32)

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
        decisions = self.decision_function(X)
        return np.asarray(self.classes_[(decisions > 0).astype(np.intp)])
