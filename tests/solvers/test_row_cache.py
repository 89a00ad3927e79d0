"""Programs between the small and the large ones keep rows in single precision between blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scarce.kernels import make_kernel, make_operator
from scarce.solvers import QuadraticProgram, certify, solve
from tests.solvers.internals import RowCache, SignedForm

ROWS = 2200  # more than a small program has


def margin_program(cost: float) -> QuadraticProgram:
    """Two classes that overlap."""
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 4))
    y = np.where(X[:, 0] + 0.5 * random.normal(size=ROWS) > 0, 1.0, -1.0)
    operator = make_operator(X, make_kernel("rbf", gamma=0.25))
    return QuadraticProgram(
        operator, totals=[0.0], upper=cost, linear=-1.0, signs=y, kernel_signs=y
    )


@pytest.mark.parametrize("cost", [1.0, 100.0])
def test_same_optimum_as_without_row_cache(cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    program = margin_program(cost)
    kept = solve(program)
    monkeypatch.setattr(SignedForm, "keep_single_rows", lambda *_: None)
    other = solve(program)
    assert kept.status == other.status == "optimal"
    proof = certify(program, kept.alpha)
    assert proof.within(1e-3)
    assert proof.kkt_violation <= kept.kkt_violation * (1 + 1e-6) + 1e-9
    assert_allclose(kept.objective, other.objective, rtol=1e-3)


def test_short_of_memory_goes_the_other_way() -> None:
    program = margin_program(1.0)
    form = SignedForm(program)
    form.keep_single_rows(cache_size=4e-6 * ROWS**2 * 0.99)
    assert form.single is None
    assert solve(program, cache_size=1.0).status == "optimal"


def test_steps_are_counted_and_limited() -> None:
    program = margin_program(100.0)
    cut = solve(program, max_iter=50)
    assert cut.status == "max_iter"
    assert cut.n_iter == 50
    seen: list[int] = []
    solve(program, callback=lambda progress: seen.append(progress.n_iter))
    assert seen[0] == 0
    assert seen == sorted(seen)
    stopped = solve(program, callback=lambda _: True)
    assert stopped.status == "stopped"
    assert stopped.n_iter == 0


def test_blocks_and_sums_are_those_of_the_matrix() -> None:
    kernel = margin_program(1.0).kernel
    memory = np.empty((ROWS, ROWS), np.float32)
    rows, random = RowCache(kernel, memory), np.random.default_rng(1)
    some, others = random.permutation(ROWS)[:7], random.permutation(ROWS)[:30]
    for indices in (some, others):
        block = np.empty((indices.size, indices.size), np.float32)
        rows.write_block(indices, block)
        assert_allclose(block, kernel.reference(indices, indices), atol=1e-5)
    assert rows.count == np.union1d(some, others).size
    weights, total = random.normal(size=(1, others.size)), np.ones(ROWS)
    rows.accumulate(others, weights, np.zeros(ROWS, int), total, np.float32)
    exact = 1.0 + kernel.reference(np.arange(ROWS), others) @ weights[0]
    assert_allclose(total, exact, atol=1e-4)


def test_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    program = margin_program(1.0)
    alphas = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        alphas.append(solve(program).alpha)
    assert_array_equal(*alphas)
