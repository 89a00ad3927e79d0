"""Whose scores set the offset: the recorded rows' or the moved rows'."""

from typing import Any

import numpy as np
import pytest

from scarce import SVDD, OneClassSVM, TransferOneClassSVM
from scarce.solvers import one_class_offset
from tests.one_class.samples import several_tasks
from tests.published import transfer


def distance(model: Any) -> float:
    """Return the distance of the plane from the origin."""
    return float(model.offset_[0] / np.linalg.norm(model.coef_))


@pytest.mark.parametrize("radius", [0.1, 0.4, 2.0])
def test_equal_radii_move_a_single_plane_by_the_radius(radius: float) -> None:
    X, _ = several_tasks(0, (12,))
    parameters: dict[str, Any] = {"kernel": "linear", "nu": 0.31, "tol": 1e-9}
    plain = OneClassSVM(**parameters).fit(X)
    parameters |= {"radius": radius, "round_tol": 1e-12}
    shifted = transfer(offset="shifted", **parameters).fit(X)
    original = transfer(offset="original", **parameters).fit(X)
    for model in (shifted, original):
        direction = model.coef_ / np.linalg.norm(model.coef_)
        np.testing.assert_allclose(direction, plain.coef_ / np.linalg.norm(plain.coef_), atol=1e-6)
    assert distance(shifted) == pytest.approx(distance(plain) + radius, abs=1e-6)
    assert distance(original) == pytest.approx(distance(plain), abs=1e-6)
    np.testing.assert_array_equal(original.predict(X), plain.predict(X))
    assert (shifted.predict(X) == 1).mean() < (plain.predict(X) == 1).mean()


def test_unequal_radii_turn_the_plane() -> None:
    X, _ = several_tasks(1, (12,))
    plain = OneClassSVM(kernel="linear", nu=0.31).fit(X).coef_
    radii = np.linspace(0.0, 1.5, 12)
    model = transfer(kernel="linear", nu=0.31).fit(X, sample_radius=radii)
    cosine = (model.coef_ @ plain.T).item() / np.linalg.norm(model.coef_) / np.linalg.norm(plain)
    assert cosine < 0.9999


@pytest.mark.filterwarnings("ignore:kernel='sigmoid' is not positive semidefinite")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_it_is_the_order_statistic_of_each_task(kernel: str) -> None:
    X, domain = several_tasks(2, (13, 20))
    weights = np.linspace(0.5, 1.5, len(X))
    for offset in ("original", "shifted"):
        model = transfer(
            kernel=kernel, gamma=0.1, coef0=0.5, nu=0.3, source_nu=0.2, radius="knn", offset=offset
        ).fit(X, sample_weight=weights, sample_domain=domain)
        rows = X if offset == "original" else X + model.shifts_
        scores = model.score_samples(rows, sample_domain=domain)
        for task, share in enumerate((0.3, 0.2)):
            own = domain == model.domains_[task]
            cost = 1.0 / (share * weights[own].sum())
            assert model.task_offset_[task] == pytest.approx(
                one_class_offset(scores[own], cost, weights[own]), rel=1e-6
            )


def test_moved_rows_make_the_region_too_small() -> None:
    X, domain = several_tasks(3, (20, 60), n_features=4)
    accepted = {
        offset: transfer(nu=0.1, radius="knn", offset=offset)
        .fit(X, sample_domain=domain)
        .predict(X[domain < 0])
        for offset in ("shifted", "original")
    }
    assert (accepted["original"] == 1).mean() >= 0.9
    assert (accepted["shifted"] == 1).mean() <= 0.5


def test_it_does_not_matter_without_radii() -> None:
    X, domain = several_tasks(4)
    one, other = (
        transfer(offset=offset).fit(X, sample_domain=domain).task_offset_
        for offset in ("original", "shifted")
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("gamma", [1e3, 1e50, 1e100])
def test_rows_far_from_all_others_are_outside_however_narrow_the_kernel(gamma: float) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    published = TransferOneClassSVM(offset="original")
    for machine in (OneClassSVM(), SVDD(), published):
        model = machine.set_params(gamma=gamma, nu=0.1).fit(X)
        np.testing.assert_array_equal(model.predict(X + 1.0), -np.ones(20))
        assert (model.predict(X) == 1).sum() >= 18


def low_rank_features(rows: Any, landmarks: Any, gamma: float) -> Any:
    """Features whose inner products are the kernel seen through landmarks."""

    def values(A: Any, B: Any) -> Any:
        return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    size, vectors = np.linalg.eigh(values(landmarks, landmarks))
    return values(rows, landmarks) @ (vectors / np.sqrt(size))


def test_fits_without_a_row_see_the_kernel_through_the_same_landmarks() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    settings = {"nu": 0.3, "gamma": 1.0, "tol": 1e-8, "offset": "left_out"}
    low_rank = {"approximation": "nystroem", "n_components": 10, "random_state": 0}
    model = OneClassSVM(**settings, **low_rank).fit(X)
    expected = np.empty(30)
    for row in range(30):
        features = low_rank_features(X, X[np.setdiff1d(model.support_, row)], 1.0)
        rest = np.delete(features, row, axis=0)
        # The sum of the coefficients is that of all rows.
        linear = OneClassSVM(kernel="linear", nu=0.3 * 30 / 29, tol=1e-8).fit(rest)
        expected[row] = (features[row] @ linear.coef_.T)[0]
    np.testing.assert_allclose(model.left_out_scores_, expected, rtol=1e-5)


def test_landmarks_that_are_all_rows_change_no_left_out_score() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    settings = {"nu": 0.3, "gamma": 1.0, "tol": 1e-8, "offset": "left_out"}
    exact = OneClassSVM(**settings).fit(X)
    low_rank = OneClassSVM(**settings, approximation="nystroem", random_state=0).fit(X)
    np.testing.assert_allclose(low_rank.left_out_scores_, exact.left_out_scores_, rtol=1e-4)


def test_a_single_landmark_can_be_left_out() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    for machine in (OneClassSVM, TransferOneClassSVM):
        model = machine(
            offset="left_out", gamma=0.1, approximation="nystroem", n_components=1, random_state=0
        ).fit(X)
        assert np.isfinite(model.left_out_scores_).all()
