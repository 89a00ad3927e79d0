"""A kernel matrix less a rank-one term, against the full matrix."""

import numpy as np
import pytest

from scarce.kernels import DeflatedOperator, make_operator
from scarce.parallel import TILE_ROWS
from scarce.solvers import DenseMatrix, QuadraticProgram, solve
from tests.kernels.samples import FORMS, FORMULAS, PRECISIONS, ROUNDING, matrix, rows

N = 2 * TILE_ROWS + 44  # several tiles, the last one not full


def deflated(form, name):
    """Return an operator and the same matrix in full; the direction is a mean of some rows."""
    X, kernel = rows(N, form), FORMULAS[name]
    K = matrix(X, X, kernel)
    combination = np.random.default_rng(5).normal(size=N) / N
    along = K @ combination / np.sqrt(abs(combination @ K @ combination))
    operator = DeflatedOperator(make_operator(X, kernel), along)
    return operator, K - np.outer(along, along)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_blocks_sums_and_diagonal(form, name, precision):
    operator, full = deflated(form, name)
    random = np.random.default_rng(1)
    room = 4 * ROUNDING[precision] * np.abs(full).max()
    indices = random.permutation(N)[: N - 3]
    out = np.full((N - 3, N - 3), np.nan, precision)
    operator.write_block(indices, out)
    np.testing.assert_allclose(out, full[np.ix_(indices, indices)], rtol=0, atol=room)

    columns = random.permutation(N)[: N - 5]
    weights, groups = random.normal(size=(3, N - 5)), random.integers(0, 3, N)
    sums = np.arange(N, dtype=float)
    operator.accumulate(columns, weights, groups, sums, precision)
    expected = np.arange(N) + np.einsum("ij,ij->i", full[:, columns], weights[groups])
    np.testing.assert_allclose(sums, expected, rtol=0, atol=room * np.abs(weights).sum())
    np.testing.assert_allclose(operator.diagonal(), np.diagonal(full), rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_subsets_and_plain_values(form):
    operator, full = deflated(form, "rbf")
    some, others = np.array([3, 50, 7, 299]), np.arange(0, N, 7)
    np.testing.assert_allclose(
        operator.reference(some, others), full[np.ix_(some, others)], atol=1e-13
    )
    part = operator.subset(others)
    inner = np.array([4, 0, 9])
    np.testing.assert_allclose(
        part.reference(inner, inner), full[np.ix_(others[inner], others[inner])], atol=1e-13
    )
    assert part.n == others.size
    assert part.precisions == operator.operator.subset(others).precisions


def test_a_program_is_solved_as_with_the_full_matrix():
    operator, full = deflated("dense", "rbf")
    signs = np.where(np.arange(N) % 3 == 0, 1.0, -1.0)
    shape = {"totals": [0.0], "upper": 1.0, "linear": -1.0, "signs": signs, "kernel_signs": signs}
    found = solve(QuadraticProgram(operator, **shape), tol=1e-8)
    expected = solve(QuadraticProgram(DenseMatrix(full), **shape), tol=1e-8)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)


@pytest.mark.parametrize("along", [np.ones(3), np.full(4, np.nan), np.ones((4, 1))])
def test_a_direction_of_wrong_shape_or_value(along):
    with pytest.raises(ValueError, match="along must be 4 finite numbers"):
        DeflatedOperator(DenseMatrix(np.eye(4)), along)
