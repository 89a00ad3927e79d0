"""The compiled certificate of ordinary small programs against the plain one."""

import numpy as np
import pytest

from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve
from scarce.solvers._certificate import ROUNDED, judge
from scarce.solvers._signed import SignedForm
from scarce.solvers._small import judge_shortly

FIGURES = (
    "objective",
    "dual_objective",
    "dual_gap",
    "kkt_violation",
    "infeasibility",
    "relative_infeasibility",
)


def program(seed, n=30, n_groups=1, rank=5, linear=True):
    random = np.random.default_rng(seed)
    Z = random.normal(size=(n, rank))
    signs = np.where(random.random(n) < 0.5, -1.0, 1.0)
    upper = random.uniform(0.1, 2.0, n)
    groups = random.permutation(np.arange(n) % n_groups)
    inside = random.uniform(0.2, 0.8, n) * upper
    root = random.normal(size=(n_groups, n_groups))
    return QuadraticProgram(
        DenseMatrix(Z @ Z.T, definite=True),
        totals=np.bincount(groups, signs * inside),
        upper=upper,
        linear=random.normal(size=n) if linear else 0.0,
        groups=groups,
        signs=signs,
        kernel_signs=random.permutation(signs),
        coupling=root @ root.T,
    )


def both(problem, alpha, error=None):
    form = SignedForm(problem)
    support = np.arange(form.n)
    weights = problem.coupling[:, problem.groups] * (problem.kernel_signs * alpha)
    field = problem.kernel.reference_sums(support, support, weights, problem.groups)
    shortly = judge_shortly(form, problem.signs * alpha, field, ROUNDED, error)
    return judge(problem, alpha, field, error), shortly


def assert_same(plain, compiled):
    for name in FIGURES:
        expected, found = getattr(plain, name), getattr(compiled, name)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-13), name
    np.testing.assert_allclose(compiled.multipliers, plain.multipliers, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_any_point(seed, n_groups, linear):
    problem = program(seed, n_groups=n_groups, linear=linear)
    random = np.random.default_rng(100 + seed)
    for alpha in (
        random.uniform(-0.1, 2.1, problem.kernel.n),  # outside the box, equalities not met
        np.where(random.random(problem.kernel.n) < 0.5, 0.0, problem.upper),
        np.zeros(problem.kernel.n),
        solve(problem, tol=1e-2).alpha,
        solve(problem, tol=1e-9).alpha,
    ):
        assert_same(*both(problem, alpha))
        for size in (1e-9, 1e-2):
            assert_same(*both(problem, alpha, size * random.random(problem.kernel.n)))


def test_optimum_of_zero():
    # The origin is the mean of the rows: slopes are rounding, and count for nothing.
    Z = np.random.default_rng(0).normal(size=(10, 2))
    Z = np.vstack([Z, -Z])
    problem = QuadraticProgram(DenseMatrix(Z @ Z.T, definite=True), totals=[10.0], upper=1.0)
    plain, compiled = both(problem, np.full(20, 0.5))
    assert_same(plain, compiled)
    assert compiled.dual_gap == 0.0


def test_one_side_empty():
    problem = QuadraticProgram(DenseMatrix(np.eye(4), definite=True), totals=[4.0], upper=1.0)
    assert_same(*both(problem, np.ones(4)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_proves_nothing(bad):
    problem = program(0)
    field = np.zeros(problem.kernel.n)
    field[3] = bad  # also where alpha is zero
    found = judge_shortly(SignedForm(problem), np.zeros(problem.kernel.n), field, ROUNDED)
    assert not found.within(1e6)


def test_solutions_are_those_of_the_public_certificate():
    problem = program(7)
    solution = solve(problem)
    certificate = certify(problem, solution.alpha)
    assert solution.kkt_violation == pytest.approx(certificate.kkt_violation, abs=1e-12)
    assert solution.dual_gap == pytest.approx(certificate.dual_gap, abs=1e-12)
