"""The tube solver against a generic solver of its primal, and its own certificate."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from scarce.solvers import FeatureSystem, GramSystem, certify_tube, solve_tube
from tests.oracles.convex import Primal
from tests.oracles.samples import rows


def tube_primal(Z, targets, tube, costs):
    """``1/2 |w|^2 + sum_u C_u/2 (|t_u - w.z_u - b| - eps_u)_+^2``."""
    w, b = cp.Variable(Z.shape[1]), cp.Variable(1)
    scores = Z @ w
    outside = cp.pos(cp.abs(targets - scores - b) - tube)
    return Primal(cp.sum_squares(w) / 2 + cp.sum(cp.multiply(costs / 2, outside**2)), w, b, scores)


def case(kind, tube, seed=0, n=30):
    """Features, targets, tubes (none for some units) and unequal costs."""
    rng = np.random.default_rng(seed)
    Z = rows(rng, n, kind)
    targets = rng.normal(size=n) * 2.0
    widths = tube * rng.uniform(0.5, 2.0, size=n) * (rng.random(n) < 0.8)
    return Z, targets, widths, rng.uniform(0.01, 30.0, size=n)


SYSTEMS = {
    "gram": lambda Z: GramSystem(Z @ Z.T),
    "features": lambda Z: FeatureSystem(Z.copy()),
    "sparse": lambda Z: FeatureSystem(sparse.csr_array(Z)),
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("kind", ["gaussian", "duplicated", "zeros", "flat"])
@pytest.mark.parametrize("tube", [0.0, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_primal_of_a_generic_solver(system, kind, tube, seed):
    Z, targets, widths, costs = case(kind, tube, seed)
    found = solve_tube(SYSTEMS[system](Z), targets, widths, costs, tol=1e-9)
    primal = tube_primal(Z, targets, widths, costs)
    best = primal.solve()
    assert found.status == "optimal"
    assert found.objective == pytest.approx(best, rel=1e-8)
    expected = primal.scores.value + primal.offsets.value
    np.testing.assert_allclose(found.scores + found.intercept, expected, atol=2e-5)
    # The multipliers alone give the same weights, and their value is the primal's.
    weights = found.theta @ Z
    offset = float(np.mean(found.scores + found.intercept - Z @ weights))
    assert primal.value_at(weights, offset) == pytest.approx(best, rel=1e-8)
    assert abs(found.theta.sum()) < 1e-9 * max(1.0, np.abs(found.theta).sum())


def capped_primal(Z, targets, tube, costs, caps):
    """The same with lines from the caps on: Huber's loss of what is outside the tube."""
    w, b = cp.Variable(Z.shape[1]), cp.Variable(1)
    scores = Z @ w
    outside = cp.pos(cp.abs(targets - scores - b) - tube)
    over = cp.Variable(len(Z), nonneg=True)  # the part that is priced by the line
    loss = cp.multiply(costs / 2, cp.square(cp.pos(outside - over))) + cp.multiply(caps, over)
    return Primal(cp.sum_squares(w) / 2 + cp.sum(loss), w, b, scores)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("kind", ["gaussian", "duplicated", "zeros", "flat"])
@pytest.mark.parametrize("tube", [0.0, 0.3])
@pytest.mark.parametrize("steepness", [1.0, 1e3])
def test_caps_against_a_generic_solver(system, kind, tube, steepness):
    Z, targets, widths, costs = case(kind, tube)
    costs = steepness * costs
    caps = np.random.default_rng(2).uniform(0.05, 1.0, size=len(Z))
    found = solve_tube(SYSTEMS[system](Z), targets, widths, costs, caps, tol=1e-9)
    assert found.status == "optimal"
    assert found.dual_gap < 1e-8
    assert np.all(np.abs(found.theta) <= caps * (1 + 1e-9))
    assert np.count_nonzero(np.abs(found.theta) > caps * (1 - 1e-9)) >= 5
    primal = capped_primal(Z, targets, widths, costs, caps)
    assert found.objective == pytest.approx(primal.solve(), rel=1e-7)
    expected = primal.scores.value + primal.offsets.value
    np.testing.assert_allclose(found.scores + found.intercept, expected, atol=1e-4)


