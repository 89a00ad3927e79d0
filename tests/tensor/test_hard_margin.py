"""Values of nu that make no difference are said to make none, where they are compared."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold

from scarce import OneClassSTM
from tests.tensor.samples import one_class_tensors


def acceptance(model, X, y=None):
    return float(np.mean(model.predict(X) > 0))


def messages(caught):
    return [str(each.message) for each in caught if "same model" in str(each.message)]


def test_one_hard_margin_is_ordinary_use():
    tensors = one_class_tensors((4, 3), n=8, seed=11, mean=2.0)
    for _ in range(3):
        assert OneClassSTM(nu=0.1).fit(tensors).hard_margin_  # warnings are errors
    assert not OneClassSTM(nu=0.3).fit(tensors).hard_margin_
    assert OneClassSTM(nu=0.125).fit(one_class_tensors((4, 3), n=8, seed=12)).hard_margin_


def test_two_on_the_same_samples_are_said_once():
    tensors = one_class_tensors((4, 3), n=4, seed=13, mean=2.0)
    OneClassSTM(nu=0.1).fit(tensors)
    with pytest.warns(
        UserWarning, match=r"nu=0.1 and nu=0.2 give.*with 4 samples every nu up to 0.25"
    ) as caught:
        OneClassSTM(nu=0.2).fit(tensors)
    assert caught[0].filename == __file__
    OneClassSTM(nu=0.15).fit(tensors)
    OneClassSTM(nu=0.05).fit(2.0 * tensors)  # other samples


def test_other_ranks_and_shapes_are_other_models():
    rows = one_class_tensors((12,), n=4, seed=17, mean=2.0)
    for nu, shape, rank in ((0.1, (4, 3), 1), (0.2, (4, 3), 2), (0.15, (3, 4), 1), (0.05, None, 1)):
        OneClassSTM(nu=nu, tensor_shape=shape, rank=rank, tol=1e-3).fit(rows)  # no warning
    with pytest.warns(UserWarning, match=r"nu=0.2 and nu=0.25 give the same model"):
        OneClassSTM(nu=0.25, tensor_shape=(4, 3), rank=2, tol=1e-3).fit(rows)


def test_weights_widen_or_narrow_the_range():
    tensors = one_class_tensors((4, 3), n=4, seed=14, mean=2.0)
    weights = np.array([1.0, 1.0, 1.0, 2.0])
    assert OneClassSTM(nu=0.2).fit(tensors, sample_weight=weights).hard_margin_
    assert not OneClassSTM(nu=0.25).fit(tensors, sample_weight=weights).hard_margin_


def test_a_grid():
    tensors = one_class_tensors((4, 3), n=6, seed=15, mean=2.0)
    grid = {"nu": [0.05, 0.1, 0.5, 0.9]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GridSearchCV(OneClassSTM(), grid, scoring=acceptance, cv=KFold(3), refit=False).fit(tensors)
    assert len(messages(caught)) == 3  # once a fold
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grid = {"nu": [0.1, 0.5, 0.9]}
        other = one_class_tensors((4, 3), n=6, seed=16, mean=2.0)
        GridSearchCV(OneClassSTM(), grid, scoring=acceptance, cv=KFold(3), refit=False).fit(other)
    assert not messages(caught)
