"""Weights of kernel mean matching against a generic convex solver and where they are known."""

import cvxpy
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from scarce.baselines import kernel_mean_matching


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    return random.normal(size=(40, 2)), random.normal([1.0, 0.5], 0.7, size=(30, 2))


def distance(weights, X, Z, gamma):
    """Squared distance of the two means in feature space."""
    a, b = weights / len(X), np.full(len(Z), 1 / len(Z))
    return (
        a @ rbf_kernel(X, gamma=gamma) @ a
        - 2 * a @ rbf_kernel(X, Z, gamma=gamma) @ b
        + b @ rbf_kernel(Z, gamma=gamma) @ b
    )


@pytest.mark.parametrize(
    ("largest", "slack"), [(1000.0, None), (3.0, 0.0), (2.0, 0.1), (0.8, 0.5), (4.0, 2.0)]
)
def test_the_weights_are_those_of_a_generic_solver(rows, largest, slack):
    X, Z = rows
    found = kernel_mean_matching(X, Z, gamma=1.5, largest=largest, slack=slack, tol=1e-9)
    epsilon = (np.sqrt(40) - 1) / np.sqrt(40) if slack is None else slack
    root = np.linalg.cholesky(rbf_kernel(X, gamma=1.5) + 1e-13 * np.eye(40)).T
    weights = cvxpy.Variable(40)
    kappa = 40 / 30 * rbf_kernel(X, Z, gamma=1.5).sum(axis=1)
    program = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(root @ weights) / 2 - kappa @ weights),
        [weights >= 0, weights <= largest, cvxpy.abs(cvxpy.sum(weights) - 40) <= 40 * epsilon],
    )
    program.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert distance(found, X, Z, 1.5) == pytest.approx(distance(weights.value, X, Z, 1.5), abs=1e-8)
    assert 0 <= found.min() <= found.max() <= largest
    assert abs(found.mean() - 1) <= epsilon + 1e-12


def test_rows_that_are_drawn_as_the_target_is_weigh_one(rows):
    X, _ = rows
    weights = kernel_mean_matching(X, np.concatenate([X, X]), gamma=5.0, tol=1e-9)
    np.testing.assert_allclose(weights, 1.0, atol=1e-3)


def test_it_corrects_the_mean_of_a_shifted_sample():
    random = np.random.default_rng(1)
    source, target = random.normal(size=(300, 1)), random.normal(0.8, 0.8, size=(300, 1))
    weights = kernel_mean_matching(source, target)
    assert abs(np.average(source[:, 0], weights=weights) - target.mean()) < 0.05
    assert abs(source.mean() - target.mean()) > 0.6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"slack": -0.1}, "slack must be"),
        ({"largest": 0.2, "slack": 0.5}, "largest must be"),
        ({"X_target": np.zeros((3, 5))}, "X_target must have the 2 features"),
    ],
)
def test_arguments_that_make_no_sense_are_named(rows, change, words):
    X, Z = rows
    arguments = {"X_source": X, "X_target": Z} | change
    with pytest.raises(ValueError, match=words):
        kernel_mean_matching(**arguments)
