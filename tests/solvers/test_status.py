"""What "optimal" means: violation, duality gap and feasibility, and what is told besides."""

import itertools

import numpy as np
import pytest

from scarce.kernels import make_kernel, make_operator
from scarce.reductions import c_svc_program
from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve
from tests.oracles.program import dual_optimum, program
from tests.solvers.internals import SignedForm, _loop, newton_steps


def points(seed=0, n=120):
    return np.random.default_rng(seed).normal(size=(n, 3)) + 0.5


@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e-8])
def test_a_tolerance_above_every_gradient_proves_nothing(scale):
    """The violation is within `tol` from the start; the duality gap is not."""
    X = points()
    kernel = scale * (X @ X.T)
    problem = QuadraticProgram(
        DenseMatrix(kernel, definite=True), totals=[1.0], upper=1 / (0.2 * len(X))
    )
    found = solve(problem, tol=1e-3)
    assert found.status == "optimal"
    assert found.dual_gap <= 1e-3
    value, _ = dual_optimum(program(X @ X.T, [1.0], upper=1 / (0.2 * len(X))))
    assert found.objective == pytest.approx(scale * value, rel=1e-3)


def test_a_gap_that_cannot_be_met_is_told():
    X = points()
    problem = QuadraticProgram(
        DenseMatrix(1e-6 * (X @ X.T), definite=True), totals=[1.0], upper=1 / (0.2 * len(X))
    )
    cut = solve(problem, tol=1e-3, max_iter=3)
    assert cut.status == "max_iter"
    assert cut.kkt_violation <= 1e-3
    assert cut.dual_gap > 1e-3


# Matrices that are not positive semidefinite, or not for certain.

INDEFINITE = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 3.0], [0.0, 3.0, 0.0]])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_local_optimum_of_an_indefinite_matrix_has_no_gap(order):
    kernel = INDEFINITE[np.ix_(order, order)]
    problem = QuadraticProgram(DenseMatrix(kernel), totals=[1.0], upper=0.5)
    found = solve(problem)
    assert np.isnan(found.dual_gap)
    assert found.negative_curvature
    assert found.status == "optimal"
    # A local optimum: no pair of rows can do better.
    for i, j in itertools.permutations(range(3), 2):
        for step in (1e-3, 0.1, 0.5):
            moved = found.alpha.copy()
            moved[i] += step
            moved[j] -= step
            if moved.min() >= 0 and moved.max() <= 0.5 and step < 0.01:
                assert 0.5 * moved @ kernel @ moved >= found.objective - 1e-12
    certificate = certify(problem, found.alpha)
    assert np.isnan(certificate.dual_gap)
    assert np.isnan(certificate.dual_objective)
    assert certificate.kkt_violation <= 1e-3


@pytest.mark.parametrize("seed", range(20))
def test_descent_on_indefinite_matrices(seed):
    rng = np.random.default_rng(seed)
    kernel = rng.normal(size=(30, 30))
    kernel += kernel.T
    problem = QuadraticProgram(DenseMatrix(kernel), totals=[1.0], upper=0.2)
    values = []
    found = solve(problem, tol=1e-8, callback=lambda state: values.append(state.objective))
    assert found.status == "optimal"
    assert found.negative_curvature
    assert np.isnan(found.dual_gap)
    assert np.all(np.diff([*values, found.objective]) <= 1e-12)


def test_curvature_that_no_pair_has_is_told_without_a_step():
    """A saddle along (1, 1, -2): three variables have to move before the objective falls."""
    across, down = np.array([1.0, -1.0, 0.0]), np.array([1.0, 1.0, -2.0])
    kernel = 1.0 + np.outer(across, across) / 4.0 - np.outer(down, down) / 72.0
    problem = QuadraticProgram(DenseMatrix(kernel), totals=[1.0], upper=1.0)
    found = solve(problem, tol=1e-2, start=1.0 / 3.0 + 1e-4 * down)
    assert found.n_iter == 0
    assert found.negative_curvature


def test_a_definite_matrix_that_nobody_vouches_for():
    X = points()
    problem = QuadraticProgram(DenseMatrix(X @ X.T), totals=[1.0], upper=0.1)
    found = solve(problem)
    assert found.status == "optimal"
    assert np.isnan(found.dual_gap)
    assert not found.negative_curvature


def test_an_indefinite_coupling_has_no_gap():
    X = points(n=20)
    parts = {"totals": [1.0, 1.0], "groups": np.arange(20) % 2, "upper": 0.5}
    kernel = DenseMatrix(X @ X.T, definite=True)
    good = QuadraticProgram(kernel, coupling=[[1.0, 0.5], [0.5, 1.0]], **parts)
    bad = QuadraticProgram(kernel, coupling=[[1.0, 2.0], [2.0, 1.0]], **parts)
    assert solve(good).dual_gap <= 1e-3
    assert np.isnan(solve(bad).dual_gap)


def test_a_subset_is_as_definite_as_the_whole():
    for definite in (True, False):
        part = DenseMatrix(np.eye(4), definite=definite, name="mine").subset(np.array([0, 2]))
        assert part.definite == definite
        assert part.name == "mine"


def test_newton_does_not_climb_to_a_saddle():
    """Between two bounds the product of two variables is largest, not least."""
    form = SignedForm(
        QuadraticProgram(DenseMatrix([[0.0, 1.0], [1.0, 0.0]]), totals=[1.0], upper=1.0)
    )
    x = np.array([0.4, 0.6])
    found, bent = newton_steps(form, x, np.array([0.6, 0.4]), 10, 1e-3)
    assert found is None
    assert bent


