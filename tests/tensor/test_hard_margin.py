"""Values of nu that make no difference are told by an attribute, whatever was fitted before."""

import numpy as np
import pytest

from tests.published import one_class_stm
from tests.tensor.samples import one_class_tensors


def test_small_values_of_nu_are_a_hard_margin():
    tensors = one_class_tensors((4, 3), n=8, seed=11, mean=2.0)
    assert one_class_stm(nu=0.1).fit(tensors).hard_margin_
    assert one_class_stm(nu=0.125).fit(tensors).hard_margin_
    assert not one_class_stm(nu=0.3).fit(tensors).hard_margin_


def test_a_fit_says_the_same_whatever_ran_before():
    tensors = one_class_tensors((4, 3), n=4, seed=13, mean=2.0)
    models = [one_class_stm(nu=nu).fit(tensors) for nu in (0.1, 0.2, 0.1)]  # warnings are errors
    for model in models[1:]:
        assert model.objective_ == pytest.approx(models[0].objective_, rel=1e-12)


def test_weights_widen_or_narrow_the_range():
    tensors = one_class_tensors((4, 3), n=4, seed=14, mean=2.0)
    weights = np.array([1.0, 1.0, 1.0, 2.0])
    assert one_class_stm(nu=0.2).fit(tensors, sample_weight=weights).hard_margin_
    assert not one_class_stm(nu=0.25).fit(tensors, sample_weight=weights).hard_margin_
