"""The attack itself can fail: lies about good solutions are found out, and honest claims pass."""

from dataclasses import replace

import numpy as np
import pytest

from tests.attack.fitting import claims_of, fit
from tests.attack.machines import MACHINES, attack
from tests.attack.recipes import Recipe
from tests.attack.truth import Kinks, judge
from tests.attack.verdict import complaints
from tests.oracles.program import dual_optimum
from tests.oracles.reductions import REDUCTIONS, build_case

EASY = Recipe(seed=5, n=60, tol=1e-3, cost=1.0, share=0.9, kernel="linear")


@pytest.mark.parametrize("name", MACHINES)
def test_an_easy_case_is_certified_and_true(name):
    outcome = attack(MACHINES[name], EASY)
    assert outcome.kind == "certified"
    assert outcome.complaints == []


@pytest.mark.parametrize("name", MACHINES)
def test_lies_are_found_out(name):
    machine = MACHINES[name]
    model, arguments, keywords = machine.make(EASY)
    claims = claims_of(model, fit(model, *arguments, **keywords))
    facts = machine.facts(EASY, model)
    for lie in (
        {"objective": claims.objective * 1.01 + 1e-3},
        {"violation": np.nan},
        {"status": 1},
        {"gap": np.nan},
    ):
        if lie.keys() == {"gap"} and facts.definite is None:
            continue
        assert complaints(replace(claims, **lie), facts), lie
    # The truth made worse, as seen by the same claims.
    assert complaints(claims, replace(facts, violation=claims.violation + claims.tol))
    assert complaints(claims, replace(facts, relative_gap=claims.gap + claims.tol))
    assert complaints(claims, replace(facts, infeasibility=1e-6))


@pytest.mark.parametrize("name", ["one_class_svm", "c_svc", "nu_svc", "multitask_one_class_svm"])
def test_the_judge_agrees_with_a_generic_solver(name):
    case = build_case(name, "gaussian", "rbf", seed=1)
    assert name in REDUCTIONS
    value, alpha = dual_optimum(case.program)
    # An interior-point method stops short of the bounds.
    lower, upper = case.program.lower, case.program.upper
    alpha = np.where(alpha - lower < 1e-5 * (upper - lower), lower, alpha)
    alpha = np.where(upper - alpha < 1e-5 * (upper - lower), upper, alpha)
    found = judge(case.program, alpha, np.abs(case.program.kernel))
    assert found.objective == pytest.approx(value, rel=1e-6)
    assert found.violation < 1e-4
    assert found.gap < 1e-5 * abs(value)
    # A step away from the optimum within the box and the equalities is seen, and costs what the
    # gap says at most.
    group = case.program.groups == 0
    inside = np.minimum(alpha - lower, upper - alpha)
    order = np.flatnonzero(group & (inside > 1e-3 * inside.max()))
    assert order.size >= 2
    i, j = order[:2]
    moved, step = alpha.copy(), 0.5 * min(inside[i], inside[j])
    moved[i] += step
    moved[j] -= step * case.program.signs[i] * case.program.signs[j]
    worse = judge(case.program, moved, np.abs(case.program.kernel))
    assert worse.violation > 10 * found.violation
    assert worse.gap >= (worse.objective - value) * (1 - 1e-9) > 0
    assert worse.infeasibility < 1e-4
    moved[i] += step
    assert judge(case.program, moved, np.abs(case.program.kernel)).infeasibility > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_no_gradient_within_the_noise_has_a_smaller_gap(seed):
    random = np.random.default_rng(seed)
    n = 12
    upper = 10.0 ** random.uniform(-2, 2, size=n)
    kinks = Kinks(
        gradient=random.normal(size=n),
        noise=10.0 ** random.uniform(-3, 0, size=n),
        signs=random.choice([-1.0, 1.0], size=n),
        alpha=upper * random.choice([0.0, 0.3, 1.0], size=n),
        lower=np.zeros(n),
        upper=upper,
    )
    least = kinks.gap(kinks.best(-1.0), -1.0)
    everywhere = np.linspace(-4.0, 4.0, 101)
    assert least <= min(kinks.gap(beta, -1.0) for beta in everywhere) + 1e-12
    for _ in range(20):
        shift = random.uniform(-1.0, 1.0, size=n) * kinks.noise
        moved = replace(kinks, gradient=kinks.gradient + shift, noise=np.zeros(n))
        exact = moved.gap(moved.best(0.0), 0.0)
        assert least <= exact + 1e-12
        assert exact <= min(moved.gap(beta, 0.0) for beta in everywhere) + 1e-12
    assert least > 0 or seed > 0  # not for want of anything to see
