"""Every row of the table of reductions: the engine's dual against an independent primal."""

import numpy as np
import pytest

from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve
from tests.oracles.program import dual_optimum, program
from tests.oracles.reductions import REDUCTIONS, build_case
from tests.oracles.samples import random_program
from tests.solvers.internals import SignedForm, _signed, _solve, _working_set

TOL = 1e-8

DATA = [
    ("gaussian", "rbf"),
    ("gaussian", "linear"),
    ("duplicated", "rbf"),
    ("duplicated", "linear"),
    ("zeros", "linear"),
    ("flat", "linear"),
]


class RowByRow(DenseMatrix):
    """A matrix whose rows can be had one by one."""

    def subset(self, indices):
        return RowByRow(self.values[np.ix_(indices, indices)], definite=self.definite)

    def write_rows(self, indices, out):
        out[...] = self.values[indices]


def engine(problem, matrix=DenseMatrix):
    return QuadraticProgram(matrix(problem.kernel, definite=True), **problem.arguments())


def margin_rows(problem, alpha):
    """Rows whose multiplier is clearly off its bounds: they make a group's offset unique."""
    room = np.minimum(alpha - problem.lower, problem.upper - alpha)
    return room > 1e-5 * np.maximum(1.0, np.abs(alpha).max())


def check_against_primal(case, matrix=DenseMatrix):
    solution = solve(engine(case.program, matrix), tol=TOL)
    assert solution.status == "optimal"
    assert solution.kkt_violation <= TOL
    assert case.program.infeasibility(solution.alpha) <= 1e-12 * max(1, abs(solution.alpha).max())

    optimum = case.primal.solve()
    reference_scores = np.array(case.primal.scores.value)
    reference_offsets = np.array(case.primal.offsets.value)
    assert case.constant - solution.objective == pytest.approx(optimum, rel=1e-6, abs=1e-8)

    # The weights are unique, and with the multipliers as offsets they attain the optimum.
    weights = case.weights(solution.alpha)
    offsets = case.offsets(solution.multipliers)
    reached = case.primal.value_at(weights, offsets)
    assert reached == pytest.approx(optimum, rel=1e-6, abs=1e-7)
    scores = np.array(case.primal.scores.value)
    resolution = 1e-4 * max(np.ptp(reference_scores), 1e-2)
    np.testing.assert_allclose(scores, reference_scores, rtol=0, atol=resolution)

    margin = margin_rows(case.program, solution.alpha)
    if all(margin[case.program.groups == g].any() for g in range(len(case.program.totals))):
        np.testing.assert_allclose(offsets, reference_offsets, rtol=0, atol=resolution)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("kind", "kernel"), DATA)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(name, kind, kernel, seed):
    check_against_primal(build_case(name, kind, kernel, seed))


@pytest.mark.parametrize(("kind", "kernel"), [("gaussian", "rbf"), ("duplicated", "linear")])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction_in_small_blocks(name, kind, kernel, monkeypatch):
    """Problems of this size are otherwise one block, of a stored matrix."""
    monkeypatch.setattr(_working_set, "SMALLEST_BLOCK", 6)
    monkeypatch.setattr(_working_set, "FIRST_BLOCK", 8)
    monkeypatch.setattr(SignedForm, "keep_rows", lambda *_, **__: None)
    check_against_primal(build_case(name, kind, kernel, seed=3))


@pytest.mark.parametrize(("kind", "kernel"), [("gaussian", "rbf"), ("duplicated", "linear")])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction_row_by_row(name, kind, kernel, monkeypatch):
    """Problems of this size have their whole matrix computed otherwise."""
    monkeypatch.setattr(_signed, "SMALLEST_BATCH", 2)
    monkeypatch.setattr(_signed, "BATCH_VALUES", 1)
    monkeypatch.setattr(_solve, "GUESS_FROM", 1)
    monkeypatch.setattr(_solve, "GUESSED_BY", 3)
    check_against_primal(build_case(name, kind, kernel, seed=3), RowByRow)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "shape",
    [
        {"n": 20, "n_groups": 3},
        {"n": 40, "n_groups": 5, "rank": 2},
        {"n": 30, "n_groups": 1, "unbounded": 1.0},
        {"n": 25, "n_groups": 2, "unbounded": 0.0, "rank": 1, "curved": 0.0},
        {"n": 12, "n_groups": 12},
        {"n": 30, "n_groups": 4, "rank": 3, "curved": 1.0},
    ],
    ids=str,
)
def test_anything_in_the_family(shape, seed):
    problem = random_program(np.random.default_rng(seed), **shape)
    value, _ = dual_optimum(problem)
    solution = solve(engine(problem), tol=TOL)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(value, rel=1e-6, abs=1e-7)
    assert problem.objective(solution.alpha) == pytest.approx(value, rel=1e-6, abs=1e-7)
    assert problem.infeasibility(solution.alpha) <= 1e-11 * max(1, abs(solution.alpha).max())
    np.testing.assert_allclose(solution.gradient, problem.gradient(solution.alpha), atol=1e-8)
    assert certify(engine(problem), solution.alpha).kkt_violation <= 2 * TOL


