"""An approximation that takes longer than the exact fit says so."""

import warnings

import numpy as np
import pytest

import scarce


def rows(n):
    return np.random.default_rng(0).normal(size=(n, 4))


def test_many_landmarks_and_few_support_vectors_are_told():
    model = scarce.OneClassSVM(nu=0.01, approximation="nystroem", n_components=300, random_state=0)
    with pytest.warns(UserWarning, match="does not pay: with n_components=300 .* 6000 rows"):
        model.fit(rows(6000))


@pytest.mark.parametrize(("n", "nu", "components"), [(20_000, 0.2, 50), (500, 0.01, 300)])
def test_what_pays_or_is_small_is_not(n, nu, components):
    model = scarce.OneClassSVM(
        nu=nu, gamma=0.05, approximation="nystroem", n_components=components, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(rows(n))
