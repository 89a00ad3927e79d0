"""What the margin classifiers share: labels, class weights, and the answers of binary ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d

from scarce._arrays import Array
from scarce._classes import ONE_CLASS_LEFT, check_lengths, two_classes, with_labels_only
from scarce._frame import checked_weights
from scarce._kernel_machine import KernelMachine, Sample, is_plain_target
from scarce._predictions import LabelPredictions
from scarce._sklearn import class_factors


class LabelledMachine(ClassifierMixin, KernelMachine):
    """Base of classifiers: labels and class weights; a subclass has `_read_labels`."""

    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_weight": True}
    _one_class_left: ClassVar[str] = ONE_CLASS_LEFT

    def _read_labels(self, y: Array, weights: Array) -> tuple[Array, Array]:
        """Return the labels and each row's place among them."""
        raise NotImplementedError

    def _coded(
        self, X: Any, y: Any, sample_weight: Any, labelled: Array | None = None
    ) -> tuple[Any, Array, Array]:
        """Return rows, their places in ``classes_`` and weights; set the class attributes.

        ``labelled`` marks the rows that have a label, by default all. What `y` holds for the others
        is ignored, and their places mean nothing.
        """
        if labelled is not None and y is not None:
            y = with_labels_only(y, labelled)
        X, y = self._validated(X, y, reset=True)
        if not is_plain_target(y, X.shape[0]):
            y = column_or_1d(y, warn=True)
            check_lengths(X, y)
        weights = checked_weights(sample_weight, X)
        known = weights if labelled is None else np.where(labelled.ravel(), weights, 0.0)
        self.classes_, codes = self._read_labels(y, known)
        n_classes = self.classes_.size
        self._set_class_weight(lambda: np.bincount(codes, known, minlength=n_classes))
        return X, codes, weights

    def _set_class_weight(self, totals: Callable[[], Array]) -> None:
        """Settle the factors of the classes; ``totals`` returns their weights in all."""
        if self.class_weight is None:
            self.class_weight_ = np.ones(self.classes_.size)
        elif self.class_weight == "equal-total":  # only `SVC` takes it
            weights = totals()
            self.class_weight_ = weights.min() / weights
        else:
            self.class_weight_ = class_factors(self.class_weight, self.classes_, totals())

    @property
    def n_support_(self) -> Array:
        """Number of support vectors of each class."""
        return np.asarray(self._n_support)


class BinaryMachine(LabelPredictions, LabelledMachine):
    """Base of binary classifiers: signs, decision and prediction."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _read_labels(self, y: Array, weights: Array) -> tuple[Array, Array]:
        classes, signs = two_classes(y, weights, type(self).__name__, self._one_class_left)
        return classes, (signs > 0).astype(np.intp)

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any, labelled: Array | None = None
    ) -> tuple[Any, Array, Array]:
        """Return rows, signs (+1 for ``classes_[1]``) and weights; see `_coded`."""
        X, codes, weights = self._coded(X, y, sample_weight, labelled)
        return X, 2.0 * codes - 1.0, weights

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

    def _decisions(self, X: Any) -> Array:
        scores = self._raw_scores(X)
        if self._n_support.sum() != self.dual_coef_.shape[1]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        return np.asarray(scores + self.intercept_)
