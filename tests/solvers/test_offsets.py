"""The one-class offset is a minimiser of ``-rho + C sum_i w_i (rho - s_i)_+``."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.solvers import DenseMatrix, QuadraticProgram, one_class_offset, solve


def brute_force(scores, cost, weights=None):
    """Centre of the minimisers among the scores, where a convex piecewise line has its corners."""
    scores = np.asarray(scores, dtype=float)
    weights = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=float)
    scores, weights = scores[weights > 0], weights[weights > 0]
    losses = np.array([cost * weights @ np.maximum(r - scores, 0) - r for r in scores])
    best = scores[losses <= losses.min() + 1e-9 * max(1.0, np.abs(scores).max())]
    return (best.min() + best.max()) / 2


scores_ = st.lists(st.integers(-20, 20).map(lambda v: v / 4), min_size=1, max_size=12)


@settings(max_examples=200)
@given(scores_, st.floats(0.02, 1.0))
def test_minimises_the_loss(scores, share):
    cost = 1.0 / (share * len(scores))
    assert one_class_offset(np.array(scores), cost) == pytest.approx(brute_force(scores, cost))


@settings(max_examples=200)
@given(st.data(), scores_)
def test_minimises_the_weighted_loss(data, scores):
    n = len(scores)
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), dtype=float)
    weights[data.draw(st.integers(0, n - 1))] += 1.0
    cost = 1.0 / (data.draw(st.floats(0.02, 1.0)) * weights.sum())
    expected = brute_force(scores, cost, weights)
    assert one_class_offset(np.array(scores), cost, weights) == pytest.approx(expected)


@settings(max_examples=200)
@given(st.data(), scores_)
def test_weights_equal_repetition(data, scores):
    n = len(scores)
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    counts[data.draw(st.integers(0, n - 1))] += 1
    mass = data.draw(st.integers(1, int(counts.sum())) | st.floats(0.1, float(counts.sum())))
    weighted = one_class_offset(np.array(scores), 1.0 / mass, counts.astype(float))
    repeated = one_class_offset(np.repeat(scores, counts), 1.0 / mass)
    assert weighted == pytest.approx(repeated, abs=1e-12)


@settings(max_examples=50)
@given(st.data(), scores_)
def test_order_of_rows_does_not_matter(data, scores):
    order = data.draw(st.permutations(range(len(scores))))
    cost = 1.0 / (data.draw(st.floats(0.05, 1.0)) * len(scores))
    shuffled = np.array(scores)[list(order)]
    assert one_class_offset(shuffled, cost) == one_class_offset(np.array(scores), cost)


@pytest.mark.parametrize(
    ("inverse_price", "expected"),
    [
        (0.5, 1.0),  # hard margin: the smallest score
        (1.0, 1.5),
        (1.5, 2.0),
        (2.0, 3.0),  # an interval [2, 4]: its middle
        (2.0 + 1e-10, 3.0),  # an integer but for rounding
        (2.0 - 1e-10, 3.0),
        (2.0 + 1e-7, 4.0),  # not an integer
        (2.0 - 1e-7, 2.0),
        (3.0, 6.0),
        (3.5, 8.0),
        (4.0, 8.0),  # the interval is unbounded: its finite end
        (4.0 - 1e-10, 8.0),
        (4.0 + 1e-10, 8.0),
    ],
)
def test_order_statistic(inverse_price, expected):
    scores = np.array([4.0, 1.0, 8.0, 2.0])
    assert one_class_offset(scores, 1.0 / inverse_price) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("nu", "n"), [(0.1, 30), (0.29, 100), (0.07, 300), (0.57, 100)])
def test_rounding_of_nu_times_n(nu, n):
    """nu n is an integer on paper but not in floating point."""
    scores = np.arange(n, dtype=float) ** 2
    j = round(nu * n)
    assert one_class_offset(scores, 1.0 / (nu * n)) == (scores[j - 1] + scores[j]) / 2


def test_rounding_of_cumulated_weights():
    """Three weights of 0.1 make 0.3, whatever their floating-point sum."""
    scores, weights = np.arange(10.0), np.full(10, 0.1)
    assert one_class_offset(scores, 1.0 / 0.3, weights) == pytest.approx(2.5)
    assert one_class_offset(scores, 1.0 / 0.7, weights) == pytest.approx(6.5)


def test_rows_without_weight_do_not_exist():
    scores = np.array([0.0, 1.0, 2.0, 3.0, 9.0])
    weights = np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    assert one_class_offset(scores, 1.0, weights) == pytest.approx(2.0)
    assert one_class_offset(scores, 0.5, weights) == pytest.approx(3.0)


def test_single_row():
    assert one_class_offset(np.array([0.7]), 1.0) == pytest.approx(0.7)


@pytest.mark.parametrize("nu", [0.3, 0.5, 0.51, 1.0])
def test_equals_the_multiplier_of_the_equality(nu):
    """On the solver's own scores the order statistic is the centre of the KKT interval.

    Only at nu = 1 the interval has one end, which both must take.
    """
    points = np.random.default_rng(2).normal(size=(12, 2)) + 1.0
    cost = 1.0 / (nu * 12)
    problem = QuadraticProgram(DenseMatrix(points @ points.T), totals=[1.0], upper=cost)
    solution = solve(problem, tol=1e-9)
    offset = one_class_offset(solution.gradient, cost)
    assert offset == pytest.approx(-solution.multipliers[0], abs=1e-6)


@pytest.mark.parametrize("cost", [0.2, 0.0, -1.0, np.nan])
def test_price_too_small_for_a_minimum(cost):
    """Below 1 / (total weight) the loss falls without end: no offset exists."""
    with pytest.raises(ValueError, match="cost"):
        one_class_offset(np.arange(4.0), cost)


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**-10, 2.0**20])
@pytest.mark.parametrize("mass", [2.5, 3.0])
def test_unit_of_the_weights_does_not_matter(factor, mass):
    scores, weights = np.arange(6.0), np.ones(6)
    expected = one_class_offset(scores, 1.0 / mass)
    assert one_class_offset(scores, 1.0 / (factor * mass), factor * weights) == expected


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        ([], None),
        ([[1.0, 2.0]], None),
        ([1.0, np.nan], None),
        ([1.0, 2.0], [1.0]),
        ([1.0, 2.0], [1.0, -1.0]),
        ([1.0, 2.0], [1.0, np.inf]),
        ([1.0, 2.0], [0.0, 0.0]),
    ],
)
def test_scores_and_weights_are_checked(scores, weights):
    with pytest.raises(ValueError, match=r"scores|weight"):
        one_class_offset(np.array(scores), 1.0, weights)


def test_multipliers_of_a_run_cut_short_have_the_smallest_gap():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 3)), np.where(np.arange(40) % 2, 1.0, -1.0)
    K, C = X @ X.T, 0.3
    program = QuadraticProgram(
        DenseMatrix(K, definite=True), totals=[0.0], upper=C, linear=-1.0, signs=y, kernel_signs=y
    )
    found = solve(program, tol=1e-6, max_iter=5)
    assert found.status == "max_iter"
    scores = K @ (y * found.alpha)

    def slack(b):
        return np.maximum(1.0 - y * (scores + b), 0.0).sum()

    # The least is at a kink.
    assert slack(found.multipliers[0]) == pytest.approx(min(map(slack, y - scores)), rel=1e-12)
