"""What must hold for every problem of the family, whatever its numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.kernels import make_kernel, make_operator
from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve
from tests.oracles.program import dual_optimum, program
from tests.oracles.samples import labels, random_program

TOL = 1e-6


def engine(problem):
    return QuadraticProgram(DenseMatrix(problem.kernel, definite=True), **problem.arguments())


@st.composite
def programs(draw, curved=(0.0, 0.5, 1.0)):
    """Random programs; the drawn numbers decide the structure, a seed fills in the values."""
    n_groups = draw(st.integers(1, 4))
    n = n_groups + draw(st.integers(1, 30))
    return random_program(
        np.random.default_rng(draw(st.integers(0, 2**32 - 1))),
        n=n,
        n_groups=n_groups,
        rank=draw(st.sampled_from([None, 1, 2, 5])),
        unbounded=draw(st.sampled_from([0.0, 0.3, 1.0])),
        curved=draw(st.sampled_from(curved)),
    )


def rounding(problem, alpha):
    """Size of a rounding error in the objective and in the equalities."""
    return 1e-11 * (
        1.0 + np.abs(alpha) @ np.abs(problem.matrix()) @ np.abs(alpha) + np.abs(alpha).sum()
    )


class Recorder:
    """Keeps a copy of every state the solver shows; many more than needed are a failure."""

    def __init__(self):
        self.alphas, self.objectives, self.violations, self.counts = [], [], [], []

    def __call__(self, state):
        self.alphas.append(np.array(state.alpha))
        self.objectives.append(state.objective)
        self.violations.append(state.violation)
        self.counts.append(state.n_iter)
        assert len(self.counts) < 300, "no end in sight"


def check_path(problem, record):
    """Every iterate is feasible and none is worse than the one before."""
    previous = np.inf
    for alpha, stated in zip(record.alphas, record.objectives, strict=True):
        slack = rounding(problem, alpha)
        assert np.all(alpha >= problem.lower)
        assert np.all(alpha <= problem.upper)
        assert problem.infeasibility(alpha) <= slack
        value = problem.objective(alpha)
        assert stated == pytest.approx(value, rel=1e-8, abs=slack)
        assert value <= previous + slack
        previous = value


@given(programs())
def test_iterates_are_feasible_and_descend(problem):
    record = Recorder()
    solution = solve(engine(problem), tol=TOL, callback=record)
    check_path(problem, record)
    assert record.alphas
    assert np.all(solution.alpha >= problem.lower)
    assert np.all(solution.alpha <= problem.upper)
    assert problem.infeasibility(solution.alpha) <= rounding(problem, solution.alpha)
    assert solution.objective <= record.objectives[-1] + rounding(problem, solution.alpha)


@given(programs())
def test_solution_is_optimal_and_says_so(problem):
    solution = solve(engine(problem), tol=TOL)
    assert solution.status == "optimal"
    assert solution.kkt_violation <= TOL
    assert certify(engine(problem), solution.alpha).kkt_violation <= 1.01 * TOL
    assert solution.objective == pytest.approx(
        problem.objective(solution.alpha), rel=1e-9, abs=1e-9
    )
    np.testing.assert_allclose(solution.gradient, problem.gradient(solution.alpha), atol=1e-7)


@given(programs())
def test_warm_start_from_a_solution_ends_at_once(problem):
    cold = solve(engine(problem), tol=TOL)
    warm = solve(engine(problem), tol=2 * TOL, start=cold.alpha)
    assert warm.status == "optimal"
    assert warm.n_iter == 0
    np.testing.assert_allclose(warm.alpha, cold.alpha, rtol=1e-9, atol=1e-12)


def repeat_row(problem, row):
    """Split one row in two equal rows, each with half of the box and twice the curvature."""
    order = np.append(np.arange(len(problem.kernel)), row)
    split = np.isin(order, row)
    rows = {
        name: value[order]
        for name, value in problem.arguments().items()
        if name not in ("totals", "coupling")
    }
    rows["lower"] = np.where(split, rows["lower"] / 2, rows["lower"])
    rows["upper"] = np.where(split, rows["upper"] / 2, rows["upper"])
    rows["diagonal"] = np.where(split, 2 * rows["diagonal"], rows["diagonal"])
    return replace(problem, kernel=problem.kernel[np.ix_(order, order)], **rows)


@given(st.data(), programs())
def test_a_weight_of_two_equals_two_rows(data, problem):
    row = data.draw(st.integers(0, len(problem.kernel) - 1))
    once = solve(engine(problem), tol=TOL)
    twice = solve(engine(repeat_row(problem, row)), tol=TOL)
    scale = 1.0 + np.abs(once.alpha).sum()
    assert twice.objective == pytest.approx(once.objective, rel=1e-6, abs=TOL * scale)


@given(st.data(), programs(curved=(1.0,)))
def test_order_of_rows_does_not_matter(data, problem):
    order = np.array(data.draw(st.permutations(range(len(problem.kernel)))))
    rows = {
        name: value[order]
        for name, value in problem.arguments().items()
        if name not in ("totals", "coupling")
    }
    shuffled = replace(problem, kernel=problem.kernel[np.ix_(order, order)], **rows)
    one, other = solve(engine(problem), tol=1e-9), solve(engine(shuffled), tol=1e-9)
    assert other.objective == pytest.approx(one.objective, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(other.alpha, one.alpha[order], atol=1e-6)
    np.testing.assert_allclose(other.gradient, one.gradient[order], atol=1e-6)


@given(programs())
def test_interrupted_runs_reach_the_same_objective(problem):
    whole = solve(engine(problem), tol=TOL)
    part = solve(engine(problem), tol=TOL, max_iter=1)
    values = [part.objective]
    while part.status == "max_iter":
        part = solve(engine(problem), tol=TOL, max_iter=2 * len(values), start=part.alpha)
        values.append(part.objective)
        assert len(values) < 1000
    slack = rounding(problem, part.alpha)
    assert np.all(np.diff(values) <= slack)
    scale = 1.0 + np.abs(whole.alpha).sum()
    assert values[-1] == pytest.approx(whole.objective, rel=1e-6, abs=TOL * scale)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["one-class", "c-svc", "nu-svc"]))
@settings(max_examples=30)
def test_float32_kernel_is_close_to_float64(seed, name):
    rng = np.random.default_rng(seed)
    n = 40
    points, y = rng.normal(size=(n, 3)), labels(rng, n)
    parts = {
        "one-class": {"totals": [1.0], "upper": 1.0 / (0.3 * n)},
        "c-svc": {"totals": [0.0], "signs": y, "kernel_signs": y, "linear": -1.0, "upper": 1.0},
        "nu-svc": {
            "totals": [0.2 * min((y > 0).mean(), (y < 0).mean())] * 2,
            "groups": (y > 0).astype(int),
            "kernel_signs": y,
            "upper": 1.0 / n,
        },
    }[name]
    kernel = make_kernel("rbf", gamma=0.5)
    double, single = (
        solve(QuadraticProgram(make_operator(points.astype(kind), kernel), **parts), tol=1e-5)
        for kind in (np.float64, np.float32)
    )
    assert single.status == "optimal"
    assert single.objective == pytest.approx(double.objective, rel=1e-4, abs=1e-5)
    np.testing.assert_allclose(single.gradient, double.gradient, atol=5e-3)


@pytest.mark.parametrize("name", ["one-class", "tasks", "c-svc", "squared"])
def test_path_of_a_problem_larger_than_its_working_set(name):
    """Small problems fit into one working set; only larger ones have a path worth watching."""
    rng = np.random.default_rng(8)
    n = 2200
    points = rng.normal(size=(n, 4))
    y = np.where(points[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    tasks = rng.integers(3, size=n)
    parts = {
        "one-class": {"totals": [1.0], "upper": 1.0 / (0.3 * n)},
        "tasks": {
            "totals": np.ones(3),
            "groups": tasks,
            "upper": 12.0 / n,
            "coupling": 0.5 + np.diag([0.5, 2.0, 0.1]),
        },
        "c-svc": {"totals": [0.0], "signs": y, "kernel_signs": y, "linear": -1.0, "upper": 1.0},
        "squared": {
            "totals": [0.0],
            "signs": y,
            "kernel_signs": y,
            "linear": -1.0,
            "diagonal": 1.0,
        },
    }[name]
    squares = (points**2).sum(axis=1)
    kernel = np.exp(-0.2 * (squares[:, None] + squares - 2 * points @ points.T))
    problem = program(kernel, **parts)
    record = Recorder()
    solution = solve(engine(problem), tol=1e-4, callback=record)
    assert solution.status == "optimal"
    assert record.counts == sorted(set(record.counts))
    assert record.violations[-1] <= 1e-4 or solution.kkt_violation <= 1e-4
    check_path(problem, record)

    warm = solve(engine(problem), tol=2e-4, start=solution.alpha)
    assert warm.n_iter == 0

    part = solve(engine(problem), tol=1e-4, max_iter=20)
    assert part.status == "max_iter"
    assert part.kkt_violation > 1e-4
    resumed = solve(engine(problem), tol=1e-4, start=part.alpha)
    assert resumed.status == "optimal"
    scale = np.abs(solution.alpha).sum()
    assert resumed.objective == pytest.approx(solution.objective, rel=1e-6, abs=1e-4 * scale)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "rank"), [(300, 1), (300, 2), (420, 5)])
def test_flat_directions_do_not_leave_the_feasible_set(n, rank, seed):
    """Far more free variables than dimensions: every linear system on them is singular."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, rank))
    linear = 3 * points @ rng.normal(size=rank) + rng.normal()
    problem = program(points @ points.T, [1.0], lower=-1.0, upper=1.0, linear=linear)
    record = Recorder()
    solution = solve(engine(problem), tol=TOL, callback=record)
    check_path(problem, record)
    assert solution.status == "optimal"
    assert problem.infeasibility(solution.alpha) <= rounding(problem, solution.alpha)


