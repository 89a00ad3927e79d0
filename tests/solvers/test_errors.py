"""Problems that have no answer say so, and name what is wrong."""

import numpy as np
import pytest

from scarce.solvers import DenseMatrix, QuadraticProgram, certify, solve

KERNEL = np.eye(4)


def attempt(kernel=KERNEL, *, start=None, tol=1e-3, max_iter=1000, **parts):
    """Build and solve; whether a fault shows when building or when solving is no matter."""
    parts = {"totals": [1.0], "upper": 1.0} | parts
    problem = QuadraticProgram(DenseMatrix(np.asarray(kernel)), **parts)
    return solve(problem, tol=tol, max_iter=max_iter, start=start)


def message_of(**parts):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the caller reads the message
        attempt(**parts)
    return str(caught.value)


def test_the_unspoiled_problem_is_solved():
    assert attempt().status == "optimal"


# Infeasible: the message names the group, the total asked for and the range that can be met.


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"totals": [5.5]}, ["group 0", "5.5", "0", "4"]),
        ({"totals": [-0.25]}, ["group 0", "-0.25", "0", "4"]),
        ({"totals": [1.0, 2.5], "groups": [0, 0, 1, 1]}, ["group 1", "2.5", "0", "2"]),
        ({"totals": [7.5], "signs": [1, 1, 1, -1], "upper": 2.0}, ["group 0", "7.5", "-2", "6"]),
        ({"totals": [0.5], "lower": 0.25}, ["group 0", "0.5", "1", "4"]),
        (
            {"totals": [1.0, -9.5], "groups": [0, 0, 1, 1], "lower": -3.0, "upper": np.inf},
            ["group 1", "-9.5", "-6", "inf"],
        ),
    ],
)
def test_infeasible_total(parts, named):
    message = message_of(**parts)
    for word in named:
        assert word in message


def test_group_without_rows_cannot_reach_a_total():
    assert "group 1" in message_of(totals=[1.0, 1.0], groups=[0, 0, 0, 0])


def test_a_total_at_the_very_end_of_the_range_is_feasible():
    """nu = 1: the boxes sum to the total only up to rounding."""
    n = 7
    solution = attempt(np.eye(n), totals=[1.0], upper=1.0 / n)
    np.testing.assert_allclose(solution.alpha, 1.0 / n, rtol=1e-12)
    tenths = attempt(np.eye(10), totals=[1.0], upper=0.1)
    np.testing.assert_allclose(tenths.alpha, 0.1, rtol=1e-12)


def test_lower_above_upper():
    message = message_of(lower=[0.0, 0.0, 0.75, 0.0], upper=[1.0, 1.0, 0.5, 1.0])
    assert "0.75" in message
    assert "0.5" in message


# Unbounded: the message names the group and the bound that would stop the descent.


def test_unbounded_pair():
    """Two rows of opposite sign, no curvature, a descent without end."""
    message = message_of(
        kernel=np.zeros((4, 4)),
        totals=[0.0],
        signs=[1, -1, 1, -1],
        linear=-1.0,
        upper=np.inf,
    )
    assert "unbounded" in message
    assert "group 0" in message
    assert "upper" in message


def test_unbounded_names_its_group_and_bound():
    message = message_of(
        kernel=np.zeros((5, 5)),
        totals=[1.0, 0.0],
        groups=[0, 0, 1, 1, 1],
        lower=[0, 0, -np.inf, -np.inf, 0],
        upper=[1, 1, 1, 1, 1],
        signs=[1, 1, 1, -1, 1],
        linear=[1, 2, 3, 3, 0],
    )
    assert "unbounded" in message
    assert "group 1" in message
    assert "lower" in message


def test_unbounded_free_variables():
    message = message_of(
        kernel=np.zeros((2, 2)), totals=[1.0], lower=-np.inf, upper=np.inf, linear=[0.0, 1.0]
    )
    assert "unbounded" in message
    assert "group 0" in message


def test_unbounded_along_no_single_pair():
    """Hard margin on classes that no plane separates.

    Every pair of rows has curvature; only all four rows together fall without end.
    """
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    message = message_of(
        kernel=corners @ corners.T,
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=np.inf,
        max_iter=100_000,
    )
    assert "unbounded" in message
    assert "group 0" in message


def test_unbounded_hard_margin():
    """The same with rows as they come: two clouds that overlap."""
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 30)
    points = rng.normal(size=(60, 3)) + 0.5 * y[:, None]
    message = message_of(
        kernel=points @ points.T,
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=np.inf,
        max_iter=1_000_000,
    )
    assert "unbounded" in message


