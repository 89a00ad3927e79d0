"""The interior point method against a generic solver, and what it is for."""

import numpy as np
import pytest

from scarce.kernels import make_kernel, make_operator
from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve
from tests.oracles.program import dual_optimum, program
from tests.solvers.internals import SignedForm, interior_point, interior_start


def hostile(seed, endless):
    """A program of low rank in two groups, some of whose boxes are points, others endless."""
    random = np.random.default_rng(seed)
    n = 30
    features = random.normal(size=(n, 3))
    upper = 10.0 ** random.uniform(-2, 3, n)
    upper[:3] = 0.0
    linear = -random.uniform(0.5, 2.0, n)
    if endless:
        upper[-4:], linear[-4:] = np.inf, 1.0
    signs = np.where(random.random(n) < 0.5, 1.0, -1.0)
    return program(
        features @ features.T,
        [0.3, 0.0],
        groups=(np.arange(n) >= 18).astype(int),
        signs=signs,
        kernel_signs=signs,
        linear=linear,
        upper=upper,
    )


@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_a_generic_solver(seed, endless):
    given = hostile(seed, endless)
    problem = QuadraticProgram(DenseMatrix(given.kernel, definite=True), **given.arguments())
    form = SignedForm(problem)
    anything = np.full(form.n, 1e6)  # worse than what is looked for
    inner = interior_start(form, anything, form.exact_field(anything, np.arange(form.n)))
    verdict = certify(problem, form.signs * inner)
    assert verdict.relative_infeasibility < 1e-11
    assert verdict.objective == pytest.approx(dual_optimum(given)[0], rel=1e-6)


def test_finds_the_point_of_a_program_by_hand():
    # 1/2 (x^2 + y^2) - x on x + y = 1, 0 <= x <= 0.75: x would be 1, and stops at its bound.
    found = interior_point(
        np.eye(2),
        np.array([-1.0, 0.0]),
        (np.zeros(2), np.array([0.75, np.inf])),
        np.ones((1, 2)),
        np.array([1.0]),
    )
    np.testing.assert_allclose(found, [0.75, 0.25], atol=1e-8)


def test_large_costs_and_few_columns_take_few_steps():
    # Pairwise steps alone take more than two million.
    random = np.random.default_rng(0)
    X = 3.0 * random.normal(size=(415, 50))
    y = np.where(X[:, 0] + 3.0 * random.normal(size=415) > 0, 1.0, -1.0)
    operator = make_operator(X, make_kernel("linear"))
    problem = QuadraticProgram(
        operator, totals=[0.0], signs=y, kernel_signs=y, linear=-np.ones(415), upper=100.0
    )
    solution = solve(problem, tol=1e-3)
    assert solution.status == "optimal"
    assert solution.n_iter < 100_000
    assert certify(problem, solution.alpha).within(1e-3)


def test_equalities_that_cannot_be_told_apart_give_no_start():
    twice = np.ones((2, 3))  # one equality, stated twice
    with np.errstate(all="ignore"):
        found = interior_point(
            np.eye(3), np.zeros(3), (np.zeros(3), np.ones(3)), twice, np.array([1.0, 1.0])
        )
    assert found is None
