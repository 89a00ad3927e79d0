"""Every half-step against a generic convex solver on the primal."""

import numpy as np
import pytest

from scarce import STM
from scarce.reductions import BinaryHalfStep, OneClassHalfStep
from scarce.solvers import solve
from tests.oracles import tensor as oracle
from tests.published import one_class_stm
from tests.tensor.internals import ModeSweeps, Tensors, full_tensor
from tests.tensor.samples import (
    binary_value,
    one_class_tensors,
    one_class_value,
    random_factors,
    tensor_of,
    two_class_tensors,
)

CASES = [((4, 3), 1), ((4, 3), 2), ((3, 4, 2), 1), ((3, 4, 2), 2), ((2, 3, 2, 2), 3), ((5,), 2)]


def half_step(tensors, problem_of, factors, mode):
    """One half-step of the library: objective, weights, solution, in the data's own scale."""
    flat = tensors.reshape(len(tensors), -1)
    norm = float(np.linalg.norm(flat, axis=1).max())
    problem = problem_of(norm)
    sweeps = ModeSweeps(
        Tensors(flat, tensors.shape[1:], norm),
        problem,
        lambda program, start: solve(program, tol=1e-12, start=start),
        tol=1e-6,
        max_iter=1,
    )
    unit = [factor / np.linalg.norm(factor, axis=0) for factor in factors]
    fit = sweeps._half_step(unit, mode, None)
    weights = full_tensor(fit.factors, fit.scales * problem.weight_scale)
    return fit.objective * problem.objective_scale, weights.ravel(), fit


@pytest.mark.parametrize(("shape", "rank"), CASES)
def test_one_class_half_steps(shape, rank):
    tensors, nu = one_class_tensors(shape), 0.3
    factors = random_factors(shape, rank)
    for mode in range(len(shape)):
        expected, weights = one_class_value(tensors, factors, mode, nu)
        found, ours, fit = half_step(
            tensors, lambda norm: OneClassHalfStep(nu, np.ones(12), norm), factors, mode
        )
        assert found == pytest.approx(expected, rel=1e-7)
        np.testing.assert_allclose(ours, weights, atol=1e-5 * np.abs(weights).max())
        assert fit.solution.dual_gap <= 1e-9


@pytest.mark.parametrize(("shape", "rank"), CASES)
def test_binary_half_steps(shape, rank):
    tensors, signs = two_class_tensors(shape)
    factors = random_factors(shape, rank)
    for mode in range(len(shape)):
        expected, weights = binary_value(tensors, signs, factors, mode, cost=0.7)
        found, ours, fit = half_step(
            tensors, lambda norm: BinaryHalfStep(0.7, signs, np.ones(20), norm), factors, mode
        )
        assert found == pytest.approx(expected, rel=1e-7)
        np.testing.assert_allclose(ours, weights, atol=1e-5 * np.abs(weights).max())
        assert fit.solution.dual_gap <= 1e-9


def test_rank_one_matrices_against_the_project_s_oracle():
    tensors, signs = two_class_tensors((4, 3))
    left = random_factors((4, 3), 1)[0][:, 0]
    factors = [left[:, None], np.ones((3, 1))]
    expected = oracle.one_class_half_step(tensors + 1.0, left, 1 / (0.3 * 20)).solve()
    found, _, _ = half_step(
        tensors + 1.0, lambda norm: OneClassHalfStep(0.3, np.ones(20), norm), factors, 1
    )
    assert found == pytest.approx(expected, rel=1e-7)
    expected = oracle.binary_half_step(tensors, signs, left, 0.7).solve()
    found, _, _ = half_step(
        tensors, lambda norm: BinaryHalfStep(0.7, signs, np.ones(20), norm), factors, 1
    )
    assert found == pytest.approx(expected, rel=1e-7)


