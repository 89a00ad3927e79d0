"""The width called "scale" against scikit-learn's formula."""

import numpy as np
import pytest
from sklearn.svm import SVC

from scarce.kernels import scale_gamma
from tests.kernels.samples import rows


@pytest.mark.parametrize("shape", [(3, 2), (200, 7), (40_000, 3)])
def test_it_is_one_over_features_times_variance(shape):
    X = np.random.default_rng(0).normal(1.0, 3.0, size=shape)
    assert scale_gamma(X) == pytest.approx(1.0 / (shape[1] * X.var()), rel=1e-12)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_it_is_what_scikit_learn_fits_with(form):
    X = rows(80, form)
    fitted = SVC(gamma="scale").fit(X, np.arange(80) % 2)
    assert scale_gamma(X) == pytest.approx(fitted._gamma, rel=1e-12)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_weights_are_repetition(form):
    X = rows(90, form)
    weights = np.random.default_rng(1).integers(0, 4, 90)
    repeated = X[np.repeat(np.arange(90), weights)]
    found = scale_gamma(X, weights.astype(float))
    assert found == pytest.approx(scale_gamma(repeated), rel=1e-12)
    assert found != pytest.approx(scale_gamma(X), rel=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_is_dense(dtype):
    assert scale_gamma(rows(90, "sparse", dtype)) == pytest.approx(
        scale_gamma(rows(90, "dense", dtype)), rel=1e-6 if dtype is np.float32 else 1e-12
    )


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -1e5 / 3, 1e8 + 0.1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_data_give_one(value, dtype):
    X = np.full((1000, 3), value, dtype)
    assert scale_gamma(X) == 1.0
    assert scale_gamma(X, np.linspace(0.1, 1.0, 1000)) == 1.0


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_an_offset_costs_no_digits(offset):
    # Steps of 1/64 are exact with the offset, so that the variance is known.
    steps = np.round(np.random.default_rng(0).normal(size=(500, 3)) * 64) / 64
    found = scale_gamma(steps + offset)
    assert found == pytest.approx(1.0 / (3 * steps.var()), rel=1e-9)


def test_single_precision_is_summed_in_double():
    X = np.random.default_rng(0).normal(size=(60_000, 4)).astype(np.float32) + np.float32(100.0)
    exact = 1.0 / (4 * X.astype(np.float64).var())
    assert scale_gamma(X) == pytest.approx(exact, rel=1e-10)


def test_tiny_variances_do_not_overflow():
    X = np.array([[0.0], [1e-160]])
    assert np.isfinite(scale_gamma(X))


def test_far_rows_of_weight_zero_take_no_part():
    X = np.random.default_rng(0).normal(size=(200, 2))
    far = np.full((64, 2), 1e9)
    weights = np.concatenate([np.zeros(64), np.ones(200)])
    found = scale_gamma(np.concatenate([far, X]), weights)
    assert found == pytest.approx(scale_gamma(X), rel=1e-9)
