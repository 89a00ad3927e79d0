"""The calibration by shares against brute force and generic minimisers."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

from scarce.proportions import RowGroups, effective_labels, share_cross_entropy, share_loss
from tests.proportions.internals import fit_share_calibration


def sample(n_groups=12, size=9, columns=1, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_groups, size=n_groups * size)
    codes[:n_groups] = np.arange(n_groups)
    weights = rng.uniform(0.5, 2.0, codes.size)
    scores = rng.normal(size=(codes.size, columns)) + rng.normal(size=(n_groups, columns))[codes]
    in_groups = RowGroups.of(codes, weights, n_groups)
    truth = 2.5 * scores + rng.normal(size=columns)
    p = expit(truth) if columns == 1 else softmax(truth, axis=1)
    shares = np.clip(in_groups.means(p) + 0.03 * rng.normal(size=(n_groups, columns)), 0, 1)
    if columns > 1:
        shares /= shares.sum(axis=1, keepdims=True)
    return scores, weights, in_groups, shares


def plain_loss(place, scores, weights, codes, shares, ridge=0.1):
    """The definition, group by group."""
    total = 0.5 * ridge * np.dot(place, place)
    for k, q in enumerate(shares):
        rows = codes == k
        t = np.exp(place[0]) * scores[rows] + place[1:]
        if scores.shape[1] == 1:
            p = np.average(expit(t[:, 0]), weights=weights[rows])
            value = q[0] * np.log(p) + (1 - q[0]) * np.log(1 - p)
        else:
            p = np.average(softmax(t, axis=1), weights=weights[rows], axis=0)
            value = q @ np.log(p)
        total -= weights[rows].sum() * value
    return total


@pytest.mark.parametrize("columns", [1, 3])
def test_gradient_is_that_of_the_loss(columns):
    scores, _, in_groups, shares = sample(n_groups=4, size=3, columns=columns)
    _, gradient = share_loss(scores, in_groups, shares)
    numeric = approx_fprime(
        scores.ravel(), lambda t: share_loss(t.reshape(scores.shape), in_groups, shares)[0], 1e-7
    )
    np.testing.assert_allclose(gradient.ravel(), numeric, atol=1e-5)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_minimum_is_that_of_a_search_without_gradients(columns, seed):
    scores, weights, in_groups, shares = sample(columns=columns, seed=seed)
    slope, shifts = fit_share_calibration(scores, in_groups, shares)
    arguments = (scores, weights, in_groups.codes, shares)
    found = np.concatenate([[np.log(slope)], shifts])
    best = minimize(
        plain_loss,
        np.zeros(found.size),
        arguments,
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-11, "maxiter": 5000, "maxfev": 5000},
    )
    np.testing.assert_allclose(found, best.x, atol=1e-4)
    assert plain_loss(found, *arguments) <= best.fun + 1e-8


def test_no_point_of_a_grid_is_better():
    scores, weights, in_groups, shares = sample(seed=5)
    slope, shifts = fit_share_calibration(scores, in_groups, shares)
    arguments = (scores, weights, in_groups.codes, shares)
    least = plain_loss(np.array([np.log(slope), shifts[0]]), *arguments)
    grid = [(u, b) for u in np.linspace(-3, 2.5, 23) for b in np.linspace(-4, 4, 33)]
    assert least <= min(plain_loss(np.array(point), *arguments) for point in grid)


def test_weights_are_repetitions():
    scores, _, in_groups, shares = sample(seed=2)
    times = np.random.default_rng(0).integers(1, 4, size=len(scores))
    weighted = fit_share_calibration(
        scores, RowGroups.of(in_groups.codes, times, len(shares)), shares
    )
    again = np.repeat(np.arange(len(scores)), times)
    repeated = fit_share_calibration(
        scores[again],
        RowGroups.of(in_groups.codes[again], np.ones(again.size), len(shares)),
        shares,
    )
    np.testing.assert_allclose(weighted[0], repeated[0], rtol=1e-7)
    np.testing.assert_allclose(weighted[1], repeated[1], rtol=1e-7)


def test_slope_stays_within_its_bounds():
    codes = np.repeat(np.arange(20), 50)
    scores = np.where(codes % 2, 1e-3, -1e-3)[:, None]
    in_groups = RowGroups.of(codes, np.ones(codes.size), 20)
    slope, _ = fit_share_calibration(scores, in_groups, (np.arange(20) % 2)[:, None].astype(float))
    assert slope == pytest.approx(np.exp(4.0))


def test_huge_scores_give_finite_numbers():
    codes = np.repeat([0, 1], 2)
    in_groups = RowGroups.of(codes, np.ones(4), 2)
    scores = np.array([[1e5], [2e5], [-1e5], [-2e5]])
    slope, shifts = fit_share_calibration(scores, in_groups, np.array([[0.0], [1.0]]))
    assert np.isfinite(slope)
    assert np.isfinite(shifts).all()


def test_cross_entropy_of_rows_is_the_log_loss():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=20)
    labels, weights = rng.integers(3, size=20), rng.uniform(size=20)
    found = share_cross_entropy(np.eye(3)[labels], p, sample_weight=weights)
    assert found == pytest.approx(log_loss(labels, p, labels=[0, 1, 2], sample_weight=weights))


def test_cross_entropy_of_groups_by_hand():
    p = np.array([0.2, 0.6, 0.9, 0.5])
    found = share_cross_entropy(
        [0.5, 0.5, 1.0, np.nan],
        np.column_stack([1 - p, p]),
        ["a", "a", "b", None],
        sample_weight=[1, 3, 2, 1],
    )
    first = -0.5 * np.log(0.5) - 0.5 * np.log(0.5)  # (0.2 + 3 * 0.6) / 4
    assert found == pytest.approx((4 * first - 2 * np.log(0.9)) / 6)


def test_cross_entropy_says_what_is_wrong():
    with pytest.raises(ValueError, match=r"one column for each class.*\(3,\)"):
        share_cross_entropy([0, 1, 1], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="proportions of 2 classes, probabilities has 3 columns"):
        share_cross_entropy([0.0, 1.0], np.full((2, 3), 1 / 3))
    with pytest.raises(ValueError, match="no group with a row"):
        share_cross_entropy([np.nan], [[0.5, 0.5]], [-1])


def test_effective_labels():
    labels = np.array([0, 1, 1, 0, 1])
    assert effective_labels(labels, np.ones(5)) == pytest.approx(5)
    assert effective_labels(np.eye(3)[[0, 1, 2, 0]], np.ones(4)) == pytest.approx(4)
    assert effective_labels([0.3, 0.3], [10, 90]) == 0
    assert effective_labels([1.0, 1.0], [10, 90]) == 0  # one class
    q, sizes = np.array([0.2, 0.7]), np.array([10, 30])
    mean = (0.2 * 10 + 0.7 * 30) / 40
    by_hand = (10 * (0.2 - mean) ** 2 + 30 * (0.7 - mean) ** 2) / (mean * (1 - mean))
    assert effective_labels(q, sizes) == pytest.approx(by_hand)
    assert effective_labels(np.column_stack([1 - q, q]), sizes) == pytest.approx(by_hand)


def test_groups_at_random_are_worth_one_label_each():
    rng = np.random.default_rng(0)
    labels = rng.random((200, 64)) < 0.3
    assert effective_labels(labels.mean(axis=1), np.full(200, 64)) == pytest.approx(200, rel=0.25)
