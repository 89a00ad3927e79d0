"""Limit cases that are other, known problems."""

import numpy as np
import pytest

from scarce import STM, SVC, OneClassSVM
from tests.published import one_class_stm
from tests.tensor.samples import one_class_tensors, spec_matrices, two_class_tensors


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (1, 6, 1)])
@pytest.mark.parametrize("nu", [0.25, 0.4])
def test_one_long_mode_is_the_linear_one_class_svm(shape, nu):
    tensors = one_class_tensors(shape, n=15)
    flat = tensors.reshape(15, -1)
    vector = OneClassSVM(kernel="linear", nu=nu, tol=1e-10).fit(flat)
    model = one_class_stm(nu=nu).fit(tensors)
    assert model.objective_ == pytest.approx(vector.objective_, rel=1e-9)
    # LIBSVM's scale sums the multipliers to nu times the number of rows.
    expected = vector.decision_function(flat) / (nu * 15)
    np.testing.assert_allclose(model.decision_function(tensors), expected, atol=1e-7)


def test_vectors_are_the_linear_machines():
    tensors, signs = two_class_tensors((6,), n=30)
    vector = SVC(kernel="linear", C=0.5, tol=1e-10).fit(tensors, signs)
    model = STM(C=0.5).fit(tensors, signs)
    assert model.objective_ == pytest.approx(vector.objective_, rel=1e-9)
    np.testing.assert_allclose(
        model.decision_function(tensors), vector.decision_function(tensors), atol=1e-7
    )
    assert model.n_iter_ == 1
    assert model.converged_


@pytest.mark.parametrize("rank", [3, 4])
def test_full_rank_is_the_machine_on_vectors(rank):
    matrices = spec_matrices()
    model = one_class_stm(nu=0.4, rank=rank, tol=1e-10).fit(matrices)
    vector = one_class_stm(nu=0.4).fit(matrices.reshape(8, -1))
    assert vector.objective_ == pytest.approx(-2.225477, abs=6e-7)
    assert model.objective_ == pytest.approx(vector.objective_, rel=1e-6)
    np.testing.assert_allclose(model.coef_.ravel(), vector.coef_, atol=1e-3)


def test_the_vector_machine_bounds_every_rank():
    for shape in [(4, 3), (2, 3, 2)]:
        tensors = one_class_tensors(shape)
        bound = one_class_stm(nu=0.4).fit(tensors.reshape(12, -1)).objective_
        for rank in (1, 2):
            assert one_class_stm(nu=0.4, rank=rank, tol=1e-4).fit(tensors).objective_ >= bound
        labels = np.arange(12) % 2
        bound = STM().fit(tensors.reshape(12, -1), labels).objective_
        for rank in (1, 2):
            assert STM(rank=rank, tol=1e-3, max_iter=1000).fit(tensors, labels).objective_ >= bound


def test_one_sample_is_its_best_rank_one_approximation():
    matrix = np.random.default_rng(0).normal(size=(1, 5, 4)) + 0.5
    # The least gap that double precision can prove here is about 1e-13.
    model = one_class_stm(tol=1e-12, max_iter=1000).fit(matrix)
    u, s, vt = np.linalg.svd(matrix[0])
    np.testing.assert_allclose(model.coef_, s[0] * np.outer(u[:, 0], vt[0]), atol=1e-5)
    assert model.objective_ == pytest.approx(-0.5 * s[0] ** 2, rel=1e-10)
    assert model.offset_ == pytest.approx(s[0] ** 2, rel=1e-10)
    assert model.predict(matrix) == [1]


def test_every_share_up_to_one_sample_is_the_same_hard_margin():
    two = spec_matrices()[:2]
    objectives = []
    for nu in (0.1, 0.2, 0.3, 0.4, 0.5):
        model = one_class_stm(nu=nu).fit(two)
        assert model.hard_margin_
        objectives.append(model.objective_)
    np.testing.assert_allclose(objectives, objectives[0], rtol=1e-12)
    soft = one_class_stm(nu=0.7).fit(two)
    assert not soft.hard_margin_
    assert soft.objective_ < objectives[0]


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.25, 0.5, 0.77, 1.0])
@pytest.mark.parametrize("n", [4, 20, 101])
def test_nu_property_on_the_training_sample(nu, n):
    """At most the share nu outside, at least the share nu support vectors."""
    tensors = one_class_tensors((4, 3), n=n, mean=2.0)
    for dtype in (np.float64, np.float32):
        samples = tensors.astype(dtype)
        model = one_class_stm(nu=nu).fit(samples)
        assert (model.predict(samples) < 0).sum() <= nu * n + 1e-9
        assert model.support_.size >= nu * n - 1e-9


def test_offset_is_the_order_statistic():
    tensors = one_class_tensors((4, 3), n=10)
    for nu, low, high in ((0.35, 3, 3), (0.3, 2, 3), (1.0, 9, 9)):
        model = one_class_stm(nu=nu).fit(tensors)
        scores = np.sort(np.einsum("iab,ab->i", tensors, model.coef_))
        expected = 0.5 * (scores[low] + scores[high])
        assert model.offset_ == pytest.approx(expected, rel=1e-9)
        np.testing.assert_array_equal(model.intercept_, -model.offset_)


def test_offset_is_the_margin_of_free_support_vectors():
    tensors = one_class_tensors((4, 3), n=20)
    model = one_class_stm(nu=0.33).fit(tensors)
    cost = 1 / (0.33 * 20)
    free = model.support_[model.dual_coef_[0] < cost - 1e-9]
    assert free.size
    assert free.size < model.support_.size
    np.testing.assert_allclose(model.score_samples(tensors[free]), model.offset_[0], rtol=1e-9)
