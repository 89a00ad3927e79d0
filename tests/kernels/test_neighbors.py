"""The width called "neighbors" against plain NumPy and SciPy, and equal rows as one."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import distance

from scarce.kernels import GAMMA_RULES, distinct_rows, make_kernel, scale_gamma, weighted_median
from tests.kernels.internals import neighbour_distance


def plain(X, k, metric="sqeuclidean"):
    """Return half the median distance to the k-th neighbour, from all distances."""
    return 0.5 * np.median(np.sort(distance.cdist(X, X, metric), axis=1)[:, k])


@pytest.mark.parametrize(("n", "k"), [(2, 1), (10, 1), (40, 2), (80, 4), (300, 5)])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_it_is_half_the_median_distance_to_the_kth_neighbour(n, k, container):
    X = np.random.default_rng(n).normal(5.0, 1.0, size=(n, 3))
    found = make_kernel("rbf", gamma="neighbors").settled(container(X)).gamma
    assert found == pytest.approx(max(scale_gamma(X), 1.0 / plain(X, k)), rel=1e-9)
    found = make_kernel("laplacian", gamma="neighbors").settled(container(X)).gamma
    wide = make_kernel("laplacian", gamma="scale").settled(X).gamma
    assert found == pytest.approx(max(wide, 1.0 / plain(X, k, "cityblock")), rel=1e-9)


def test_it_is_never_wider_than_scale():
    corners = 100.0 * np.eye(50)
    found = make_kernel("rbf", gamma="neighbors").settled(corners).gamma
    assert found == scale_gamma(corners) > 1.0 / plain(corners, 2)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_weights_are_repetition_and_order_is_nothing(container):
    random = np.random.default_rng(0)
    X, counts = random.normal(size=(60, 4)), random.integers(0, 4, 60)
    repeated = random.permutation(np.repeat(np.arange(60), counts))
    once = neighbour_distance(container(X), counts.astype(float))
    assert once == neighbour_distance(container(X[repeated]))
    assert once != neighbour_distance(container(X))


def test_many_rows_are_sampled():
    X = np.random.default_rng(0).normal(size=(5000, 2))
    found = neighbour_distance(X)
    assert found == pytest.approx(plain(X, 5), rel=0.05)
    assert found != plain(X, 5)
    assert found == neighbour_distance(X[::-1])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
def test_without_a_distance_it_is_scale(kernel):
    for X in (np.ones((1, 2)), np.ones((5, 2))):
        words = [
            make_kernel(kernel, gamma=word).settled(X).gamma for word in ("neighbors", "scale")
        ]
        assert words[0] == words[1]


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match='"scale", "auto", "neighbors" or a number, got \'wide\''):
        make_kernel("rbf", gamma="wide").settled(np.eye(2))
    assert GAMMA_RULES == ("scale", "auto", "neighbors")


def test_the_weighted_median_is_that_of_repeated_values():
    random = np.random.default_rng(0)
    for n in range(1, 30):
        values, counts = random.normal(size=n), random.integers(1, 5, n)
        expected = np.median(np.repeat(values, counts))
        assert weighted_median(values, counts.astype(float)) == pytest.approx(expected)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_distinct_rows_are_those_of_numpy(container):
    X = np.random.default_rng(0).integers(-1, 2, size=(200, 4)).astype(float)
    expected, members = np.unique(X, axis=0, return_inverse=True)
    first, found = distinct_rows(container(X))
    np.testing.assert_array_equal(X[first], expected)
    np.testing.assert_array_equal(found, members.ravel())  # NumPy 2.0.0 has a column


def test_rows_of_objects_are_all_distinct():
    first, members = distinct_rows(np.array([["a"], ["a"]], dtype=object))
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(members, [0, 1])