# Feasibility.


@pytest.mark.parametrize("seed", [3, 10, 20, 46, 61, 95, 120, 136])
def test_boxes_over_many_decades(seed):
    """Nearness to a bound is relative to the values, not to a box of any width."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 400))
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    kernel = (X @ X.T / 3) ** 3
    weights = 10.0 ** rng.uniform(-8, 8, size=n)
    problem = QuadraticProgram(
        DenseMatrix(kernel, definite=True),
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=weights,
    )
    found = solve(problem, max_iter=300_000)
    mass = np.abs(found.alpha).sum()
    assert abs(y @ found.alpha) <= 1e-11 * mass
    assert found.infeasibility == pytest.approx(abs(y @ found.alpha), abs=1e-15 * mass)
    assert np.all((found.alpha >= 0) & (found.alpha <= weights))
    true = certify(problem, found.alpha)
    assert true.kkt_violation <= found.kkt_violation + 1e-15 * mass  # rounding
    if found.status == "optimal":
        assert true.kkt_violation <= 1e-3


def opposite_pair(upper):
    """Two rows of opposite classes; the solution is 1e-5 each, whatever the box is."""
    y = np.array([1.0, -1.0])
    return QuadraticProgram(
        DenseMatrix(1e5 * np.eye(2), definite=True),
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=upper,
    )


@pytest.mark.parametrize("upper", [1e-2, 1e8, 1e20])
def test_values_far_smaller_than_their_box(upper):
    found = solve(opposite_pair(upper), tol=1e-6)
    assert found.status == "optimal"
    np.testing.assert_allclose(found.alpha, 1e-5, rtol=1e-6)
    form = SignedForm(opposite_pair(upper))
    x = np.array([1e-5, -1e-5])
    form.snap(x)
    np.testing.assert_array_equal(x, [1e-5, -1e-5])


def test_rounding_of_a_far_start_does_not_stay_in_the_equality():
    """A start of mass 1e10 meets its equality to 1e-4 at best, the solution must do better."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    kernel = np.exp(-0.5 * np.subtract.outer(rng.normal(size=40), rng.normal(size=40)) ** 2)
    kernel = np.eye(40) + 0.1 * kernel @ kernel.T
    problem = QuadraticProgram(
        DenseMatrix(kernel, definite=True),
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=1e12,
    )
    start = np.full(40, 1e9) + 1e-5 * (y > 0)
    found = solve(problem, tol=1e-6, start=start)
    assert found.kkt_violation <= 1e-6
    # Over a box of 1e12 the last digits of a slope are worth more than the objective.
    assert found.status == "stalled"
    assert abs(y @ found.alpha) <= 1e-11 * found.alpha.sum()
    cold = solve(problem, tol=1e-9)
    np.testing.assert_allclose(found.alpha, cold.alpha, atol=1e-5)


def test_a_last_step_that_breaks_an_equality_is_not_taken(monkeypatch):
    X = points()
    problem = QuadraticProgram(
        DenseMatrix(X @ X.T, definite=True), totals=[1.0], upper=1 / (0.2 * len(X))
    )
    broken = lambda form, x, *_, **__: (x * (1 + 1e-9), False)  # noqa: E731
    monkeypatch.setattr(_loop, "newton_steps", broken)
    found = solve(problem, tol=1e-3, callback=lambda _: False)  # else a compiled step is taken
    assert found.status == "optimal"
    assert found.relative_infeasibility <= 1e-12


def test_more_free_variables_than_the_rank_of_a_matrix():
    """Pairwise steps alone, on values of a thousand and with a large cost, take millions."""
    rng = np.random.default_rng(0)
    X = 10.0 * rng.normal(size=(415, 50))
    y = np.where(X @ rng.normal(size=50) + 50.0 * rng.normal(size=415) > 0, 1.0, -1.0)
    problem = c_svc_program(make_operator(X, make_kernel("linear")), y, np.full(415, 100.0))
    found = solve(problem)
    assert found.status == "optimal"
    assert certify(problem, found.alpha).kkt_violation <= 1e-3
    assert found.n_iter < 500_000


def test_a_point_off_its_equality_is_not_within_any_tolerance():
    problem = QuadraticProgram(DenseMatrix(np.eye(4), definite=True), totals=[1.0])
    good = certify(problem, np.full(4, 0.25))
    bad = certify(problem, np.full(4, 0.25 + 1e-8))
    assert good.within(1e-6)
    assert not bad.within(1e-6)
    assert bad.infeasibility == pytest.approx(4e-8)
    assert bad.relative_infeasibility == pytest.approx(2e-8, rel=1e-6)


@pytest.mark.parametrize("total", [1e-14, 1e14])
def test_infeasible_totals_of_any_scale(total):
    with pytest.raises(ValueError, match="infeasible: group 0"):
        QuadraticProgram(DenseMatrix(np.eye(3)), totals=[total], upper=0.3 * total)


def test_many_ties_on_one_side_leave_room_for_the_other():
    """Two clusters, all rows of one alike: the block needs rows of both."""
    n, far = 1500, 700
    kernel = np.zeros((n, n))
    kernel[:far, :far] = 1.0
    kernel[far:, far:] = np.eye(n - far)
    problem = QuadraticProgram(DenseMatrix(kernel, definite=True), totals=[0.3 * n], upper=1.0)
    found = solve(problem, cache_size=1.0)
    assert found.status == "optimal"
    assert certify(problem, found.alpha).kkt_violation <= 1e-3
