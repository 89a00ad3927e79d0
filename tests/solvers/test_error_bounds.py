"""No error of the fast arithmetic, wherever it is, makes a claim false."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.solvers import DenseMatrix, QuadraticProgram, certify, reference_sums, solve
from tests.solvers.internals import Field, SignedForm
from tests.solvers.operators import OffInSingle, RbfRows

N = 1200


@lru_cache
def gram(seed, n=N):
    points = np.random.default_rng(seed).normal(size=(n, 3))
    squares = (points**2).sum(axis=1)
    return np.exp(-0.3 * (squares[:, None] + squares - 2 * points @ points.T))


def check_claims(problem, found, tol):
    """What is claimed is at least what is true, and within the tolerance if it is optimal."""
    true = certify(problem, found.alpha)
    rounding = 1e-9 * tol
    assert found.kkt_violation >= true.kkt_violation - rounding
    assert found.dual_gap >= true.dual_gap - rounding
    assert found.relative_infeasibility <= 1e-11
    if found.status == "optimal":
        assert true.kkt_violation <= tol
        assert true.dual_gap <= tol
    return true


@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-1, -1e-4, -1e-1]),
    st.integers(1, N),
    st.sampled_from(["one-class", "c-svc", "tasks"]),
)
@settings(max_examples=30)
def test_rows_that_are_wrong_in_single_precision(seed, share, wrong, name):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(N)[:wrong]
    y = np.where(rng.random(N) < 0.5, 1.0, -1.0)
    parts = {
        "one-class": {"totals": [0.3 * N], "upper": 1.0},
        "c-svc": {"totals": [0.0], "signs": y, "kernel_signs": y, "linear": -1.0, "upper": 1.0},
        "tasks": {
            "totals": [0.2 * N, 0.2 * N],
            "groups": (y > 0).astype(int),
            "coupling": [[1.0, 0.5], [0.5, 2.0]],
            "upper": 1.0,
        },
    }[name]
    problem = QuadraticProgram(OffInSingle(gram(1), rows, share), **parts)
    found = solve(problem, tol=1e-3)
    assert found.status == "optimal"
    check_claims(problem, found, 1e-3)


@pytest.mark.parametrize("place", ["first", "last", "spread"])
@pytest.mark.parametrize(("size", "distance"), [(3, 1e3), (60, 1e3), (60, 1e2), (400, 1e4)])
def test_cluster_far_away(place, size, distance):
    """Where rows are far out, single precision has no digit of their distances."""
    rng = np.random.default_rng(size)
    n = 3000
    X = rng.normal(size=(n, 4))
    rows = {"first": np.arange(size), "last": np.arange(n - size, n)}.get(
        place, rng.permutation(n)[:size]
    )
    X[rows] = 0.7 * X[rows] + distance * np.array([0.6, 0.0, 0.8, 0.0])
    problem = QuadraticProgram(RbfRows(X, 0.15), totals=[0.1 * n], upper=1.0)
    found = solve(problem, tol=1e-3)
    assert found.status == "optimal"
    check_claims(problem, found, 1e-3)


def test_a_run_cut_short_claims_no_less_than_is_true():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal(size=(2500, 4)), rng.normal(size=(60, 4)) + 800.0])
    problem = QuadraticProgram(RbfRows(X, 0.15), totals=[500.0], upper=1.0)
    for steps in (1, 30, 300, 600):
        part = solve(problem, tol=1e-3, max_iter=steps)
        check_claims(problem, part, 1e-3)


def test_the_check_costs_a_small_share_of_the_kernel_values():
    n = 6000
    X = np.random.default_rng(0).normal(size=(n, 6))
    kernel = RbfRows(X, 1 / 6)
    found = solve(QuadraticProgram(kernel, totals=[0.1 * n], upper=1.0), tol=1e-3)
    assert found.status == "optimal"
    support = np.count_nonzero(found.alpha)
    assert kernel.values_checked <= 0.06 * n * support


def test_bound_of_a_stored_matrix():
    """Against sums in extended precision, of weights that cancel."""
    rng = np.random.default_rng(2)
    n = 300
    values = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 4, size=(n, n))
    values += values.T
    operator = DenseMatrix(values)
    weights = rng.normal(size=(1, n)) * 1e5
    field = np.zeros(n)
    for sign in (1, -1, 1):
        operator.accumulate(np.arange(n), sign * weights, np.zeros(n, np.intp), field, np.float64)
    exact = values.astype(np.longdouble) @ weights[0].astype(np.longdouble)
    bound = operator.error_bound(3 * np.abs(weights[0]), np.float64)
    error = np.abs(field - exact)
    assert error.max() > 0
    assert np.all(error <= bound)
    assert bound.max() <= 1e-7 * np.abs(exact).max()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bound_of_a_matrix_of_one_sign(sign):
    values = np.full((3, 3), sign * 1e-3)
    values[1, 1] = sign * 1e3
    bound = DenseMatrix(values).error_bound(np.ones(3), np.float64)
    assert (bound >= np.finfo(float).eps * 1e3).all()


@pytest.mark.parametrize("n_groups", [1, 3])
def test_reference_sums(n_groups):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 40))
    values += values.T
    rows, columns = rng.permutation(40)[:17], rng.permutation(40)[:23]
    weights, groups = rng.normal(size=(n_groups, 23)), rng.integers(n_groups, size=17)
    expected = [values[i, columns] @ weights[g] for i, g in zip(rows, groups, strict=True)]
    for found in (
        reference_sums(DenseMatrix(values), rows, columns, weights, groups),
        DenseMatrix(values).reference_sums(rows, columns, weights, groups),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_additions_too_small_to_be_seen_are_within_the_bound():
    """Each is less than half of the last digit of the sum, and all are lost."""
    large, many = 2.0**20, 5000
    small = 0.4 * large * np.finfo(float).eps
    form = SignedForm(QuadraticProgram(DenseMatrix(np.eye(2)), totals=[large], upper=2 * large))
    field = Field(form, np.array([large, 0.0]), np.float64)
    for _ in range(many):
        field.add(np.array([0]), np.array([small]))
    error = abs((field.values[0] - large) - many * small)
    assert error > 1000 * large * np.finfo(float).eps
    assert field.error_bound()[0] >= error
