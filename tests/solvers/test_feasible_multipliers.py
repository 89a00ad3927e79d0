"""Multipliers at which no endless variable falls for ever, against linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog

from .internals import _feasible_multipliers

REACH = 0.5


def conditions(seed):
    """Slopes of endless variables, some of which contradict each other with the factor 1."""
    rng = np.random.default_rng(seed)
    n, n_groups = int(rng.integers(4, 25)), int(rng.integers(1, 4))
    groups = rng.integers(0, n_groups, n)
    rising = rng.random(n) < 0.5
    falling = ~rising | (rng.random(n) < 0.1) if seed % 2 else rng.random(n) < 0.4
    # Near a multiplier and a factor that would do, so that about half of the cases can be met.
    factor = float(np.exp(rng.uniform(-0.8, 0.8)))
    kernel_part = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 2)
    error = rng.exponential(1e-9, n) * np.abs(kernel_part)
    slack = rng.exponential(1e-3, n) * (1.0 if seed % 3 else -1.0)
    beta = rng.normal(size=n_groups)
    margin = rng.exponential(rng.choice([0.01, 1.0]), n) * (np.where(rising, 1.0, -1.0))
    margin[rising & falling] = 0.0
    linear = margin + error * np.sign(margin) - factor * kernel_part - beta[groups]
    return kernel_part, linear, error, slack, rising, falling, groups, n_groups


def is_possible(kernel_part, linear, error, slack, rising, falling, groups, n_groups):
    """Whether a factor within reach and multipliers meet all conditions, by another solver.

    Slopes may be wrong by ``slack`` but have to be right whatever the error is.
    """
    own = np.eye(n_groups)[groups]
    up = np.column_stack([error - kernel_part, -own])[rising]
    down = np.column_stack([error + kernel_part, own])[falling]
    limits = np.concatenate([(linear + slack)[rising], (slack - linear)[falling]])
    bounds = [(1.0 - REACH, 1.0 / (1.0 - REACH))] + [(None, None)] * n_groups
    found = linprog(
        np.zeros(1 + n_groups), np.vstack([up, down]), limits, bounds=bounds, method="highs"
    )
    assert found.status in (0, 2)
    return found.status == 0


@pytest.mark.parametrize("half", [0, 1])
def test_the_search_finds_multipliers_exactly_where_there_are_some(half):
    answers = {True: 0, False: 0}
    for seed in range(half, 600, 2):
        kernel_part, linear, error, slack, rising, falling, groups, n_groups = conditions(seed)
        before = np.full(n_groups, 0.25)
        factor, beta = _feasible_multipliers(
            kernel_part, linear, error, slack, rising, falling, groups, before, REACH
        )
        slope = factor * kernel_part + linear + beta[groups]
        rest = 1e-9 * (np.abs(kernel_part) + np.abs(linear))
        met = (slope - factor * error + slack >= -rest)[rising].all()
        met &= (slope + factor * error - slack <= rest)[falling].all()
        possible = is_possible(kernel_part, linear, error, slack, rising, falling, groups, n_groups)
        answers[possible] += 1
        assert met == possible, seed
        assert 1.0 - REACH <= factor <= 1.0 / (1.0 - REACH)
        if not possible:
            assert factor == 1.0
            np.testing.assert_array_equal(beta, before)
    assert min(answers.values()) > 30, answers


def test_multipliers_that_do_stay_as_they_are():
    wide = np.array([0.0, 0.0]), np.array([1.0, -1.0]), np.zeros(2), np.zeros(2)
    rising, falling = np.array([True, False]), np.array([False, True])
    factor, beta = _feasible_multipliers(
        *wide, rising, falling, np.zeros(2, dtype=int), np.array([0.5]), REACH
    )
    assert factor == 1.0
    np.testing.assert_array_equal(beta, [0.5])


def test_a_variable_without_any_bound_has_one_multiplier():
    both, exact = np.array([True]), np.zeros(1)
    factor, beta = _feasible_multipliers(
        np.array([3.0]),
        np.array([-1.0]),
        exact,
        exact,
        both,
        both,
        np.zeros(1, dtype=int),
        exact,
        REACH,
    )
    assert factor == 1.0
    np.testing.assert_array_equal(beta, [-2.0])