def test_collinear_columns_count_once():
    """The root of a singular matrix drops what is not there."""
    tensors = one_class_tensors((4, 3))
    single = random_factors((4, 3), 1)
    twice = [np.repeat(factor, 2, axis=1) for factor in single]
    expected, weights = one_class_value(tensors, single, 1, 0.3)
    found, ours, _ = half_step(
        tensors, lambda norm: OneClassHalfStep(0.3, np.ones(12), norm), twice, 1
    )
    assert found == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(ours, weights, atol=1e-5)


@pytest.mark.parametrize(("shape", "rank"), [((4, 3), 1), ((3, 4, 2), 1), ((3, 4, 2), 2)])
def test_no_half_step_improves_a_fitted_machine(shape, rank):
    """With all factors but one held, a generic solver finds nothing better, in any mode."""
    tensors, signs = two_class_tensors(shape)
    far = tensors + 1.0
    model = one_class_stm(nu=0.3, rank=rank, tol=1e-10, max_iter=5000).fit(far)
    other = STM(C=0.7, rank=rank, tol=1e-10, max_iter=5000).fit(tensors, signs)
    for mode in range(len(shape)):
        value, _ = one_class_value(far, model.factors_, mode, 0.3)
        assert model.objective_ == pytest.approx(value, rel=1e-6)
        value, _ = binary_value(tensors, signs, other.factors_, mode, 0.7)
        assert other.objective_ == pytest.approx(value, rel=1e-6)


def test_fitted_attributes_are_those_of_the_model():
    """Objective, offset, weights and multipliers belong together."""
    tensors, signs = two_class_tensors((3, 4, 2))
    far = tensors + 1.0
    model = one_class_stm(nu=0.3, rank=2).fit(far)
    np.testing.assert_allclose(tensor_of(model.factors_), model.coef_, rtol=1e-12)
    np.testing.assert_array_equal(model.weights_, model.coef_)
    scores = np.einsum("iabc,abc->i", far, model.coef_)
    np.testing.assert_allclose(model.score_samples(far), scores, rtol=1e-12)
    slack = np.maximum(model.offset_ - scores, 0.0)
    primal = 0.5 * (model.coef_**2).sum() - model.offset_[0] + slack.sum() / (0.3 * 20)
    assert primal == pytest.approx(model.objective_, rel=1e-9)
    assert model.dual_coef_.sum() == pytest.approx(1.0, abs=1e-12)
    assert model.dual_coef_.max() <= 1 / (0.3 * 20) + 1e-12
    lengths = [np.linalg.norm(factor, axis=0) for factor in model.factors_]
    np.testing.assert_allclose(lengths[1:], [lengths[0]] * 2, rtol=1e-12)

    binary = STM(C=0.7, rank=2).fit(tensors, signs)
    decisions = binary.decision_function(tensors)
    expected = np.einsum("iabc,abc->i", tensors, binary.coef_) + binary.intercept_
    np.testing.assert_allclose(decisions, expected, rtol=1e-12)
    slack = np.maximum(1 - signs * decisions, 0.0).sum()
    primal = 0.5 * (binary.coef_**2).sum() + 0.7 * slack
    assert primal == pytest.approx(binary.objective_, rel=1e-9)
    assert binary.dual_coef_.sum() == pytest.approx(0.0, abs=1e-12)
    assert np.abs(binary.dual_coef_).max() <= 0.7 + 1e-12


def test_the_weights_come_from_the_multipliers():
    """``U^(m)`` of the mode solved last is the contraction of the weighted sum of the samples."""
    tensors = one_class_tensors((4, 3))
    model = one_class_stm(nu=0.3).fit(tensors)
    total = np.einsum("i,iab->ab", model.dual_coef_[0], tensors[model.support_])
    last = model.history_["mode"][-1]
    held = model.factors_[1 - last][:, 0]
    found = (total @ held if last == 0 else held @ total) / (held @ held)
    np.testing.assert_allclose(model.factors_[last][:, 0], found, rtol=1e-9)
