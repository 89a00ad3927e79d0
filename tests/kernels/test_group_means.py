"""Kernels between means of groups against means of the full matrix."""

import tracemalloc

import numpy as np
import pytest

from scarce.kernels import Kernel, _threads, group_mean_kernel
from tests.kernels.samples import FORMS, FORMULAS, PRECISIONS, laplacian, matrix, rows


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


@pytest.mark.nojit
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

    monkeypatch.setattr(Kernel, "finish", refuse)
    X, codes = rows(40, form), np.arange(40) % 2
    found = group_mean_kernel(X, codes, Kernel("linear"), 2)
    np.testing.assert_allclose(found, means(matrix(X, X, Kernel("linear")), codes, 2), atol=1e-14)


@pytest.mark.parametrize(
    "codes", [[0, 0, 0], [0, 2, 2], [0, 1, 2], [-1, -1, -1]], ids=["few", "gap", "many", "none"]
)
def test_every_group_needs_a_row(codes):
    with pytest.raises(ValueError, match=r"every group 0 \.\. 1 at least once, got counts"):
        group_mean_kernel(np.eye(3), np.array(codes), Kernel("rbf"), 2)


@pytest.mark.parametrize("name", ["precomputed", laplacian])
def test_kernels_without_a_formula_are_refused(name):
    with pytest.raises(ValueError, match="formula"):
        group_mean_kernel(np.eye(3), np.array([0, 0, 1]), Kernel(name), 2)


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
    assert peak_of(n, 5, Kernel("rbf")) < n * n * 8 / 10


def test_linear_means_of_many_groups_take_little_memory():
    n, n_groups = 10_000, 200
    assert peak_of(n, n_groups, Kernel("linear")) < n * n_groups * 8 / 4


def test_the_number_of_threads_does_not_show(monkeypatch):
    X, codes = rows(3000), np.sort(np.random.default_rng(0).integers(7, size=3000))

    def answer(threads):
        monkeypatch.setattr(_threads, "thread_count", lambda: threads)
        monkeypatch.setattr(_threads, "SMALLEST_EFFORT", 0)
        return group_mean_kernel(X, codes, FORMULAS["rbf"], 7)

    one = answer(1)
    assert all(np.array_equal(one, answer(threads)) for threads in (2, 3, 3, 3))
