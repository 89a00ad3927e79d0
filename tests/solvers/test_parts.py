"""Programs on parts of one stored matrix, by `solve` and many at once."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import scarce
from scarce.kernels import StoredOperator, make_kernel, make_operator
from scarce.parallel import KEPT
from scarce.reductions import c_svc_program, nu_svc_program
from scarce.solvers import QuadraticProgram, certify, solve, solve_many
from tests.solvers.internals import _threads


def parts(
    kind: str, kernel: str = "rbf", duplicates: bool = False
) -> list[tuple[QuadraticProgram, QuadraticProgram]]:
    """Return the programs of three pairs of classes, rows in no order.

    Each on its part of the stored matrix, and on a matrix of its own.
    """
    random = np.random.default_rng(3)
    codes = random.integers(0, 3, 240)
    X = random.normal(size=(240, 3)) + codes[:, None]
    if duplicates:
        X[120:] = X[:120]
    rbf = make_kernel(kernel, gamma=0.5)
    stored = StoredOperator.of(make_operator(X, rbf))
    programs = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((codes == first) | (codes == second))
        signs = np.where(codes[rows] == first, 1.0, -1.0)
        weights = random.uniform(0.5, 2.0, rows.size)
        both = []
        for operator in (stored.subset(rows), make_operator(X[rows], rbf)):
            if kind == "nu":
                both.append(nu_svc_program(operator, signs, nu=0.3, weights=weights))
            else:
                both.append(c_svc_program(operator, signs, float(kind) * weights))
        programs.append((both[0], both[1]))
    return programs


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("kind", ["1", "100", "nu"])
def test_same_as_with_a_matrix_of_its_own(kind: str, kernel: str, duplicates: bool) -> None:
    for program, other in parts(kind, kernel, duplicates):
        solution, wanted = solve(program), solve(other)
        proof = certify(other, solution.alpha)
        assert proof.kkt_violation <= solution.kkt_violation + 1e-9 <= 1e-3 + 1e-9
        if abs(wanted.objective) < 1e-9:
            continue  # no margin: what is left of the objective is rounding, and so is the verdict
        assert solution.status == wanted.status == "optimal"
        assert proof.dual_gap <= solution.dual_gap + 1e-9 <= 1e-3 + 1e-9
        assert_allclose(solution.objective, proof.objective, rtol=1e-7)
        assert_allclose(solution.objective, wanted.objective, rtol=1e-3)
        exact = other.kernel_signs * other.kernel.reference_sums(
            np.arange(other.kernel.n),
            np.arange(other.kernel.n),
            (other.kernel_signs * solution.alpha)[None, :],
            np.zeros(other.kernel.n, int),
        )
        scale = max(1.0, float(np.abs(exact).max()))
        assert_allclose(solution.gradient, exact + other.linear, atol=1e-7 * scale)


def stored_parts(kind: str, **params: Any) -> list[QuadraticProgram]:
    return [program for program, _ in parts(kind, **params)]


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("kind", ["1", "100", "nu", "inf"])
def test_many_at_once_are_those_of_solve_bit_by_bit(
    kind: str, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "inf" and kernel != "rbf":
        return  # classes that overlap: no margin without an end of the boxes
    monkeypatch.setattr(_threads, "thread_count", lambda: 3)
    monkeypatch.setattr(_threads, "SMALLEST_EFFORT", 0)
    programs = stored_parts(kind, kernel=kernel, duplicates=kind == "100")
    for program, found in zip(programs, solve_many(programs), strict=True):
        wanted = solve(program)
        assert found.status == wanted.status
        assert found.n_iter == wanted.n_iter
        for name in ("alpha", "gradient", "multipliers"):
            assert_array_equal(getattr(found, name), getattr(wanted, name))
        for name in ("objective", "primal_objective", "dual_gap", "kkt_violation"):
            assert getattr(found, name) == getattr(wanted, name)


def test_options_and_starts_are_those_of_each() -> None:
    programs = stored_parts("1")
    cut = solve_many(programs, max_iter=3)
    assert [(each.status, each.n_iter) for each in cut] == [("max_iter", 3)] * 3
    starts = [cut[0].alpha, None, cut[2].alpha]
    for program, start, found in zip(
        programs, starts, solve_many(programs, starts=starts, tol=1e-6), strict=True
    ):
        assert_array_equal(found.alpha, solve(program, start=start, tol=1e-6).alpha)
        proof = certify(program, found.alpha)
        assert proof.kkt_violation <= 1e-6 + 1e-9
        assert proof.dual_gap <= 1e-6 + 1e-9
    assert solve_many([]) == []


def test_fits_are_the_same_whatever_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 200)
    X = random.normal(size=(1000, 4)) + 0.7 * y[:, None]
    models = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        models.append(scarce.SVC().fit(X, y))
    assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    assert_array_equal(models[0].intercept_, models[1].intercept_)


def test_what_is_left_in_memory_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    random = np.random.default_rng(1)
    y = np.repeat(np.arange(3), 40)
    X = random.normal(size=(120, 4)) + y[:, None]
    models = []
    for left in (0.0, np.nan):
        _threads._kept.matrix = np.full(KEPT, left)
        _threads._kept.steps = np.full(KEPT, left)
        models.append(scarce.SVC().fit(X, y))
    assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    np.testing.assert_array_equal(models[0].n_iter_, models[1].n_iter_)
