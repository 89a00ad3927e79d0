"""The alternation: monotone, free of scales, and the published figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from scarce import STM
from scarce.reductions import OneClassHalfStep
from scarce.solvers import solve
from tests.published import one_class_stm
from tests.tensor.internals import ModeSweeps, Tensors, full_tensor
from tests.tensor.samples import one_class_tensors, spec_matrices, tensor_of, two_class_tensors


def run(tensors, start, *, stop="relative", tol=1e-6, max_iter=100, nu=0.4):
    flat = tensors.reshape(len(tensors), -1)
    norm = float(np.linalg.norm(flat, axis=1).max())
    problem = OneClassHalfStep(nu, np.ones(len(tensors)), norm)
    sweeps = ModeSweeps(
        Tensors(flat, tensors.shape[1:], norm),
        problem,
        lambda program, start: solve(program, tol=1e-12, start=start),
        tol=tol,
        max_iter=max_iter,
        stop=stop,
    )
    return sweeps.run(start), problem


def test_published_objectives_of_the_half_steps():
    model = one_class_stm(nu=0.4, tol=1e-10).fit(spec_matrices())
    expected = [-1.53136, -1.72329, -1.72672, -1.73085, -1.73103]
    np.testing.assert_allclose(model.history_["objective"][:5], expected, atol=6e-6)
    assert model.history_["mode"][:4] == [1, 0, 1, 0]
    assert model.objective_ == pytest.approx(-1.731445, abs=6e-7)


def test_published_local_minima():
    matrices = spec_matrices(mean=0.15)
    one = one_class_stm(nu=0.4, tol=1e-9).fit(matrices)
    assert one.objective_ == pytest.approx(-0.283012, abs=6e-7)
    many = one_class_stm(nu=0.4, tol=1e-9, n_init=20).fit(matrices)
    assert many.objective_ < -0.29
    again = one_class_stm(nu=0.4, tol=1e-9, n_init=20, random_state=7).fit(matrices)
    assert again.objective_ <= one.objective_


@pytest.mark.filterwarnings("ignore:.*cells are filled up")
def test_published_objectives_of_padded_vectors():
    """The shape, and the order of the features, have an effect."""
    rows = np.random.default_rng(3).normal(size=(8, 5)) + 0.7
    for shape, data, expected in (
        ((2, 3), rows, -0.471925),
        ((3, 2), rows, -0.658305),
        ((2, 3), rows[:, ::-1], -0.448600),
        ((4, 4), rows, -0.686820),
        ((1, 5), rows, -0.737186),
    ):
        model = one_class_stm(nu=0.4, tensor_shape=shape, tol=1e-9).fit(data)
        assert model.objective_ == pytest.approx(expected, abs=6e-7)
    model = one_class_stm(nu=0.4, tensor_shape=(2, 3), tol=1e-9).fit(rows)
    assert model.coef_[1, 2] ** 2 / (model.coef_**2).sum() == pytest.approx(0.093, abs=5e-4)


def test_published_effect_of_the_start_s_scale():
    """``u_0 = c 1``: the same model, but the printed stop test sees another number."""
    matrices, weights = spec_matrices(), []
    for c, expected in ((0.01, 1.35e-6), (1.0, 1.35e-4), (100.0, 1.35e-2)):
        start = [np.full((4, 1), c), np.ones((3, 1))]
        for above, sweeps in ((1.01, 6), (0.99, 7)):
            fit, problem = run(matrices, start, stop="paper", tol=above * expected)
            # Three digits are published.
            assert fit.n_sweeps == sweeps
        fit, problem = run(matrices, start)
        weights.append(full_tensor(fit.factors, fit.scales * problem.weight_scale))
        assert fit.n_sweeps == 5
    np.testing.assert_allclose(weights[1:], [weights[0]] * 2, rtol=1e-12)


def test_the_printed_rule_is_the_iteration_without_rescaling():
    """Against the paper's loop, written out with a matrix and a vector in turn."""
    matrices = spec_matrices()

    def plain_half_step(rows, mu):
        from scarce.solvers import DenseMatrix, QuadraticProgram

        program = QuadraticProgram(DenseMatrix(rows @ rows.T / mu), totals=[1.0], upper=1 / 3.2)
        return solve(program, tol=1e-12).alpha @ rows / mu

    u, sweeps = np.ones(4), 0
    while True:
        v = plain_half_step(np.einsum("iab,a->ib", matrices, u), u @ u)
        new = plain_half_step(np.einsum("iab,b->ia", matrices, v), v @ v)
        moved, u, sweeps = np.linalg.norm(new - u), new, sweeps + 1
        if moved <= 1e-5:
            break
    model = one_class_stm(nu=0.4, stop="paper", tol=1e-5).fit(matrices)
    assert model.n_iter_ == sweeps
    np.testing.assert_allclose(model.coef_, np.outer(u, v), rtol=1e-9)