@pytest.mark.parametrize("seed", range(4))
def test_larger_random_programs(seed):
    """Blocks inside blocks, several groups, flat directions without a bound."""
    rng = np.random.default_rng([seed, 77])
    problem = random_program(
        rng, n=500, n_groups=4, rank=(1, 2, 5, 50)[seed], unbounded=0.7, curved=(0.0, 0.5)[seed % 2]
    )
    record = Recorder()
    solution = solve(engine(problem), tol=TOL, callback=record)
    check_path(problem, record)
    assert solution.status == "optimal"
    assert certify(engine(problem), solution.alpha).kkt_violation <= 1.01 * TOL


@pytest.mark.parametrize("seed", [617, 1779])
def test_flat_directions_in_several_groups_at_once(seed):
    """Pairs of one group creep along a direction that only all groups together can walk."""
    rng = np.random.default_rng(seed)
    problem = random_program(rng, n=79, n_groups=7, rank=5, unbounded=0.7, curved=0.0)
    value, _ = dual_optimum(problem)
    solution = solve(engine(problem), tol=TOL, max_iter=2_000_000)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("name", ["c-svc", "squared"])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_path_of_an_operator_that_rounds(name, precision):
    """With kernel values in single precision the true objective falls but for their rounding."""
    rng = np.random.default_rng(12)
    base = rng.normal(size=(250, 3))
    points = np.repeat(base, 6, axis=0).astype(precision)
    y = np.repeat(np.where(base[:, 0] + 0.5 * rng.normal(size=250) > 0, 1.0, -1.0), 6)
    box = {"c-svc": {"upper": 100.0}, "squared": {"diagonal": 1e-3}}[name]
    kernel = make_operator(points, make_kernel("rbf", gamma=1.0))
    problem = QuadraticProgram(kernel, totals=[0.0], signs=y, kernel_signs=y, linear=-1.0, **box)
    record = Recorder()
    solution = solve(problem, tol=1e-5, callback=record)
    path = [certify(problem, alpha) for alpha in record.alphas]
    true = np.array([state.objective for state in path])
    noise = 1e-6 * np.abs(true).max()
    assert max(state.infeasibility for state in path) <= 1e-10 * np.abs(solution.alpha).sum()
    assert np.all(np.diff(true) <= noise)
    # What a callback is told has the precision of the kernel values at that moment.
    np.testing.assert_allclose(record.objectives, true, atol=1e-3 * np.abs(true).max())
    assert solution.status == "optimal"
    assert certify(problem, solution.alpha).kkt_violation <= 1e-5


