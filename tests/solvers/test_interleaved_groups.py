"""The order in which the variables of several groups come does not matter."""

import numpy as np
import pytest

from scarce.solvers import DenseMatrix, QuadraticProgram, solve


@pytest.mark.parametrize("n", [60, 700])
def test_interleaved_groups_are_the_same_as_sorted_ones(n):
    points = np.random.default_rng(0).normal(size=(n, 2))
    squares = (points**2).sum(axis=1)
    kernel = np.exp(-(squares[:, None] + squares - 2.0 * points @ points.T))
    groups = np.arange(n) % 2
    order = np.argsort(groups, kind="stable")

    def answer(some):
        program = QuadraticProgram(
            DenseMatrix(kernel[np.ix_(some, some)]), totals=[1, 2], upper=0.3, groups=groups[some]
        )
        return solve(program, tol=1e-6, max_iter=200_000)

    mixed, sorted_ = answer(np.arange(n)), answer(order)
    assert mixed.status == sorted_.status == "optimal"
    assert mixed.objective == pytest.approx(sorted_.objective, rel=1e-8)
    np.testing.assert_allclose(mixed.alpha[order], sorted_.alpha, atol=1e-5)
