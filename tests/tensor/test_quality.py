"""The status is that of the last half-step: zero weights are not always a solution."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from scarce import STM
from tests.published import one_class_stm
from tests.tensor.samples import one_class_tensors, two_class_tensors


def violation(model, tensors, signs, cost):
    """Return the violation of the hinge loss's optimality conditions, from public attributes."""
    alpha = np.zeros(len(tensors))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    scores = np.einsum("iab,ab->i", tensors, model.coef_)
    pull = signs - scores
    below, above = alpha < cost * (1 - 1e-9), alpha > 1e-9 * cost
    grows, shrinks = np.where(signs > 0, below, above), np.where(signs > 0, above, below)
    return pull[grows].max() - pull[shrinks].min()


@pytest.mark.parametrize("cost", [1e-3, 1.0, 1e3])
def test_a_status_of_zero_is_a_solution(cost):
    tensors, signs = two_class_tensors((4, 3))
    model = STM(C=cost, max_iter=1000).fit(tensors, signs)
    assert model.fit_status_ == 0
    assert violation(model, tensors, signs, cost) <= 1e-6
    assert model.kkt_violation_ <= 1e-6
    assert model.dual_gap_ <= 1e-6


@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_an_unsolved_half_step_is_not_called_trivial(shape, monkeypatch):
    """Zero weights with a violation of 2 are a solver that gave up, and no finding on the data."""
    from scarce.solvers import solve
    from tests.tensor.internals import machine

    def give_up(program, **settings):
        return solve(program, **{**settings, "max_iter": 0})

    monkeypatch.setattr(machine, "solve", give_up)
    tensors, signs = two_class_tensors(shape)
    with pytest.warns(ConvergenceWarning, match=r"half-step early. KKT violation 2 .* gap 1"):
        model = STM().fit(tensors, signs)
    assert model.fit_status_ == 1
    assert model.kkt_violation_ == pytest.approx(2.0)


@pytest.mark.parametrize("cost", [1e16, 1e200, 1e300])
def test_very_large_prices_are_a_hard_margin(cost):
    tensors, signs = two_class_tensors((4, 3))
    tensors[signs > 0] += 3.0
    with pytest.warns(ConvergenceWarning, match="duality gap"):  # over such boxes none is proved
        hard, dear = STM(C=1e9).fit(tensors, signs), STM(C=cost).fit(tensors, signs)
    assert dear.kkt_violation_ <= 1e-6
    np.testing.assert_allclose(dear.coef_, hard.coef_, rtol=1e-6)


@pytest.mark.parametrize("cost", [1e16, 1e200])
def test_prices_that_no_solution_can_bear_are_not_called_solved(cost):
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(40, 2)), np.arange(40) % 2
    with pytest.warns(ConvergenceWarning, match="Rounding errors ended a half-step early"):
        model = STM(C=cost).fit(rows, labels)
    assert model.fit_status_ == 1
    assert model.kkt_violation_ > 1.0  # a slack larger than the margin, whatever it costs
    assert np.isfinite(model.decision_function(rows)).all()


def test_very_small_prices_are_solved():
    """Squares of such weights underflow, the weights do not."""
    tensors, signs = two_class_tensors((4, 3))
    small, smaller = STM(C=1e-100).fit(tensors, signs), STM(C=1e-200).fit(tensors, signs)
    assert small.fit_status_ == smaller.fit_status_ == 0
    np.testing.assert_allclose(smaller.coef_ * 1e100, small.coef_, rtol=1e-9)


def test_one_class_quality_is_within_the_tolerance():
    model = one_class_stm(nu=0.3, rank=2, max_iter=500).fit(one_class_tensors((4, 3)))
    assert model.fit_status_ == 0
    assert max(model.kkt_violation_, model.dual_gap_) <= 1e-6