def test_a_start_saves_steps():
    Z, targets, widths, costs = case("gaussian", 0.3, n=200)
    system = FeatureSystem(Z)
    cold = solve_tube(system, targets, widths, costs, 0.5)
    warm = solve_tube(system, targets, widths, 1.01 * costs, 0.5, start=cold)
    again = solve_tube(system, targets, widths, 1.01 * costs, 0.5)
    assert warm.n_iter < again.n_iter
    assert warm.objective == pytest.approx(again.objective, rel=1e-12)


def test_caps_that_leave_no_curvature():
    # Every unit is at its cap along the way: the offset has a slope and no bend.
    found = solve_tube(GramSystem(np.eye(3)), [10.0, 20.0, 31.0], 0.0, 1e6, 1e-3)
    assert found.status == "optimal"
    assert found.intercept == pytest.approx(20.0, abs=1e-2)


@pytest.mark.parametrize("system", SYSTEMS)
def test_without_tubes_one_linear_system(system):
    Z, targets, _, costs = case("gaussian", 0.0)
    found = solve_tube(SYSTEMS[system](Z), targets, 0.0, costs)
    n = len(Z)
    bordered = np.ones((n + 1, n + 1))
    bordered[:n, :n] = Z @ Z.T + np.diag(1 / costs)
    bordered[n, n] = 0.0
    expected = np.linalg.solve(bordered, np.append(targets, 0.0))
    assert found.n_iter == 1
    np.testing.assert_allclose(found.theta, expected[:n], atol=1e-10)
    np.testing.assert_allclose(found.scores + found.intercept, Z @ Z.T @ expected[:n] + expected[n])


def test_newton_needs_few_systems():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 40))
    found = solve_tube(GramSystem(Z @ Z.T), rng.normal(size=400), 0.3, 1.0, tol=1e-9)
    assert found.status == "optimal"
    assert found.n_iter <= 12
    assert 0 < np.count_nonzero(found.theta) < 400


def test_a_tube_that_holds_everything_leaves_zero():
    found = solve_tube(GramSystem(np.eye(4)), [1.0, 1.2, 0.9, 1.1], 0.5)
    assert not found.theta.any()
    assert found.objective == 0.0
    assert found.status == "optimal"
    assert np.all(np.abs(np.array([1.0, 1.2, 0.9, 1.1]) - found.intercept) <= 0.5)


def test_the_certificate_sees_a_wrong_point():
    Z, targets, widths, costs = case("gaussian", 0.3)
    system = GramSystem(Z @ Z.T)
    found = solve_tube(system, targets, widths, costs)
    good = certify_tube(system, targets, widths, costs, found.theta, found.intercept)
    assert good.dual_gap < 1e-10  # what rounding may hide included
    assert good.dual_objective == pytest.approx(good.objective, rel=1e-10)
    off = found.theta.copy()
    off[:2] += [0.1, -0.1]
    bad = certify_tube(system, targets, widths, costs, off, found.intercept)
    best = tube_primal(Z, targets, widths, costs).solve()
    assert bad.dual_objective < best < bad.objective
    assert bad.kkt_violation > 1e-3
    moved = certify_tube(system, targets, widths, costs, found.theta, found.intercept + 0.1)
    assert moved.objective > best + 1e-3
    uneven = certify_tube(system, targets, widths, costs, found.theta + 0.1, found.intercept)
    assert uneven.imbalance == pytest.approx(0.1 * len(Z))


def test_rows_so_large_that_the_costs_drown():
    rng = np.random.default_rng(0)
    Z = 1e9 * rng.normal(size=(30, 3))
    targets = rng.normal(size=30)
    # The penalty has vanished: the same scores as with smaller rows and a large cost.
    feature = solve_tube(FeatureSystem(Z.copy()), targets, 0.1, 1.0)
    small = solve_tube(FeatureSystem(Z / 1e9), targets, 0.1, 1e12)
    np.testing.assert_allclose(
        feature.scores + feature.intercept, small.scores + small.intercept, atol=1e-9
    )
    # The kernel matrix of these rows is not positive definite in rounded numbers: no answer is
    # possible, and none is claimed.
    found = solve_tube(GramSystem(Z @ Z.T), targets, 0.1, 1.0)
    assert np.isfinite(found.theta).all()
    assert found.status == "stalled"
    assert found.kkt_violation > 1e-3


