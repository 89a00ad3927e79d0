"""The public estimators, each ready to be fitted to data that suit it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_outlier_detector
from sklearn.utils import get_tags

import scarce

Array = NDArray[Any]
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

    @property
    def name(self) -> str:
        return type(self.estimator).__name__

    @property
    def traits(self) -> set[str]:
        """What a check may ask for: the names of the parameters, and the kind of estimator."""
        accepted = get_tags(self.estimator).input_tags
        kinds = {"classifier"} if is_classifier(self.estimator) else set()
        # With a positive label the other means unlabelled.
        kinds |= kinds and (
            {"one label"} if hasattr(self.estimator, "pos_label") else {"two labels"}
        )
        kinds |= {"one-class"} if is_outlier_detector(self.estimator) else set()
        kinds |= {"history"} if "history_ :" in (type(self.estimator).__doc__ or "") else set()
        kinds |= {"sparse"} if accepted.sparse else set()
        kinds |= {"tensors"} if accepted.three_d_array else set()
        return kinds | set(self.estimator.get_params(deep=False))

    @property
    def containers(self) -> list[Callable[[Array], Any]]:
        """Return the kinds of matrices that the estimator takes."""
        return [np.asarray, sparse.csr_array] if "sparse" in self.traits else [np.asarray]

    def new(self, **parameters: Any) -> Any:
        """Return an unfitted copy."""
        return clone(self.estimator).set_params(**parameters)


SUBJECTS = [
    Subject(scarce.OneClassSVM(nu=0.2), one_sample),
    # Cut at training scores, as in the papers, so that one row is enough and `nu` is what is rejected;
    # tests/test_false_alarms.py has the checks of left-out scores.
    Subject(scarce.TransferOneClassSVM(nu=0.2, gamma="scale", offset="original"), one_sample),
    # Rows stay where they are: sparse ones and those of a precomputed kernel cannot be moved.
    Subject(scarce.UOCTSVM(C_target=0.1, radius=0.0, offset="original"), one_sample),
    Subject(scarce.OneClassSTM(nu=0.2, rank=1, normalize=False, offset="training"), one_sample),
    Subject(scarce.STM(), two_classes),
    Subject(scarce.SVC(), two_classes),
    Subject(scarce.NuSVC(nu=0.3), two_classes),
    Subject(scarce.SVMC(), positive_and_unlabelled),
    Subject(scarce.MappingConvergence(), positive_and_unlabelled),
    Subject(scarce.ProjectionMMDSVM(), two_classes),
    Subject(scarce.TransductiveSVM(), two_classes),
    Subject(scarce.LocallyWeightedEnsemble(), two_classes),
    Subject(scarce.GroupProbabilitySVM(), two_classes),
    Subject(scarce.TransferGroupProbabilitySVM(), two_classes),
]


def public_estimators() -> dict[str, type]:
    """Return the estimator classes among the public names."""
    found = {name: getattr(scarce, name) for name in scarce.__all__}
    return {
        name: kind
        for name, kind in found.items()
        if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    }
