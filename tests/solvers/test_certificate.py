"""The certificate is computed from the problem alone and cannot be fooled by a wrong answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.kernels import make_kernel, make_operator
from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve
from tests.oracles.program import dual_optimum, program
from tests.oracles.reductions import REDUCTIONS, build_case
from tests.oracles.samples import random_program


def engine(problem):
    return QuadraticProgram(DenseMatrix(problem.kernel, definite=True), **problem.arguments())


def kkt_intervals(problem, alpha):
    """``[m_g, M_g]`` of each group, by looking at one row after the other."""
    gradient = problem.gradient(alpha)
    low = np.full(len(problem.totals), -np.inf)
    high = np.full(len(problem.totals), np.inf)
    for i, g in enumerate(problem.groups):
        value = -problem.signs[i] * gradient[i]
        may_grow, may_shrink = alpha[i] < problem.upper[i], alpha[i] > problem.lower[i]
        if problem.signs[i] < 0:
            may_grow, may_shrink = may_shrink, may_grow
        if may_grow:
            low[g] = max(low[g], value)
        if may_shrink:
            high[g] = min(high[g], value)
    return low, high


def lagrange_bound(problem, alpha, multipliers):
    """Value that no feasible point can undercut; needs finite bounds.

    The quadratic is above its tangent at alpha; what is left is linear in each row and smallest
    at a bound.
    """
    matrix = problem.matrix()
    cost = problem.gradient(alpha) + problem.signs * multipliers[problem.groups]
    corners = np.minimum(cost * problem.lower, cost * problem.upper)
    return -0.5 * alpha @ matrix @ alpha - multipliers @ problem.totals + corners.sum()


def boxed(seed, n=15, n_groups=2, curved=0.5):
    rng = np.random.default_rng(seed)
    return random_program(rng, n=n, n_groups=n_groups, unbounded=0.0, curved=curved)


def feasible_point(problem, rng):
    """A feasible point that is far from optimal: best for a random direction."""
    flat = program(
        np.zeros_like(problem.kernel),
        **(problem.arguments() | {"linear": rng.normal(size=len(problem.kernel)), "diagonal": 0.5}),
    )
    alpha = solve(engine(flat), tol=1e-9).alpha
    assert problem.infeasibility(alpha) < 1e-10
    return alpha


@pytest.mark.parametrize("name", REDUCTIONS)
def test_optimal_points_are_certified(name):
    case = build_case(name, "gaussian", "rbf", seed=21)
    solution = solve(engine(case.program), tol=1e-9)
    certificate = certify(engine(case.program), solution.alpha)
    assert certificate.kkt_violation <= 2e-9
    assert certificate.infeasibility <= 1e-10
    value = case.program.objective(solution.alpha)
    assert certificate.objective == pytest.approx(value, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(certificate.multipliers, solution.multipliers, atol=1e-8)
    if name == "hard_margin_svc":  # no box, no curvature: see the test below
        return
    assert certificate.dual_objective == pytest.approx(certificate.objective, rel=1e-6, abs=1e-8)
    if abs(value) > 1e-6:  # relative to an optimum of zero there is no gap to speak of
        assert 0 <= certificate.dual_gap <= 1e-6
        assert solution.dual_gap == pytest.approx(certificate.dual_gap, abs=1e-7)


def test_without_box_and_curvature_the_gap_is_a_number():
    """Then a rounding error in one multiplier proves nothing, and the gap may be infinite."""
    free = program(np.diag([1.0, 2.0, 3.0]), [1.0], lower=-np.inf, linear=[0.3, 0.1, -0.2])
    certificate = certify(engine(free), [0.2, 0.3, 0.5])
    assert certificate.dual_objective == -np.inf
    assert certificate.dual_gap == np.inf
    assert certificate.kkt_violation > 0.1

    exact = program(np.eye(2), [1.0], lower=-np.inf)
    assert certify(engine(exact), [0.5, 0.5]).dual_gap == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_solutions_of_another_solver_are_certified(seed):
    """No trace of the loop is needed: the point may come from anywhere."""
    problem = boxed(seed)
    _, alpha = dual_optimum(problem)
    # An interior point stops short of the bounds; those within its tolerance are meant to be met.
    alpha = np.where(alpha - problem.lower < 1e-7, problem.lower, alpha)
    alpha = np.where(problem.upper - alpha < 1e-7, problem.upper, alpha)
    certificate = certify(engine(problem), alpha)
    assert certificate.kkt_violation <= 1e-5
    assert certificate.dual_gap <= 1e-6
    assert certificate.infeasibility <= 1e-6


@given(st.integers(0, 2**32 - 1))
def test_equals_the_formula(seed):
    """Objective, intervals, multipliers, lower bound and gap, each by its definition."""
    problem = boxed(seed, n=9, curved=0.0)
    alpha = feasible_point(problem, np.random.default_rng(seed))
    certificate = certify(engine(problem), alpha)
    low, high = kkt_intervals(problem, alpha)
    assert certificate.objective == pytest.approx(problem.objective(alpha), rel=1e-10, abs=1e-12)
    worst = max(0.0, np.max(low - high))
    assert certificate.kkt_violation == pytest.approx(worst, rel=1e-9, abs=1e-9)
    assert certificate.infeasibility == pytest.approx(problem.infeasibility(alpha), abs=1e-12)
    bound = lagrange_bound(problem, alpha, certificate.multipliers)
    middle = np.where(
        np.isfinite(low) & np.isfinite(high), (low + high) / 2, certificate.multipliers
    )
    assert bound >= lagrange_bound(problem, alpha, middle) - 1e-9 * (1 + abs(bound))
    assert certificate.primal_objective == pytest.approx(-bound, rel=1e-9, abs=1e-9)
    slack = 1e-9 * (1 + abs(bound))
    assert certificate.dual_objective >= bound - slack
    if certificate.dual_objective > bound + slack:  # by a better dual point, where boxes are wide
        optimum, _ = dual_optimum(problem)
        assert certificate.dual_objective <= optimum + 1e-7 * (1 + abs(optimum))
    assert certificate.dual_gap >= 0
    remaining = certificate.objective - certificate.dual_objective
    assert (certificate.dual_gap > 1e-12) == (remaining > 1e-10)


@given(st.integers(0, 2**32 - 1))
def test_diagonal_curvature_may_only_tighten_the_bound(seed):
    """Curvature on the diagonal need not be replaced by its tangent, but must not be overrated."""
    problem = boxed(seed, n=9, curved=1.0)
    alpha = feasible_point(problem, np.random.default_rng(seed))
    certificate = certify(engine(problem), alpha)
    optimum = solve(engine(problem), tol=1e-9).objective
    slack = 1e-8 * (1 + abs(optimum))
    bound = lagrange_bound(problem, alpha, certificate.multipliers)
    assert bound - slack <= certificate.dual_objective <= optimum + slack


@given(st.integers(0, 10**6))
def test_bounds_the_distance_to_the_optimum(seed):
    """At any feasible point the dual objective is below the optimum: the gap never flatters."""
    problem = random_program(np.random.default_rng(seed), n=12, n_groups=2, curved=1.0)
    optimum = solve(engine(problem), tol=1e-9).objective
    alpha = feasible_point(problem, np.random.default_rng(seed))
    certificate = certify(engine(problem), alpha)
    assert certificate.dual_objective <= optimum + 1e-7 * (1 + abs(optimum))
    assert certificate.objective >= optimum - 1e-7 * (1 + abs(optimum))


def solved(seed=3):
    problem = boxed(seed, n=20)
    return problem, solve(engine(problem), tol=1e-9).alpha


def movable_pair(problem, alpha):
    """Two rows of one group and a direction along which both keep their box and the equality."""
    room_up, room_down = problem.upper - alpha, alpha - problem.lower
    for i in range(len(alpha)):
        for j in range(len(alpha)):
            if i != j and problem.groups[i] == problem.groups[j] and room_up[i] > 0.05:
                toward = -problem.signs[i] * problem.signs[j]
                if (room_up if toward > 0 else room_down)[j] > 0.05:
                    return i, j, toward
    raise AssertionError("no pair can move")


@pytest.mark.parametrize("amount", [1e-6, 1e-3, 0.05])
def test_moved_mass_is_caught(amount):
    """Feasible, almost right, and found out."""
    problem, alpha = solved()
    good = certify(engine(problem), alpha)
    i, j, toward = movable_pair(problem, alpha)
    spoiled = alpha.copy()
    spoiled[i] += amount
    spoiled[j] += toward * amount
    bad = certify(engine(problem), spoiled)
    assert bad.infeasibility <= 1e-12
    assert bad.kkt_violation > 0.01 * amount
    assert bad.kkt_violation > 10 * good.kkt_violation
    assert bad.dual_gap > good.dual_gap
    assert bad.objective > good.objective


@pytest.mark.parametrize("amount", [1e-6, 1e-2, 3.0])
def test_broken_equality_is_caught(amount):
    problem, alpha = solved()
    inside = int(np.argmax(np.minimum(alpha - problem.lower, problem.upper - alpha)))
    spoiled = alpha.copy()
    spoiled[inside] += amount
    assert certify(engine(problem), spoiled).infeasibility >= amount * (1 - 1e-6)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_broken_bound_is_caught(side):
    """The equality still holds, but two rows left their box."""
    problem = program(np.eye(4), [1.0], upper=0.5)
    alpha = np.array([0.25, 0.25, 0.25, 0.25])
    assert certify(engine(problem), alpha).infeasibility <= 1e-15
    spoiled = alpha + side * np.array([0.4, -0.4, 0.0, 0.0])
    assert certify(engine(problem), spoiled).infeasibility == pytest.approx(0.15)


def test_permuted_solution_is_caught():
    """Right numbers, wrong rows."""
    case = build_case("one_class_svm", "gaussian", "rbf", seed=5)
    problem = program(case.program.kernel, [1.0], upper=0.1)
    alpha = solve(engine(problem), tol=1e-9).alpha
    spoiled = np.roll(alpha, 1)
    bad = certify(engine(problem), spoiled)
    assert bad.infeasibility <= 1e-12
    assert bad.kkt_violation > 1e-3
    assert bad.dual_gap > 1e-4


def test_wrong_multipliers_give_a_worse_bound():
    """The certificate's own multipliers beat offsets that are far off, on the same point."""
    problem, alpha = solved()
    certificate = certify(engine(problem), alpha)
    best = lagrange_bound(problem, alpha, certificate.multipliers)
    assert best == pytest.approx(certificate.objective, rel=1e-6)
    for g in range(len(problem.totals)):
        for move in (-0.5, 0.5):
            wrong = certificate.multipliers.copy()
            wrong[g] += move
            assert lagrange_bound(problem, alpha, wrong) < best - 1e-3