def test_callbacks_see_the_objective_fall_and_may_stop():
    Z, targets, widths, costs = case("gaussian", 0.5, n=60)
    seen = []
    system = GramSystem(Z @ Z.T)
    whole = solve_tube(system, targets, widths, costs, callback=lambda p: seen.append(p))
    values = [progress.objective for progress in seen]
    assert np.all(np.diff(values) <= 0)
    assert values[-1] == pytest.approx(whole.objective)
    assert [progress.n_iter for progress in seen] == list(range(whole.n_iter + 1))
    stopped = solve_tube(system, targets, widths, costs, callback=lambda p: p.n_iter == 1)
    assert stopped.status == "stopped"
    assert stopped.n_iter == 1
    cut = solve_tube(system, targets, widths, costs, max_iter=1)
    assert cut.status == "max_iter"
    assert cut.kkt_violation > 1e-3
    np.testing.assert_array_equal(cut.theta, stopped.theta)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"targets": [1.0]}, r"targets must be a number or 3 numbers, got shape \(1,\)"),
        ({"targets": [np.nan, 0, 0]}, "targets must be finite, got nan"),
        ({"tube": -0.1}, "tube must not be negative, got -0.1"),
        ({"costs": 0.0}, "costs must be positive, got 0.0"),
        ({"caps": 0.0}, "caps must be positive, got 0.0"),
        ({"tol": 0.0}, "tol must be positive, got 0"),
        ({"max_iter": -2}, "max_iter must be -1 .* got -2"),
    ],
)
def test_errors(change, words):
    arguments = {"targets": [1.0, 0.0, 2.0], **change}
    with pytest.raises(ValueError, match=words):
        solve_tube(GramSystem(np.eye(3)), **arguments)


def test_systems_without_units_or_not_square():
    with pytest.raises(ValueError, match="no samples"):
        solve_tube(GramSystem(np.zeros((0, 0))), 1.0)
    with pytest.raises(ValueError, match=r"square matrix, got shape \(2, 3\)"):
        GramSystem(np.zeros((2, 3)))


@pytest.mark.parametrize("system", [GramSystem, FeatureSystem])
def test_errors_of_the_scores_are_in_the_claims(system):
    Z, targets, widths, costs = case("gaussian", 0.3)
    given = Z @ Z.T if system is GramSystem else Z
    error = np.linspace(0.0, 0.02, len(Z))
    plain, bounded = system(given), system(given, lambda theta: error)
    found = solve_tube(plain, targets, widths, costs)
    point = (targets, widths, costs, found.theta, found.intercept)
    good, careful = certify_tube(plain, *point), certify_tube(bounded, *point)
    assert careful.objective == good.objective
    # The worst scores within the errors, one by one.
    residual = targets - Z @ (found.theta @ Z) - found.intercept
    worst, farthest = [], np.zeros(len(Z))
    for side in (error, -error):
        outside = np.sign(residual + side) * np.maximum(np.abs(residual + side) - widths, 0.0)
        worst.append(np.abs(outside - found.theta / costs).max())
        farthest = np.maximum(farthest, np.abs(outside))
    assert careful.kkt_violation == pytest.approx(max(worst), rel=1e-6)
    assert careful.kkt_violation > 1e3 * good.kkt_violation
    assert careful.dual_gap > 1e3 * good.dual_gap
    w = found.theta @ Z
    highest = 0.5 * w @ w + 0.5 * (costs * farthest**2).sum()
    scale = max(abs(good.objective), abs(good.dual_objective))
    assert careful.dual_gap * scale >= (highest - good.dual_objective) * (1 - 1e-9)
    assert solve_tube(bounded, targets, widths, costs, tol=1e-3).status == "stalled"


def test_residuals_that_drown_in_their_targets_are_counted():
    """At 1e16 the scores of 1 and -1 are lost: the residuals are -1 and 1, and come out as 0."""
    claimed = certify_tube(GramSystem(np.eye(2)), 1e16, 0.0, 1.0, [1.0, -1.0], 1e16)
    assert claimed.kkt_violation >= 2.0
