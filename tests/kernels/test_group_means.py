"""Kernels between means of groups against means of the full matrix."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from scarce.kernels import (
    LinearKernel,
    group_mean_kernel,
    group_mean_values,
    group_means,
    make_kernel,
)
from tests.kernels.internals import _threads
from tests.kernels.samples import FORMS, FORMULAS, PRECISIONS, cauchy, matrix, rows


def means(K, codes, n_groups):
    """Return the means of all blocks of a matrix."""
    members = [np.flatnonzero(codes == g) for g in range(n_groups)]
    return np.array([[K[np.ix_(a, b)].mean() for b in members] for a in members])


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [30, 700])
def test_means_of_unequal_unsorted_groups(name, dtype, form, n):
    X = rows(n, form, dtype)
    shares = [0.6, 0.25, 0.1, 0.05]
    codes = np.random.default_rng(1).choice(4, n, p=shares)
    codes[:4] = np.arange(4)[::-1]
    found = group_mean_kernel(X, codes, FORMULAS[name], 4)
    expected = means(matrix(X, X, FORMULAS[name]), codes, 4)
    room = 1e-6 if dtype is np.float32 else 2e-12  # plain sums of many values
    np.testing.assert_allclose(found, expected, rtol=0, atol=room * np.abs(expected).max())
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize("form", FORMS)
def test_rows_with_negative_codes_take_no_part(name, form):
    X, codes = rows(90, form), np.arange(90) % 5 - 2
    found = group_mean_kernel(X, codes, FORMULAS[name], 3)
    expected = means(matrix(X, X, FORMULAS[name]), codes, 3)
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_a_group_of_each_row_gives_the_matrix():
    X = rows(9)
    codes = np.random.default_rng(0).permutation(9)
    found = group_mean_kernel(X, codes, FORMULAS["rbf"], 9)
    K = matrix(X, X, FORMULAS["rbf"])
    np.testing.assert_allclose(found[np.ix_(codes, codes)], K, atol=1e-14)


@pytest.mark.parametrize("form", FORMS)
def test_linear_means_form_no_kernel_value(form, monkeypatch):
    def refuse(*_):
        raise AssertionError("a tile of kernel values was formed")

    monkeypatch.setattr(LinearKernel, "write_tile", refuse)
    X, codes = rows(40, form), np.arange(40) % 2
    found = group_mean_kernel(X, codes, make_kernel("linear"), 2)
    np.testing.assert_allclose(
        found, means(matrix(X, X, make_kernel("linear")), codes, 2), atol=1e-14
    )


@pytest.mark.parametrize(
    "codes", [[0, 0, 0], [0, 2, 2], [0, 1, 2], [-1, -1, -1]], ids=["few", "gap", "many", "none"]
)
def test_every_group_needs_a_row(codes):
    with pytest.raises(ValueError, match=r"every group 0 \.\. 1 at least once, got counts"):
        group_mean_kernel(np.eye(3), np.array(codes), make_kernel("rbf"), 2)


def weighted_means(K, codes, weights, n_groups):
    """Return the weighted means of all blocks of a matrix."""
    averages = (codes == np.arange(n_groups)[:, None]) * weights
    averages /= averages.sum(axis=1, keepdims=True)
    return averages @ K @ averages.T


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("form", FORMS)
def test_weighted_means(name, form):
    X = rows(400, form)
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(-1, 6, size=400), rng.uniform(0.1, 3.0, size=400)
    expected = weighted_means(matrix(X, X, FORMULAS[name]), codes, weights, 6)
    found = group_mean_kernel(X, codes, FORMULAS[name], 6, weights)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-12 * np.abs(expected).max())


@pytest.mark.parametrize("form", FORMS)
def test_means_of_rows(form):
    X = rows(50, form)
    codes, weights = np.arange(50) % 4 - 1, np.linspace(0.5, 2.0, 50)
    found = group_means(X, codes, 3, weights)
    dense = X.toarray() if sparse.issparse(X) else X
    expected = [
        np.average(dense[codes == g], axis=0, weights=weights[codes == g]) for g in (0, 1, 2)
    ]
    assert sparse.issparse(found) == sparse.issparse(X)
    np.testing.assert_allclose(found.toarray() if sparse.issparse(X) else found, expected)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("form", FORMS)
def test_mean_values_with_landmarks(name, dtype, form):
    X = rows(700, form, dtype)
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(-1, 9, size=700), rng.uniform(0.1, 3.0, size=700)
    landmarks = X[:300]
    averages = (codes == np.arange(9)[:, None]) * weights
    averages /= averages.sum(axis=1, keepdims=True)
    expected = averages @ matrix(X, landmarks, FORMULAS[name])
    found = group_mean_values(X, codes, FORMULAS[name], 9, landmarks, weights)
    room = 1e-6 if dtype is np.float32 else 2e-12
    np.testing.assert_allclose(found, expected, rtol=0, atol=room * np.abs(expected).max())


@pytest.mark.parametrize("n", [40, 2500])
def test_kernels_given_as_functions_or_values(n):
    X = rows(n)
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(-1, 7, size=n), rng.uniform(0.1, 3.0, size=n)
    expected = weighted_means(cauchy(X, X), codes, weights, 7)
    found = group_mean_kernel(X, codes, make_kernel(cauchy), 7, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    given = group_mean_kernel(cauchy(X, X), codes, make_kernel("precomputed"), 7, weights)
    np.testing.assert_allclose(given, expected, rtol=1e-10)


def test_kernels_that_prepare_rows_do_so_once():
    calls = []

    class Counting:
        def __call__(self, X, Z):
            return cauchy(X, Z)

        def prepare(self, X):
            calls.append(len(X))
            return X

    X, codes = rows(1500), np.arange(1500) % 3
    found = group_mean_kernel(X, codes, make_kernel(Counting()), 3)
    np.testing.assert_allclose(found, means(cauchy(X, X), codes, 3), rtol=1e-10)
    assert calls == [1500]


def test_a_kernel_too_narrow_for_squared_norms():
    X = 1e6 + np.arange(6.0)[:, None] / 2
    found = group_mean_kernel(X * 1e3, np.arange(6) // 2, make_kernel("rbf", gamma=1e3), 3)
    np.testing.assert_allclose(found, np.eye(3) / 2)
    sparsely = group_mean_kernel(
        sparse.csr_array(X * 1e3), np.arange(6) // 2, make_kernel("rbf", gamma=1e3), 3
    )
    np.testing.assert_allclose(sparsely, np.eye(3) / 2)


def peak_of(n, n_groups, kernel):
    """Return the largest memory in bytes that group means of many rows take."""
    X, codes = rows(n), np.arange(n) % n_groups
    group_mean_kernel(X[:600], codes[:600] % 2, kernel, 2)  # compiles
    tracemalloc.start()
    try:
        group_mean_kernel(X, codes, kernel, n_groups)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_full_matrix_never_exists():
    n = 3000
    assert peak_of(n, 5, make_kernel("rbf")) < n * n * 8 / 10


def test_linear_means_of_many_groups_take_little_memory():
    n, n_groups = 10_000, 200
    assert peak_of(n, n_groups, make_kernel("linear")) < n * n_groups * 8 / 4


def test_the_number_of_threads_does_not_show(monkeypatch):
    X, codes = rows(3000), np.sort(np.random.default_rng(0).integers(7, size=3000))

    def answer(threads):
        monkeypatch.setattr(_threads, "thread_count", lambda: threads)
        monkeypatch.setattr(_threads, "SMALLEST_EFFORT", 0)
        return group_mean_kernel(X, codes, FORMULAS["rbf"], 7)

    one = answer(1)
    assert all(np.array_equal(one, answer(threads)) for threads in (2, 3, 3, 3))
