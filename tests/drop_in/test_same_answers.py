"""Changing only the import line changes neither parameters nor answers."""

import inspect
from typing import Any

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from scarce.testing import scores_of
from tests.drop_in.borrowing import CLASSES, NAMED_HERE

ROWS, LABELS = make_blobs(n_samples=120, n_features=3, centers=2, cluster_std=3.0, random_state=0)
ROWS = ROWS - ROWS.mean(axis=0) + 8.0  # clear of the origin, or a linear one-class model is zero
TRAIN, TEST = slice(0, 80), slice(80, None)

LEFT_OUT = {"probability", "probA_", "probB_"}
OF_OTHER_CLASSES = {"C", "nu", "epsilon", "class_weight", "unused_param"}  # set by the common base
PARAMETERS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "gamma auto": {"gamma": "auto"},
    "gamma given": {"gamma": 0.01},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.001},
    "callable": {"kernel": laplacian_kernel},
}


def pair(name: str, **parameters: Any) -> tuple[Any, Any]:
    """Return our estimator and scikit-learn's, the latter at a tight tolerance."""
    return CLASSES[name](**parameters), getattr(sklearn.svm, name)(tol=1e-9, **parameters)


def assert_same(ours: Any, theirs: Any, X: Any) -> None:
    expected = scores_of(theirs, X)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(scores_of(ours, X), expected, atol=2e-4 * scale)
    if hasattr(ours, "decision_function"):
        clear = np.abs(expected) > 1e-3 * scale
        np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])
    for name in ("intercept_", "dual_coef_", "n_support_", "support_", "n_iter_", "fit_status_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert type(mine) is type(other), name
        assert getattr(mine, "dtype", None) == getattr(other, "dtype", None), name
        assert np.ndim(mine) == np.ndim(other), name
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4 * scale)


@pytest.mark.parametrize("name", CLASSES)
def test_same_parameters_and_defaults(name: str) -> None:
    ours = inspect.signature(CLASSES[name]).parameters
    theirs = inspect.signature(getattr(sklearn.svm, name)).parameters
    assert set(theirs) - set(ours) <= LEFT_OUT
    for key in set(theirs) & set(ours):
        if NAMED_HERE or key not in LEFT_OUT:  # `probability` is deprecated since 1.9
            assert ours[key].default == theirs[key].default, key
        assert ours[key].kind == theirs[key].kind, key


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_same_attributes(name: str, kernel: str) -> None:
    X = ROWS if kernel != "precomputed" else rbf_kernel(ROWS)
    ours, theirs = (model.fit(X, LABELS) for model in pair(name, kernel=kernel))
    expected = {key for key in dir(theirs) if not key.startswith("_")} - LEFT_OUT - OF_OTHER_CLASSES
    assert {key for key in expected if hasattr(theirs, key) and not hasattr(ours, key)} == set()
    assert hasattr(ours, "coef_") == hasattr(theirs, "coef_") == (kernel == "linear")
    assert ours.shape_fit_ == theirs.shape_fit_


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("parameters", PARAMETERS.values(), ids=PARAMETERS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_same_answers(name: str, parameters: dict[str, Any], container: Any) -> None:
    ours, theirs = pair(name, **parameters)
    train, test = container(ROWS[TRAIN]), container(ROWS[TEST])
    for model in (ours, theirs):
        model.fit(train, LABELS[TRAIN])
    assert_same(ours, theirs, test)


@pytest.mark.parametrize("name", CLASSES)
def test_same_answers_for_a_precomputed_kernel(name: str) -> None:
    ours, theirs = pair(name, kernel="precomputed")
    train, test = rbf_kernel(ROWS[TRAIN]), rbf_kernel(ROWS[TEST], ROWS[TRAIN])
    for model in (ours, theirs):
        model.fit(train, LABELS[TRAIN])
    assert_same(ours, theirs, test)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}, {1: 0.2}])
def test_same_answers_for_class_weights(class_weight: Any) -> None:
    kept = np.flatnonzero((LABELS == 0) | (np.arange(LABELS.size) % 3 == 0))
    ours, theirs = pair("SVC", class_weight=class_weight)
    for model in (ours, theirs):
        model.fit(ROWS[kept], LABELS[kept])
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    assert_same(ours, theirs, ROWS)


@pytest.mark.parametrize("name", ["OneClassSVM", "SVC"])
def test_same_answers_for_weights_at_a_given_width(name: str) -> None:
    # With gamma="scale" ours counts rows by their weights, scikit-learn's does not.
    weights = np.random.default_rng(0).uniform(0.1, 3.0, LABELS.size)
    ours, theirs = pair(name, gamma=0.1)
    for model in (ours, theirs):
        model.fit(ROWS, LABELS, sample_weight=weights)
    assert_same(ours, theirs, ROWS)
