"""What the binary margin classifiers share."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._classes import ONE_CLASS_LEFT, check_lengths, two_classes, with_labels_only
from scarce._frame import checked_weights, fit_frame
from scarce._kernel_machine import KernelMachine, Sample


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
        check_lengths(X, y)
        weights = checked_weights(sample_weight, X)
        known = weights if labelled is None else np.where(labelled.ravel(), weights, 0.0)
        self.classes_, signs = two_classes(y, known, type(self).__name__, self._one_class_left)
        if self.class_weight == "equal-total":  # only `SVC` takes it
            totals = np.bincount((signs > 0).astype(np.intp), known)
            self.class_weight_ = totals.min() / totals
        elif self.class_weight is None:
            self.class_weight_ = np.ones(2)
        else:
            self.class_weight_ = compute_class_weight(
                self.class_weight, classes=self.classes_, y=y, sample_weight=known
            )
        return X, signs, weights

    @property
    def n_support_(self) -> Array:
        """Number of support vectors of each class."""
        return np.asarray(self._n_support)

    def _row_factors(self, signs: Array) -> Array:
        """Return the class weight of each row."""
        return np.asarray(self.class_weight_[(signs > 0).astype(np.intp)])

    def _keep_expansion(self, sample: Sample, signs: Array, coefficients: Array) -> None:
        """Store the expansion, ``classes_[0]`` first as LIBSVM does."""
        support, weights = self._expansion(sample.operator, coefficients)
        order = np.argsort(signs[support], kind="stable")
        self._keep(sample.X, sample.rows[support[order]], weights[order])
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
        if not hasattr(self, "dual_coef_"):
            check_is_fitted(self)
        # Only the replacements of scikit-learn's classes have these two parameters.
        if getattr(self, "break_ties", False) and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        decisions = self.decision_function(X)
        return np.asarray(self.classes_[(decisions > 0).astype(np.intp)])


class WarmMachine(BinaryMachine):
    """Base of binary classifiers that can begin with given dual variables."""

    def _fit(self, X: Any, y: Any, sample_weight: Any, start: Array | None) -> Self:
        """Fit; ``start`` holds dual variables, one a row, None for those of the last fit if any."""
        raise NotImplementedError

    @fit_frame
    def _fit_from(self, X: Any, y: Any, sample_weight: Any, start: Array | None) -> Self:
        """Fit, beginning with dual variables of a similar problem."""
        return self._fit(X, y, sample_weight, start)

    def _first_dual_variables(self, given: Array | None, sample: Sample) -> Array | None:
        """Return the dual variables to begin with, of the rows that take part."""
        last = self._last_dual_variables(sample.X.shape[0]) if given is None else given
        return None if last is None else np.abs(last[sample.rows])