def test_unfinished_run_admits_it():
    rng = np.random.default_rng(1)
    n = 2500
    points = rng.normal(size=(n, 3))
    kernel = make_operator(points, make_kernel("rbf", gamma=0.3))
    problem = QuadraticProgram(kernel, totals=[1.0], upper=1.0 / (0.4 * n))
    part = solve(problem, tol=1e-10, max_iter=20)
    assert part.status == "max_iter"
    certificate = certify(problem, part.alpha)
    assert certificate.kkt_violation > 1e-10
    assert certificate.kkt_violation == pytest.approx(part.kkt_violation, rel=1e-3)
    assert certificate.dual_gap > 0


def test_single_precision_data_are_certified_in_double():
    """Rounding in the solver's kernel must not reach the judge."""
    rng = np.random.default_rng(4)
    points = (rng.normal(size=(60, 5)) + 30.0).astype(np.float32)
    problem = QuadraticProgram(
        make_operator(points, make_kernel("rbf", gamma=0.1)), totals=[1.0], upper=0.05
    )
    alpha = solve(problem, tol=1e-4).alpha
    exact = points.astype(np.float64)
    differences = exact[:, None, :] - exact[None, :, :]
    gram = np.exp(-0.1 * (differences**2).sum(axis=2))
    reference = program(gram, [1.0], upper=0.05)
    certificate = certify(problem, alpha)
    assert certificate.objective == pytest.approx(reference.objective(alpha), rel=1e-10)
    low, high = kkt_intervals(reference, alpha)
    assert certificate.kkt_violation == pytest.approx(np.max(low - high), abs=1e-10)
