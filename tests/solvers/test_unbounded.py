"""Programs with infinite bounds: those with a minimum are solved, the others are refused."""

import cvxpy as cp
import numpy as np
import pytest

from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve


def rank_one(seed):
    """A program of one direction with a sum up to 1e8, bounded since ``p`` pushes back."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    z = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3)
    total = 10.0 ** rng.uniform(0, 8)
    wanted = 10.0 ** rng.uniform(-2, 4) * rng.normal()  # of z'alpha
    endless = rng.random(n) < (0.5 if seed % 2 else 0.0)
    push = np.where(endless, 0.0, rng.exponential(size=n)) * np.abs(z * wanted).max()
    parts = {
        "totals": [total],
        "lower": np.where(endless, -np.inf, 0.0),
        "linear": -wanted * z + (0.0 if seed % 3 else 1.0) * push + rng.normal(),
    }
    return z, parts


def optimum(z, parts):
    """The least value by another solver, in units of the sum."""
    total, finite = parts["totals"][0], np.isfinite(parts["lower"])
    share = cp.Variable(z.size)
    unit = np.abs(z).max()
    value = cp.square((z / unit) @ share) / 2 + parts["linear"] @ share / (unit**2 * total)
    limits = [cp.sum(share) == 1.0]
    if finite.any():
        limits.append(share[finite] >= 0)
    problem = cp.Problem(cp.Minimize(value), limits)
    problem.solve(solver=cp.CLARABEL)
    return problem.status, problem.value * (unit * total) ** 2


def test_no_bounded_program_of_one_direction_is_refused():
    for seed in range(300):
        z, parts = rank_one(seed)
        problem = QuadraticProgram(DenseMatrix(np.outer(z, z), definite=True), **parts)
        size = (z**2).max() * parts["totals"][0]
        found = solve(problem, tol=1e-6 * max(1.0, size), max_iter=1_000_000)
        assert found.kkt_violation <= 1e-6 * max(1.0, size), seed
        assert found.relative_infeasibility <= 1e-11, seed


@pytest.mark.parametrize("seed", range(0, 300, 15))
def test_their_optimum_is_that_of_another_solver(seed):
    z, parts = rank_one(seed)
    status, value = optimum(z, parts)
    assert status in ("optimal", "optimal_inaccurate")
    problem = QuadraticProgram(DenseMatrix(np.outer(z, z), definite=True), **parts)
    size = (z**2).max() * parts["totals"][0]
    found = solve(problem, tol=1e-9 * max(1.0, size), max_iter=1_000_000)
    assert found.objective <= value + 1e-6 * size * parts["totals"][0]


@pytest.mark.parametrize("seed", range(60))
def test_a_flat_descent_without_bounds_is_refused(seed):
    """Any slope across the one direction, however small beside the slope along it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    z = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3)
    across = rng.normal(size=n)
    for line in (np.ones(n), z - z.mean()):
        across -= (across @ line) / (line @ line) * line
    linear = z * rng.normal() * 10 + np.abs(z).max() * across * 10.0 ** rng.uniform(-3, 1)
    problem = QuadraticProgram(
        DenseMatrix(np.outer(z, z), definite=True),
        totals=[10.0 ** rng.uniform(-2, 8)],
        lower=-np.inf,
        linear=linear,
    )
    with pytest.raises(ValueError, match="unbounded: in group 0"):
        solve(problem, tol=1e-6 * (z**2).max(), max_iter=2_000_000)


@pytest.mark.parametrize("seed", range(20))
def test_a_flat_descent_in_groups_without_a_shared_part_is_refused(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    z, across, groups = rng.normal(size=n), rng.normal(size=n), np.arange(n) % 2
    for own in (groups == 0, groups == 1):
        for line in (own.astype(float), np.where(own, z - z[own].mean(), 0.0)):
            across -= (across @ line) / (line @ line) * line
    problem = QuadraticProgram(
        DenseMatrix(np.outer(z, z), definite=True),
        totals=[1.0, 1.0],
        groups=groups,
        coupling=np.eye(2),
        lower=-np.inf,
        linear=across,
    )
    with pytest.raises(ValueError, match="unbounded: in group"):
        solve(problem, max_iter=20_000)


@pytest.mark.parametrize(("n", "dimensions"), [(600, 20), (1500, 5)])
def test_a_descent_along_very_many_variables_is_refused(n, dimensions):
    """Hard margin on classes that overlap: the point itself runs along the direction."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    points = rng.normal(size=(n, dimensions)) + 0.3 * y[:, None]
    problem = QuadraticProgram(
        DenseMatrix(points @ points.T, definite=True),
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
    )
    with pytest.raises(ValueError, match="unbounded: in group 0"):
        solve(problem, max_iter=500_000)


def test_negative_curvature_without_bounds_is_refused():
    problem = QuadraticProgram(
        DenseMatrix([[0.0, 1.0], [1.0, 0.0]]), totals=[1.0], lower=-np.inf, linear=[0.1, 0.0]
    )
    with pytest.raises(ValueError, match="unbounded"):
        solve(problem)


def separable(seed, n=300, dimensions=4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    points = rng.normal(size=(n, dimensions)) + 2.5 * y[:, None]
    points = points[(y * points.sum(axis=1)) > 1.0]
    return points, np.sign(points.sum(axis=1))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-8])
def test_hard_margin_has_a_finite_gap(seed, tol):
    """Without boxes a dual point is feasible only after it was lengthened a little."""
    points, y = separable(seed)
    problem = QuadraticProgram(
        DenseMatrix(points @ points.T, definite=True),
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
    )
    found = solve(problem, tol=tol)
    assert found.status == "optimal"
    assert found.dual_gap <= tol
    w, b = cp.Variable(points.shape[1]), cp.Variable()
    margin = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [cp.multiply(y, points @ w + b) >= 1])
    margin.solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(-margin.value, rel=1.01 * tol + 1e-7)


def test_the_gap_of_a_spoiled_hard_margin_is_finite_and_true():
    points, y = separable(1)
    problem = QuadraticProgram(
        DenseMatrix(points @ points.T, definite=True),
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
    )
    best = solve(problem, tol=1e-10)
    for share in (1e-6, 1e-3, 0.1):
        spoiled = certify(problem, best.alpha * (1 - share))
        assert spoiled.dual_gap < 10 * share
        assert spoiled.dual_objective <= best.objective
        assert spoiled.objective > best.objective