@pytest.mark.parametrize("margin", [1.0, 1e-2, 1e-4])
def test_large_multipliers_are_no_error(margin):
    """A narrow gap between the classes needs large multipliers, but finite ones."""
    points = np.array([margin, 1.0 + margin, -margin, -2.0])
    y = np.sign(points)
    solution = attempt(
        np.outer(points, points),
        totals=[0.0],
        signs=y,
        kernel_signs=y,
        linear=-1.0,
        upper=np.inf,
        tol=1e-6,
        max_iter=100_000,
    )
    expected = 0.5 / margin**2
    np.testing.assert_allclose(solution.alpha, [expected, 0.0, expected, 0.0], rtol=1e-5)
    assert solution.objective == pytest.approx(-expected, rel=1e-6)


def test_flat_but_bounded_is_no_error():
    """No curvature and infinite bounds, but the linear term pushes against the finite side."""
    solution = attempt(np.zeros((4, 4)), totals=[1.0], upper=np.inf, linear=[3.0, 1.0, 2.0, 1.5])
    np.testing.assert_allclose(solution.alpha, [0, 1, 0, 0], atol=1e-12)


def test_indifferent_descent_is_no_error():
    """Two free rows without curvature and without slope: every answer is optimal."""
    solution = attempt(np.zeros((2, 2)), totals=[1.0], lower=-np.inf, upper=np.inf, linear=2.0)
    assert solution.objective == pytest.approx(2.0)


# Values.


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["totals", "linear", "diagonal", "coupling"])
def test_values_that_are_not_finite(name, bad):
    value = {"totals": [bad], "coupling": [[bad]]}.get(name, [0.0, bad, 0.0, 0.0])
    assert name in message_of(**{name: value})


@pytest.mark.parametrize("name", ["lower", "upper"])
def test_bound_that_is_not_a_number(name):
    assert name in message_of(**{name: [0.5, np.nan, 0.5, 0.5]})


@pytest.mark.parametrize(("name", "bad"), [("lower", np.inf), ("upper", -np.inf)])
def test_infinite_bound_on_the_wrong_side(name, bad):
    message_of(**{name: [0.0, bad, 0.0, 0.0]})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_kernel_that_is_not_finite(bad):
    kernel = np.eye(4)
    kernel[1, 2] = kernel[2, 1] = bad
    message_of(kernel=kernel)


@pytest.mark.parametrize("name", ["signs", "kernel_signs"])
@pytest.mark.parametrize("bad", [0, 2, -0.5, np.nan])
def test_signs_are_plus_or_minus_one(name, bad):
    assert name in message_of(**{name: [1.0, bad, 1.0, -1.0]})


@pytest.mark.parametrize(
    "groups", [[0, 0, 1, 1], [0, -1, 0, 0], [0.0, 0.5, 0.0, 0.0], [0, 0, 0, 99]]
)
def test_groups_index_the_totals(groups):
    assert "groups" in message_of(groups=np.array(groups))


def test_coupling_is_symmetric():
    message = message_of(totals=[1.0, 1.0], groups=[0, 0, 1, 1], coupling=[[1.0, 0.5], [0.2, 1.0]])
    assert "coupling" in message


@pytest.mark.parametrize("tol", [-1e-3, np.nan])
def test_tolerance(tol):
    assert "tol" in message_of(tol=tol)


# Shapes.


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linear", np.zeros(3)),
        ("linear", np.zeros((4, 1))),
        ("lower", np.zeros(5)),
        ("upper", np.ones((1, 4))),
        ("diagonal", np.zeros(2)),
        ("groups", np.zeros(5, dtype=int)),
        ("groups", np.zeros((4, 1), dtype=int)),
        ("signs", np.ones(3)),
        ("kernel_signs", np.ones((2, 2))),
        ("totals", [[1.0]]),
        ("totals", []),
        ("coupling", np.ones((2, 2))),
        ("coupling", np.ones(1)),
    ],
)
def test_wrong_shape(name, value):
    assert name in message_of(**{name: value})


@pytest.mark.parametrize("shape", [(4, 3), (4,), (2, 2, 2)])
def test_kernel_matrix_is_square(shape):
    message_of(kernel=np.ones(shape))


def test_empty_problem():
    message_of(kernel=np.empty((0, 0)))


# Starts.


@pytest.mark.parametrize("start", [np.ones(3), np.ones((4, 1)), np.full(4, np.nan)])
def test_start_of_wrong_shape_or_not_a_number(start):
    assert "start" in message_of(start=start)


@pytest.mark.parametrize("start", [[0.5, 0.0, 0.0, 0.0], [2.0, -1.0, 0.0, 0.0]])
def test_infeasible_start(start):
    assert "start" in message_of(start=np.array(start))


def test_start_is_not_changed():
    start = np.array([1.0, 0.0, 0.0, 0.0])
    solution = attempt(start=start)
    np.testing.assert_array_equal(start, [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(solution.alpha, 0.25, atol=1e-3)


@pytest.mark.parametrize("alpha", [np.ones(3), np.ones((4, 1)), [0.25, 0.25, np.nan, 0.25]])
def test_certificate_of_no_point(alpha):
    problem = QuadraticProgram(DenseMatrix(KERNEL), totals=[1.0])
    with pytest.raises(ValueError, match="alpha"):
        certify(problem, np.asarray(alpha))
