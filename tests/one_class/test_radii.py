"""Radii: the rule of the nearest neighbours, one number, or one per row."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.one_class.samples import several_tasks
from tests.published import transfer, uoct


def nearest_means(X: np.ndarray, domain: np.ndarray, count: int) -> np.ndarray:
    """Return the mean distance to the nearest others of the same task, written out."""
    radii = np.zeros(len(X))
    for i, row in enumerate(X):
        others = (domain == domain[i]) & (np.arange(len(X)) != i)
        distances = np.sort(cdist(row[None], X[others])[0])[:count]
        radii[i] = distances.mean() if distances.size else 0.0
    return radii


@pytest.mark.parametrize(
    ("sizes", "count"),
    # A tenth of the target, whatever the sources' sizes; at least one; at most all others.
    [((30, 50), 3), ((4, 50), 1), ((34, 20, 2), 3), ((36, 20), 4), ((50, 1), 5), ((100, 3), 10)],
)
def test_neighbours(sizes: tuple[int, ...], count: int) -> None:
    X, domain = several_tasks(0, sizes)
    model = transfer(radius="knn", max_rounds=2, round_tol=1.0)
    model.fit(X, sample_domain=domain)
    np.testing.assert_allclose(model.radii_, nearest_means(X, domain, count), rtol=1e-9)
    lengths = np.linalg.norm(model.shifts_, axis=1)
    assert np.all(lengths <= model.radii_ * (1 + 1e-12))
    assert np.all((lengths > 0) == (model.radii_ > 0))


def test_number_of_neighbours_can_be_given() -> None:
    X, domain = several_tasks(0, (30, 50))
    for make in (transfer, uoct):
        model = make(radius="knn", radius_neighbors=7, max_rounds=2, round_tol=1.0)
        model.fit(X, sample_domain=domain)
        np.testing.assert_allclose(model.radii_, nearest_means(X, domain, 7), rtol=1e-9)


def test_by_hand() -> None:
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    model = uoct(kernel="linear", C_target=1.0).fit(X + 10.0)
    np.testing.assert_allclose(model.radii_, [1.0, 1.0, 2.0, 4.0])


def test_duplicates_have_no_radius() -> None:
    X, domain = several_tasks(1, (6, 9))
    rows = np.r_[np.arange(len(X)), 0]
    model = transfer(radius="knn").fit(X[rows], sample_domain=domain[rows])
    assert model.radii_[0] == model.radii_[-1] == 0
    assert (model.radii_[1:-1] > 0).all()


def test_neighbours_are_counted_by_weight() -> None:
    X, domain = several_tasks(2, (25, 40))
    counts = np.random.default_rng(0).integers(0, 4, size=len(X))
    often = np.repeat(np.arange(len(X)), counts)
    once = transfer(radius="knn", tol=1e-6).fit(X, sample_weight=counts, sample_domain=domain)
    repeated = transfer(radius="knn", tol=1e-6).fit(X[often], sample_domain=domain[often])
    np.testing.assert_allclose(once.radii_[often], repeated.radii_, rtol=1e-9, atol=1e-7)
    assert not once.radii_[counts == 0].any()
    # Halves of rows are rows.
    halves = transfer(radius="knn").fit(
        np.r_[X, X], sample_weight=np.full(2 * len(X), 0.5), sample_domain=np.r_[domain, domain]
    )
    whole = transfer(radius="knn").fit(X, sample_domain=domain)
    np.testing.assert_allclose(halves.radii_, np.r_[whole.radii_, whole.radii_], rtol=1e-6)


def test_one_number_is_one_per_row() -> None:
    X, domain = several_tasks(3)
    one = transfer(radius=0.3).fit(X, sample_domain=domain)
    each = transfer(radius="knn").fit(X, sample_domain=domain, sample_radius=np.full(len(X), 0.3))
    assert one.history_ == each.history_
    np.testing.assert_array_equal(one.shifts_, each.shifts_)
    np.testing.assert_array_equal(one.radii_, np.full(len(X), 0.3))


def test_rows_without_a_radius_stay() -> None:
    X, domain = several_tasks(4)
    radii = np.where(domain < 0, 0.4, 0.0)
    for kernel in ("linear", "rbf"):
        model = transfer(kernel=kernel).fit(X, sample_domain=domain, sample_radius=radii)
        lengths = np.linalg.norm(model.shifts_, axis=1)
        assert not lengths[domain >= 0].any()
        assert (lengths[domain < 0] > 0).all()


@pytest.mark.filterwarnings("ignore:kernel='sigmoid' is not positive semidefinite")
def test_support_vectors_are_the_moved_rows() -> None:
    X, domain = several_tasks(5)
    for kernel in ("linear", "rbf", "poly", "sigmoid"):
        model = transfer(kernel=kernel, radius="knn", gamma=0.1, coef0=0.5)
        model.fit(X, sample_domain=domain)
        moved = (X + model.shifts_)[model.support_]
        np.testing.assert_allclose(model.support_vectors_, moved, rtol=1e-12)


def test_single_precision() -> None:
    X, domain = several_tasks(6, (30, 60))
    single = X.astype(np.float32)
    narrow = transfer(radius="knn").fit(single, sample_domain=domain)
    wide = transfer(radius="knn").fit(single.astype(float), sample_domain=domain)
    assert narrow.support_vectors_.dtype == np.float32
    expected = wide.decision_function(single.astype(float))
    np.testing.assert_allclose(
        narrow.decision_function(single), expected, atol=1e-3 * np.ptp(expected)
    )