@given(
    shape=st.sampled_from([(4,), (3, 4), (1, 3), (2, 3, 2), (2, 2, 2, 2)]),
    rank=st.integers(1, 3),
    n=st.integers(1, 15),
    nu=st.floats(0.05, 1.0),
    mean=st.floats(0.1, 2.0),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
    seed=st.integers(0, 10**6),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The solution is trivial")
def test_history_never_rises(shape, rank, n, nu, mean, scale, seed):
    tensors = scale * one_class_tensors(shape, n=n, seed=seed, mean=mean)
    models = []
    try:
        models.append(one_class_stm(nu=nu, rank=rank, max_iter=10).fit(tensors))
    except ValueError as error:
        assert "zero for every start" in str(error)  # noqa: PT017 - it may or may not be raised
    if n > 1:
        labels = np.arange(n) % 2
        models.append(STM(C=nu / scale**2, rank=rank, max_iter=10).fit(tensors, labels))
    for model in models:
        values = np.array(model.history_["objective"])
        assert (np.diff(values) <= 0).all()
        assert values[-1] == model.objective_
        assert {len(column) for column in model.history_.values()} == {values.size}
        # The last sweep may end with any mode.
        assert -(-values.size // len(shape)) == model.n_iter_
        assert model.kkt_violation_ <= 1e-6 or model.fit_status_


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_scale_of_the_data_does_not_matter(scale):
    tensors, signs = two_class_tensors((4, 3))
    far = tensors + 1.0
    one, other = one_class_stm(nu=0.3).fit(far), one_class_stm(nu=0.3).fit(scale * far)
    assert other.n_iter_ == one.n_iter_
    np.testing.assert_allclose(other.coef_, scale * one.coef_, rtol=1e-9)
    np.testing.assert_allclose(other.objective_, scale**2 * one.objective_, rtol=1e-9)
    np.testing.assert_allclose(other.offset_, scale**2 * one.offset_, rtol=1e-9)
    one, other = STM().fit(tensors, signs), STM(C=scale**-2).fit(scale * tensors, signs)
    assert other.n_iter_ == one.n_iter_
    np.testing.assert_allclose(other.coef_, one.coef_ / scale, rtol=1e-9)
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=1e-9)


def test_change_of_the_weights_is_that_of_the_tensors():
    tensors = one_class_tensors((3, 4, 2))
    weights = []
    for sweeps in (3, 4):
        with pytest.warns(ConvergenceWarning, match=f"max_iter={sweeps} sweeps ended"):
            model = one_class_stm(nu=0.3, rank=2, max_iter=sweeps).fit(tensors)
        assert not model.converged_
        assert model.n_iter_ == sweeps
        weights.append(tensor_of(model.factors_))
    expected = np.linalg.norm(weights[1] - weights[0]) / np.linalg.norm(weights[1])
    assert model.history_["change"][-1] == pytest.approx(expected, rel=1e-5)
    assert model.history_["change"][:3] == [1.0] * 3


def test_weights_equal_repetition():
    tensors, signs = two_class_tensors((4, 3), n=16)
    counts = np.random.default_rng(0).integers(0, 4, size=16)
    assert {0, 1, 2, 3} == set(counts)
    repeated = np.repeat(np.arange(16), counts)
    for rank in (1, 2):
        far = tensors + 1.0
        once = one_class_stm(nu=0.3, rank=rank, max_iter=500).fit(far, sample_weight=counts)
        often = one_class_stm(nu=0.3, rank=rank, max_iter=500).fit(far[repeated])
        np.testing.assert_allclose(
            once.decision_function(far), often.decision_function(far), atol=1e-7
        )
        assert set(once.support_) <= set(np.flatnonzero(counts))
        once = STM(rank=rank, max_iter=500).fit(tensors, signs, sample_weight=counts)
        often = STM(rank=rank, max_iter=500).fit(tensors[repeated], signs[repeated])
        np.testing.assert_allclose(
            once.decision_function(tensors), often.decision_function(tensors), atol=1e-7
        )


def test_many_samples_give_the_same_model_without_a_stored_matrix(monkeypatch):
    tensors, signs = two_class_tensors((6, 5), n=700)
    stored = []
    for limit in (512, 1000):
        monkeypatch.setattr("scarce.tensor._mode_sweeps.STORED_UP_TO", limit)
        stored.append(
            (
                one_class_stm(nu=0.2).fit(tensors + 1.0).coef_,
                STM(C=0.1).fit(tensors, signs).coef_,
            )
        )
    for one, other in zip(*stored, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9 * np.abs(one).max())