@pytest.mark.parametrize("megabytes", [1.0, 0.05])
def test_memory_changes_the_path_and_not_the_answer(megabytes):
    """With little memory for kernel values the blocks are small."""
    rng = np.random.default_rng(6)
    problem = random_program(rng, n=600, n_groups=3, rank=20, unbounded=0.2, curved=1.0)
    roomy = solve(engine(problem), tol=1e-8)
    tight = solve(engine(problem), tol=1e-8, cache_size=megabytes, max_iter=300_000)
    assert tight.status == "optimal"
    assert tight.objective == pytest.approx(roomy.objective, rel=1e-9)
    np.testing.assert_allclose(tight.alpha, roomy.alpha, atol=1e-6)


def boxes_with_one_answer(name, n):
    """Boxes that hold hardly more than the totals: a sample of the rows may hold less."""
    if name == "full boxes":
        sizes = np.array([n - 1000 - 93, 1000, 93])
        groups = np.repeat(np.arange(3), sizes)
        return {"totals": np.ones(3), "groups": groups, "upper": (1.0 / sizes)[groups]}
    upper = np.full(n, 0.5 / n)
    upper[n // 3] = 0.9
    return {"totals": [1.0], "upper": upper}


@pytest.mark.parametrize("name", ["full boxes", "one heavy row"])
def test_large_problem_whose_parts_may_be_infeasible(name):
    """Large problems may begin with a part of the rows; that must not show."""
    n = 4400
    points = np.random.default_rng(9).normal(size=(n, 3))
    parts = boxes_with_one_answer(name, n)
    problem = QuadraticProgram(make_operator(points, make_kernel("rbf", gamma=0.3)), **parts)
    solution = solve(problem, tol=1e-4)
    assert solution.status == "optimal"
    certificate = certify(problem, solution.alpha)
    assert certificate.kkt_violation <= 1e-4
    assert certificate.infeasibility <= 1e-11


def test_a_program_with_another_matrix_is_the_program_of_that_matrix():
    random = np.random.default_rng(0)
    first, second = (points @ points.T for points in random.normal(size=(2, 30, 5)))
    signs = np.where(np.arange(30) % 2, 1.0, -1.0)
    parts = {"totals": [0.0], "upper": 0.7, "linear": -1.0, "signs": signs, "kernel_signs": signs}
    fresh = solve(QuadraticProgram(DenseMatrix(second), **parts), tol=TOL)
    program = QuadraticProgram(DenseMatrix(first), **parts)
    before = solve(program, tol=TOL)
    changed = solve(program.with_kernel(DenseMatrix(second)), tol=TOL)
    np.testing.assert_array_equal(changed.alpha, fresh.alpha)
    np.testing.assert_array_equal(solve(program, tol=TOL).alpha, before.alpha)
    assert not np.array_equal(changed.alpha, before.alpha)
    with pytest.raises(ValueError, match="kernel has 29 rows, but the program 30 variables"):
        program.with_kernel(DenseMatrix(np.eye(29)))


@pytest.mark.parametrize(("lower", "upper"), [(0.9, 1.1), (1.0, 1.001)])
def test_optimal_means_that_the_violation_is_within_the_tolerance(lower, upper):
    """Sums so large that single precision cannot resolve the tolerance."""
    n = 4400
    points = np.random.default_rng(10).normal(size=(n, 3))
    kernel = make_operator(points, make_kernel("rbf", gamma=0.3))
    problem = QuadraticProgram(kernel, totals=[float(n)], lower=lower, upper=upper)
    solution = solve(problem, tol=1e-4)
    assert solution.status == "optimal"
    assert solution.kkt_violation <= 1e-4
    assert certify(problem, solution.alpha).kkt_violation <= 1e-4


def test_last_step_is_exact_after_single_precision_too():
    """At the free variables the gradient is one number, to far more digits than `tol` asks for."""
    n = 1500
    points = np.random.default_rng(2).normal(size=(n, 4))
    operator = make_operator(points, make_kernel("rbf", gamma=0.2))
    assert operator.precisions[0] == np.float32
    problem = QuadraticProgram(operator, totals=[1.0], upper=1 / (0.05 * n))
    alpha = solve(problem, tol=1e-4).alpha
    free = (alpha > 0) & (alpha < 1 / (0.05 * n))
    assert free.sum() > 5
    distances = ((points[free][:, None] - points) ** 2).sum(axis=2)
    gradient = np.exp(-0.2 * distances) @ alpha
    assert np.ptp(gradient) < 1e-10
