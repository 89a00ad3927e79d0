"""An estimator under check: what kind it is, and small samples that suit it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from scarce._arrays import Array

Data = tuple[Array, Array | None]


def one_sample(n: int) -> Data:
    """Return a cloud that lies clear of the origin, with a few rows far away."""
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 3)) * [1.0, 2.0, 0.5] + 4.0
    X[: n // 20] += random.uniform(4.0, 8.0, size=(n // 20, 3))
    return X, None


def two_classes(n: int) -> Data:
    """Return two classes of equal size that overlap a little."""
    random = np.random.default_rng(n)
    y = np.arange(n) % 2
    X = random.normal(size=(n, 3)) + 2.0 * y[:, None]
    return X, y


def smooth_values(n: int) -> Data:
    """Return rows and values of a smooth function, with noise."""
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.2 * random.normal(size=n)


def positive_and_unlabelled(n: int) -> Data:
    """Return a class of which half is labelled, the other half unlabelled among other rows."""
    random = np.random.default_rng(n)
    of_class = np.arange(n) % 3 == 0
    y = (of_class & (np.arange(n) % 2 == 0)).astype(int)
    X = 0.7 * random.normal(size=(n, 3)) + np.where(of_class, 5.0, 1.5)[:, None]
    return X, y


@dataclass(frozen=True)
class Subject:
    """An estimator to check, and a function that makes data of a given size for it."""

    estimator: Any
    make: Callable[[int], Data]

    @classmethod
    def of(cls, estimator: Any, make: Callable[[int], Data] | None = None) -> Subject:
        """Return the subject; without a function, with data of the estimator's kind."""
        if make is None and is_classifier(estimator):
            make = positive_and_unlabelled if hasattr(estimator, "pos_label") else two_classes
        if make is None and is_regressor(estimator):
            make = smooth_values
        return cls(estimator, one_sample if make is None else make)

    @property
    def name(self) -> str:
        """Name of the class."""
        return type(self.estimator).__name__

    @property
    def traits(self) -> set[str]:
        """What a check may ask for: the names of the parameters, and the kind of estimator."""
        tags = get_tags(self.estimator)
        accepted = tags.input_tags
        kinds = {"classifier"} if is_classifier(self.estimator) else set()
        # With a positive label the other means unlabelled.
        kinds |= kinds and (
            {"one label"} if hasattr(self.estimator, "pos_label") else {"two labels"}
        )
        if tags.classifier_tags is not None and tags.classifier_tags.multi_class:
            kinds |= {"several labels"}
        # Others may call a row unknown.
        kinds |= kinds and ({"always a class"} if not self.documents("unknown_label_") else set())
        kinds |= {"regressor"} if is_regressor(self.estimator) else set()
        kinds |= {"one-class"} if is_outlier_detector(self.estimator) else set()
        # Machines that count reads keep a history only of fits by chunks.
        always = self.documents("history_") and not self.documents("n_reads_")
        kinds |= {"history"} if always else set()
        kinds |= {"certificate"} if self.documents("kkt_violation_") else set()
        kinds |= {"callbacks"} if hasattr(self.estimator, "set_callbacks") else set()
        kinds |= {"weights"} if self.takes_weights else set()
        kinds |= {"sparse"} if accepted.sparse else set()
        kinds |= {"tensors"} if accepted.three_d_array else set()
        return kinds | set(self.estimator.get_params(deep=False))

    @property
    def takes_weights(self) -> bool:
        """Whether `fit` takes weights, for itself or to pass them on."""
        routing = get_routing_for_object(self.estimator)
        passed_on = "sample_weight" in routing.consumes("fit", ["sample_weight"])
        return passed_on or has_fit_parameter(self.estimator, "sample_weight")

    @property
    def cut_at_training_rows(self) -> dict[str, str]:
        """The parameter with which training rows set the offset, where rows left out do so."""
        if getattr(self.estimator, "offset", None) != "left_out":
            return {}
        return {"offset": self.estimator._published_offset}

    def documents(self, attribute: str) -> bool:
        """Say whether the class, or one it derives from, documents a fitted attribute."""
        # Python 3.13 takes away the indentation of docstrings by itself.
        texts = (cleandoc(kind.__doc__ or "") for kind in type(self.estimator).__mro__)
        return any(f"\n{attribute} :" in text for text in texts)

    @property
    def containers(self) -> list[Callable[[Array], Any]]:
        """The kinds of matrices that the estimator takes."""
        return [np.asarray, sparse.csr_array] if "sparse" in self.traits else [np.asarray]

    def new(self, **parameters: Any) -> Any:
        """Return an unfitted copy."""
        return clone(self.estimator).set_params(**parameters)


def scores_of(model: Any, X: Any) -> Array:
    """Return what a fitted model says of rows: decision values, scores, or what it predicts."""
    for name in ("decision_function", "score_samples"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    return np.asarray(model.predict(X))
