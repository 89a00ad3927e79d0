"""Large offsets, narrow kernels, and values beyond the range of single precision."""

import numpy as np
import pytest

from scarce.kernels import KernelOperator, make_kernel, make_operator, weighted_scores
from tests.kernels.samples import FORMS, rbf_matrix, rows


@pytest.mark.parametrize("offset", [1e3, 1e4, 1e5])
def test_single_precision_does_not_notice_an_offset(offset):
    random = np.random.default_rng(0)
    # Steps of 1/16 are exact in float32 up to 2**20: the rows are what they seem.
    X = (np.round(random.normal(size=(600, 4)) * 16) / 16 + offset).astype(np.float32)
    K = rbf_matrix(X, X, 1.0)
    assert 0.01 < K.mean() < 0.5
    operator = make_operator(X, make_kernel("rbf", gamma=1.0))
    assert operator.precisions[0] is np.float32
    block, sums = np.empty((600, 600), np.float32), np.zeros(600)
    operator.write_block(np.arange(600), block)
    np.testing.assert_allclose(block, K, rtol=0, atol=2e-5)
    nothing = np.zeros(600, np.int64)
    operator.accumulate(np.arange(600), np.ones((1, 600)), nothing, sums, np.float32)
    np.testing.assert_allclose(sums, K.sum(axis=1), rtol=2e-5)
    scores = weighted_scores(X, X, np.ones(600), make_kernel("rbf", gamma=1.0))
    np.testing.assert_allclose(scores, K.sum(axis=1), rtol=2e-5)


def test_scores_in_single_precision_survive_clusters_far_apart():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4)) + np.where(np.arange(200) % 2, 1000.0, -1000.0)[:, None]
    X = X.astype(np.float32)
    scores = weighted_scores(X, X, np.ones(200), make_kernel("rbf", gamma=1.0))
    np.testing.assert_allclose(scores, rbf_matrix(X, X, 1.0).sum(axis=1), rtol=1e-3)


def narrow_pairs():
    """Return rows far apart, each with a neighbour that a very narrow kernel still sees."""
    X = np.random.default_rng(0).normal(size=(40, 2)) * 1e3
    return np.concatenate([X, X + 1e-6])


def test_a_very_narrow_kernel_is_computed_from_differences():
    X, kernel = narrow_pairs(), make_kernel("rbf", gamma=1e11)
    K = rbf_matrix(X, X, 1e11)
    assert 0.1 < K[0, 40] < 0.95
    operator = make_operator(X, kernel)
    assert operator.prepared.differences
    block = np.empty((80, 80))
    operator.write_block(np.arange(80), block)
    np.testing.assert_allclose(block, K, atol=1e-12)
    scores = weighted_scores(X, X[:60], np.arange(60.0), kernel)
    np.testing.assert_allclose(scores, K[:, :60] @ np.arange(60.0), atol=1e-10)


def test_differences_start_where_the_norms_are_too_large():
    kernel = make_kernel("rbf", gamma=2.0)
    assert not kernel.needs_differences(0.49e8)
    assert kernel.needs_differences(0.51e8)
    assert not make_kernel("poly", gamma=2.0).needs_differences(1e20)


def test_sparse_rows_keep_their_operator_however_narrow_the_kernel():
    assert isinstance(
        make_operator(rows(9, "sparse"), make_kernel("rbf", gamma=1e12)), KernelOperator
    )


@pytest.mark.parametrize("form", FORMS)
def test_single_precision_is_on_offer_for_many_rows_only(form):
    single = (np.float32, np.float64)
    for name in ("rbf", "poly", "sigmoid"):
        assert make_operator(rows(512, form), make_kernel(name)).precisions == (np.float64,)
        assert make_operator(rows(513, form), make_kernel(name)).precisions == single
    assert make_operator(rows(513, form), make_kernel("linear")).precisions == (np.float64,)


@pytest.mark.parametrize(
    ("kernel", "largest", "fits"),
    [
        (make_kernel("rbf", gamma=1e-22), 1e29, True),
        (make_kernel("rbf", gamma=1.0), 1e31, False),
        (make_kernel("rbf", gamma=1e31), 1.0, False),
        (make_kernel("rbf", gamma=1e-31), 1.0, False),
        (make_kernel("sigmoid", gamma=1.0), 1e20, True),
        (make_kernel("poly", gamma=1.0, degree=3), 1e9, True),
        (make_kernel("poly", gamma=1.0, degree=3), 1e11, False),
        (make_kernel("poly", gamma=1e-2, degree=3), 1e11, True),
        (make_kernel("poly", gamma=1.0, degree=3, coef0=-1e11), 1.0, False),
        (make_kernel("poly", gamma=1.0, degree=2), 1e14, True),
        (make_kernel("poly", gamma=1e-31, degree=2), 1.0, False),
        (make_kernel("poly", gamma=1e-20, degree=1), 1e31, False),
        (make_kernel("laplacian", gamma=1.0), 1e20, True),
        (make_kernel("laplacian", gamma=1.0), 1e31, False),
    ],
)
def test_the_range_of_single_precision(kernel, largest, fits):
    assert kernel.fits_single_precision(largest) is fits


@pytest.mark.parametrize("form", FORMS)
def test_large_powers_are_computed_in_double_precision(form):
    kernel = make_kernel("poly", gamma=1.0, degree=6)
    X = rows(600, form, np.float32) * np.float32(1e5)
    assert make_operator(X, kernel).precisions == (np.float64,)
    scores = weighted_scores(X, X[:5], np.ones(5), kernel)
    assert scores.max() > np.finfo(np.float32).max
    np.testing.assert_allclose(scores, kernel.values(X, X[:5]).sum(axis=1), rtol=1e-9)
