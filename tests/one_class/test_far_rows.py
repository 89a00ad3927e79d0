"""Distances in units of the boundary's, against sums in extended precision."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from scarce import SVDD, CalibratedOneClass, OneClassSVM, TransferOneClassSVM
from scarce._kernel_sum import log_sums
from scarce.kernels import make_kernel

X = np.random.default_rng(0).normal(size=(60, 3))
NEW = np.random.default_rng(1).normal(size=(200, 3)) * np.geomspace(0.5, 20.0, 200)[:, None]

MODELS = [
    OneClassSVM(gamma="neighbors", false_alarms=0.1),
    OneClassSVM(kernel="laplacian", gamma="neighbors", false_alarms=0.1),
    OneClassSVM(gamma=0.3),
    SVDD(gamma="neighbors", false_alarms=0.1),
    TransferOneClassSVM(),
    CalibratedOneClass(),
    CalibratedOneClass(OneClassSVM(gamma=40.0)),
]


@pytest.mark.parametrize(("kernel", "metric"), [("rbf", "sqeuclidean"), ("laplacian", "cityblock")])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_logarithms_are_those_of_extended_precision(kernel, metric, container):
    weights = np.random.default_rng(2).uniform(size=60)
    exponents = -2.0 * cdist(NEW, X, metric).astype(np.longdouble)
    # Numbers of 80 bits go down to 1e-4932.
    assert exponents.max(axis=1).min() > -11_000
    expected = np.log((weights * np.exp(exponents)).sum(axis=1))
    found = log_sums(container(NEW), container(X), weights, make_kernel(kernel, gamma=2.0))
    np.testing.assert_allclose(found, expected.astype(float), rtol=1e-10)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_boundary_is_at_one_and_far_rows_keep_their_order(model):
    ratio = model.fit(X).distance_ratio(NEW)
    np.testing.assert_array_equal(ratio > 1.0, model.predict(NEW) == -1)
    away = np.linspace(6.0, 6e3, 500)[:, None] * np.ones(3)
    assert np.unique(model.decision_function(away)).size < 100  # what is lost
    far = model.distance_ratio(away)
    assert (np.diff(far) > 0).all()
    # Twice as far is about twice the number.
    assert far[-1] / far[249] == pytest.approx(away[-1, 0] / away[249, 0], rel=0.01)
    single = model.fit(X.astype(np.float32)).distance_ratio(away.astype(np.float32))
    np.testing.assert_allclose(single, far, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_of_a_calibrated_model_keep_the_order_of_far_rows(dtype):
    away = (np.logspace(1.0, 15.0, 400)[:, None] * np.ones(3)).astype(dtype)
    for model in (CalibratedOneClass(), CalibratedOneClass(OneClassSVM(gamma=4.0))):
        scores = model.fit(X.astype(dtype)).score_samples(away)
        assert (scores > 0.0).all()
        assert (np.diff(scores) < 0.0).all()
    # Held-out scores too: the nearer the next row, the higher, of each of three far rows.
    lonely = np.diag([1e3, 2e3, 4e3])
    far = model.fit(np.r_[X, lonely].astype(dtype)).left_out_scores_[-3:]
    assert 0.0 < far[2] < far[1] < far[0] < 1e-250


def test_a_threshold_of_a_sum_that_underflows_is_at_one():
    rows = 1e3 * np.random.default_rng(4).normal(size=(20, 3))
    model = CalibratedOneClass(OneClassSVM(gamma=1.0)).fit(rows)
    assert 0.0 < model.offset_ < 1e-250
    new = 1e3 * np.random.default_rng(5).normal(size=(200, 3))
    ratio = model.distance_ratio(new)
    np.testing.assert_array_equal(ratio > 1.0, model.predict(new) == -1)
    nearest = cdist(new, rows).min(axis=1)
    assert np.abs(ratio / ratio.max() - nearest / nearest.max()).max() < 1e-3


def test_a_kernel_without_distances_is_refused():
    for model in (
        OneClassSVM(kernel="linear").fit(X + 9.0),
        OneClassSVM(approximation="nystroem", n_components=10).fit(X),
    ):
        with pytest.raises(ValueError, match="has no distance from the class"):
            model.distance_ratio(X)


def test_thresholds_far_below_rounding_still_reject():
    # One column and many rows: the kernel is so narrow that held-out scores are down to 1e-100.
    random = np.random.default_rng(0)
    rows, new = random.standard_t(3, size=(400, 1)), random.standard_t(3, size=(4000, 1))
    model = CalibratedOneClass(false_alarms=0.02).fit(rows)
    assert model.offset_ < 1e-16
    assert 0.005 < np.mean(model.predict(new) == -1) < 0.05
    assert (model.predict([[1e3], [-1e3]]) == -1).all()
