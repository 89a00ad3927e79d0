"""A loop whose errors leave nothing to gain ends, and does not call that a solution."""

import numpy as np
import pytest

from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve

BLOCKS = 1000  # far more than it takes
N = 600
CACHE_SIZE = 1.0  # too little for the solver's own copy of the matrix


class NoisyMatrix(DenseMatrix):
    """Sums with errors above the rounding of one block, as many blocks add them up."""

    def __init__(self, values, error):
        super().__init__(values)
        self.error = error
        self.calls = 0
        self.random = np.random.default_rng(0)

    def accumulate(self, columns, weights, groups, out, precision):
        super().accumulate(columns, weights, groups, out, precision)
        out += self.error * self.random.normal(size=self.n)
        self.calls += 1

    def error_bound(self, absolute_weights, precision):
        return super().error_bound(absolute_weights, precision) + 6 * self.error * self.calls


def run(error, tol):
    points = np.random.default_rng(0).normal(size=(N, 20)) + 0.5
    program = QuadraticProgram(
        NoisyMatrix(points @ points.T, error), totals=[1.0], upper=1 / (0.1 * N)
    )
    seen = []

    def count(progress):
        seen.append(progress.violation)
        return len(seen) >= BLOCKS

    found = solve(program, tol=tol, callback=count, cache_size=CACHE_SIZE)
    # From plain values of the matrix, which have no errors.
    true = certify(program, found.alpha).kkt_violation
    assert found.kkt_violation >= true - 1e-14
    return found, true, len(seen)


@pytest.mark.parametrize("error", [1e-13, 1e-12, 1e-10])
def test_the_loop_ends_and_says_that_it_stalled(error):
    found, true, blocks = run(error, tol=1e-13)
    assert found.status == "stalled"
    assert blocks < BLOCKS
    assert 1e-13 < true < 100 * error


@pytest.mark.parametrize("error", [1e-12, 1e-10])
def test_a_tolerance_above_the_errors_is_met(error):
    found, true, _ = run(error, tol=100 * error)
    assert found.status == "optimal"
    assert true <= 100 * error


def test_errors_far_above_rounding_are_not_given_up_on():
    """They are no rounding errors, so that the loop goes on until it is stopped."""
    found, true, blocks = run(1e-6, tol=1e-13)
    assert found.status == "stopped"
    assert blocks == BLOCKS
    assert true > 1e-13
