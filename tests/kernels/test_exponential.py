"""The compiled exponential, met through an operator, against NumPy's."""

import numpy as np
import pytest

from scarce.kernels import KernelOperator, Prepared, as_rows, make_kernel


def exponentials(exponents, precision):
    """Return ``exp(-t)`` by the operator, and the ``t`` it saw, for ``t`` near those given.

    The first row is the origin: with it every inner product is zero, and the exponent is the
    squared norm of the other row alone.
    """
    X = np.sqrt(np.concatenate([[0.0], exponents]))[:, None]
    operator = KernelOperator(Prepared(as_rows(X), make_kernel("rbf", gamma=1.0)))
    out = np.zeros(X.shape[0])
    nothing = np.zeros(X.shape[0], np.int64)
    operator.accumulate(np.array([0]), np.ones((1, 1)), nothing, out, precision)
    block = np.empty((X.shape[0], X.shape[0]), precision)
    operator.write_block(np.arange(X.shape[0]), block)
    np.testing.assert_array_equal(block[0], out)  # one exponential for sums and blocks
    seen = (X[:, 0] * X[:, 0]).astype(precision).astype(np.float64)
    return out[1:], seen[1:]


def spread(largest):
    """Return exponents of every size up to the largest."""
    return np.concatenate([np.linspace(0.0, largest, 700), np.logspace(-30, 0, 100)])


@pytest.mark.parametrize(
    ("precision", "largest", "units"), [(np.float32, 87.0, 2.0), (np.float64, 708.0, 2.0)]
)
def test_error_is_at_most_two_units_in_the_last_place(precision, largest, units):
    found, t = exponentials(spread(largest), precision)
    found, t = found[t <= largest], t[t <= largest]
    assert t.size > 790
    assert np.abs(found / np.exp(-t) - 1.0).max() <= units * np.finfo(precision).eps


@pytest.mark.parametrize(("precision", "largest"), [(np.float32, 87.0), (np.float64, 708.0)])
def test_what_underflows_ends_at_the_smallest_value(precision, largest):
    found, _ = exponentials(largest * np.array([1.001, 1.1, 2.0, 100.0, 1e6]), precision)
    np.testing.assert_allclose(found, np.exp(-largest), rtol=1e-5)
    assert found.max() < 2 * np.finfo(precision).tiny


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_zero_gives_one_exactly(precision):
    found, _ = exponentials(np.zeros(3), precision)
    np.testing.assert_array_equal(found, 1.0)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_values_fall_when_distances_grow(precision):
    exponents = np.linspace(0.0, 80.0, 400)
    found, _ = exponentials(exponents, precision)
    assert (np.diff(found) < 0).all()