def test_transfer_without_tube_is_a_linear_system():
    """With no tube and no bounds the program is a least-squares fit with a known closed form."""
    rng = np.random.default_rng(5)
    points = rng.normal(size=(13, 4))
    curvature = rng.uniform(0.3, 2.0, size=13)
    linear = rng.normal(size=13)
    problem = program(points @ points.T, [0.0], lower=-np.inf, linear=linear, diagonal=curvature)
    solution = solve(engine(problem), tol=1e-10)
    system = np.block([[problem.matrix(), np.ones((13, 1))], [np.ones((1, 13)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(-linear, 0.0))
    np.testing.assert_allclose(solution.alpha, expected[:-1], atol=1e-8)
    np.testing.assert_allclose(solution.multipliers, expected[-1:], atol=1e-8)


def tensor_half_step(tensors, factor, side):
    inputs = np.einsum("imk,m->ik" if side == 0 else "imk,k->im", tensors, factor)
    mu = factor @ factor
    box = 1.0 / (0.4 * len(tensors))
    dual = program(inputs @ inputs.T, [1.0], coupling=[[1.0 / mu]], upper=box)
    solution = solve(engine(dual), tol=TOL)
    return inputs.T @ solution.alpha / mu, -solution.objective


def test_tensor_alternation_reproduces_published_values():
    """Eight 4 x 3 samples, nu = 0.4: the objective of each half-step is a matter of record."""
    tensors = np.random.default_rng(0).normal(size=(8, 4, 3)) + 0.6
    left, objectives = np.ones(4), []
    for _ in range(40):
        right, value = tensor_half_step(tensors, left, side=0)
        objectives.append(value)
        left, value = tensor_half_step(tensors, right, side=1)
        objectives.append(value)
    expected = [-1.53136, -1.72329, -1.72672, -1.73085, -1.73103]
    np.testing.assert_allclose(objectives[:5], expected, atol=6e-6)
    assert objectives[-1] == pytest.approx(-1.731445, abs=6e-7)
    assert np.all(np.diff(objectives) <= 1e-9)


def test_vectorised_one_class_bounds_the_tensor_model():
    flat = (np.random.default_rng(0).normal(size=(8, 4, 3)) + 0.6).reshape(8, -1)
    dual = program(flat @ flat.T, [1.0], upper=1.0 / (0.4 * 8))
    assert -solve(engine(dual), tol=TOL).objective == pytest.approx(-2.225477, abs=6e-7)


def test_box_above_the_total_cannot_bind():
    """A cost of one or more is a hard margin: every such cost has the same solution."""
    points = np.random.default_rng(3).normal(size=(9, 3)) + 1.0
    solutions = [
        solve(engine(program(points @ points.T, [1.0], upper=cost)), tol=TOL)
        for cost in (1.0, 1000.0, np.inf)
    ]
    for other in solutions[1:]:
        assert other.objective == pytest.approx(solutions[0].objective, rel=1e-7)
        np.testing.assert_allclose(other.gradient, solutions[0].gradient, atol=1e-6)


def test_one_equality_per_task_differs_from_a_pooled_one():
    """Pooling the equalities is another problem with a lower dual value."""
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(12, 3)) + 1.0, rng.normal(size=(7, 3)) + 2.0])
    tasks = np.repeat([0, 1], [12, 7])
    coupling = 0.5 * (1.0 + np.diag(1.0 / np.array([0.3, 0.4])))
    upper = np.array([0.3, 0.4])[tasks]
    kernel = points @ points.T
    apart = solve(
        engine(program(kernel, [1.0, 1.0], groups=tasks, coupling=coupling, upper=upper)), tol=TOL
    )
    # Same matrix, one equality: the coupling moves into the kernel.
    pooled = solve(engine(program(coupling[np.ix_(tasks, tasks)] * kernel, [2.0], upper=upper)))
    masses = np.bincount(tasks, pooled.alpha)
    np.testing.assert_allclose(np.bincount(tasks, apart.alpha), 1.0, atol=1e-12)
    assert pooled.objective < apart.objective
    assert abs(masses - 1.0).max() > 0.1
