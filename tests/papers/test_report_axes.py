"""Ticks at round values, and positions of values."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.report._axes import Axis, limits, log_ticks, own_ticks, round_ticks


def values(ticks):
    return [value for value, _ in ticks]


def labels(ticks):
    return [label for _, label in ticks]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, ["0", "2", "4", "6", "8", "10"]),
        (-0.31, 0.29, ["\u22120.3", "\u22120.2", "\u22120.1", "0.0", "0.1", "0.2"]),
        (78.2, 91.7, ["80", "82", "84", "86", "88", "90"]),
        (0.912, 0.938, ["0.915", "0.920", "0.925", "0.930", "0.935"]),
        (0, 52_000, ["0", "10000", "20000", "30000", "40000", "50000"]),
    ],
)
def test_round_ticks(low, high, expected):
    assert labels(round_ticks(low, high)) == expected


@given(
    st.floats(-1e6, 1e6, allow_nan=False),
    st.floats(1e-3, 1e6, allow_nan=False),
)
def test_round_ticks_are_few_even_and_inside(low, length):
    ticks = round_ticks(low, low + length)
    places = values(ticks)
    slack = 1e-6 * length
    assert 3 <= len(ticks) <= 9
    assert all(low - slack <= value <= low + length + slack for value in places)
    steps = [right - left for left, right in pairwise(places)]
    assert max(steps) - min(steps) <= 1e-6 * max(steps) + 1e-9
    mantissa = steps[0] / 10 ** math.floor(math.log10(steps[0] * 1.001))
    assert min(abs(mantissa - round_) for round_ in (1, 2, 5)) < 1e-3
    assert len(set(labels(ticks))) == len(ticks)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.008, 1200, ["0.01", "0.1", "1", "10", "100", "1000"]),
        (1, 99, ["1", "2", "5", "10", "20", "50"]),
        (5e-7, 2e6, ["10⁻⁶", "10⁻³", "10⁰", "10³", "10⁶"]),
        (3e-8, 4e-7, ["5·10⁻⁸", "10⁻⁷", "2·10⁻⁷"]),
        (50, 60, ["50", "52", "54", "56", "58", "60"]),
    ],
)
def test_log_ticks(low, high, expected):
    assert labels(log_ticks(low, high)) == expected


@given(st.floats(-12, 12), st.floats(0.05, 24))
def test_log_ticks_are_few_and_inside(start, length):
    low, high = 10**start, 10 ** (start + length)
    ticks = log_ticks(low, high)
    assert 2 <= len(ticks) <= 10
    assert all(0.999 * low <= value <= 1.001 * high for value in values(ticks))


def test_positions_follow_values_or_their_logarithms():
    linear = Axis(0, 10, 100, 200, ())
    assert [linear(value) for value in (0, 2.5, 10, 11)] == [100, 125, 200, 200]
    log = Axis(1, 1000, 0, 30, (), log=True)
    assert [log(value) for value in (-5, 1, 10, 1000)] == [0, 0, 10, 30]


def test_limits_hold_the_values_and_never_collapse():
    assert limits([2.0, 4.0]) == pytest.approx((1.9, 4.1))
    low, high = limits([3.0, 3.0])
    assert low < 3 < high
    low, high = limits([0.01, 100.0], log=True)
    assert 0 < low < 0.01
    assert high > 100


def test_own_ticks_only_where_labels_have_room():
    axis = Axis(0, 100, 0, 400, ())
    assert labels(own_ticks([0, 20, 100, 20], axis, 8)) == ["0", "20", "100"]
    assert own_ticks([0, 1, 2, 100], axis, 8) == ()
    assert own_ticks(range(0, 100, 5), axis, 1) == ()
