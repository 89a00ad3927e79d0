"""The bound on the rounding of the units' scores, beside rational arithmetic.

Without it a certificate of groups far from the origin would promise more than its sums hold.
"""

from fractions import Fraction

import numpy as np
import pytest

from scarce.kernels import make_kernel
from scarce.proportions import Bags
from tests.proportions.internals import KernelSpace, LinearSpace

N_UNITS, SIZE = 6, 5
SCALE = 0.25  # a power of two, exact


def units_of(n_bags=N_UNITS, size=SIZE):
    codes = np.repeat(np.arange(n_bags), size)
    ones = np.ones(n_bags)
    return Bags(codes, np.ones(codes.size), 0, np.full((n_bags, 1), 0.5), size * ones, ones)


def exact(values):
    return np.vectorize(Fraction, otypes=[object])(values)


def exact_means(values):
    """Return the means over the rows of every unit."""
    return values.reshape(N_UNITS, SIZE, *values.shape[1:]).sum(axis=1) / Fraction(SIZE)


def multipliers(random, imbalance):
    """Return numbers of few digits, so that they sum to exactly ``imbalance``."""
    theta = random.integers(-8, 9, size=N_UNITS).astype(float)
    theta[0] -= theta.sum()
    theta[0] += imbalance
    assert sum(map(Fraction, theta)) == Fraction(imbalance)
    return theta


def assert_bounds(bound, error, slack):
    error = error.astype(float)
    assert error.max() > 0.0  # there is something to bound
    assert (np.abs(error) <= bound).all()
    assert bound.max() <= slack * error.max()  # and the bound is no mere large number


@pytest.mark.parametrize("far", [1e3, 1e7])
@pytest.mark.parametrize("imbalance", [0.0, 2.0**-30])
def test_of_means_that_are_moved_to_their_centre(far, imbalance):
    random = np.random.default_rng(0)
    X = far + random.normal(size=(N_UNITS * SIZE, 3))
    space, theta = LinearSpace(X, units_of()), multipliers(random, imbalance)
    stored, center, w = exact(space.means), exact(space.center), exact(theta)
    means = exact_means(exact(X))
    # Scores up to a constant, which the offset takes up: those of the way from the centre.
    truth = (means - center) @ (w @ means)
    error = np.abs(truth - stored @ (w @ stored))
    # Of a sum that is not zero the bound holds the constant too.
    assert_bounds(space._score_errors(theta), error, 1e9 if imbalance else 1e3)
    system = space.system(SCALE)
    assert (system.score_errors(theta) >= SCALE * error.astype(float)).all()


def kernel_case(name, random):
    """Return rows, a kernel and its values in rational arithmetic."""
    X = 30.0 + random.normal(size=(N_UNITS * SIZE, 3))
    rows = exact(X)
    if name == "poly":
        return X, make_kernel("poly", gamma=0.5, degree=3, coef0=1.0), (rows @ rows.T / 2 + 1) ** 3
    values = random.normal(size=(N_UNITS * SIZE,) * 2) * 1e5
    values = values + values.T
    return values, make_kernel("precomputed"), exact(values)


@pytest.mark.parametrize("name", ["poly", "precomputed"])
def test_of_means_of_kernel_values(name):
    random = np.random.default_rng(1)
    X, kernel, values = kernel_case(name, random)
    space, theta = KernelSpace(X, units_of(), kernel, None), multipliers(random, 0.0)
    truth = exact_means(exact_means(values).T) @ exact(theta)
    error = np.abs(truth - exact(space._matrix()) @ exact(theta))
    assert_bounds(space._score_errors(theta), error, 1e5)
    assert (space.system(SCALE).score_errors(theta) >= SCALE * error.astype(float)).all()
    own = SCALE * space._score_errors(theta)
    assert (space.system(SCALE).score_errors(theta) >= own).all()
