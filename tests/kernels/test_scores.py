"""Scores of an expansion against the full matrix."""

import numpy as np
import pytest

from scarce.kernels import LinearKernel, make_kernel, weighted_scores
from tests.kernels.samples import FORMS, FORMULAS, PRECISIONS, ROUNDING, cauchy, matrix, rows


def naming(kernel):
    return "callable" if not kernel.has_formula else kernel.name


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (40, 30), (700, 600)])
def test_scores_are_weighted_sums(name, dtype, form, n, m):
    X, support = rows(n, form, dtype), rows(m, form, dtype, seed=1)
    coefficients = np.random.default_rng(2).normal(size=m)
    found = weighted_scores(X, support, coefficients, FORMULAS[name])
    assert found.dtype == np.float64
    K = matrix(X, support, FORMULAS[name])
    room = ROUNDING[dtype] * max(1.0, (np.abs(K) @ np.abs(coefficients)).max())
    np.testing.assert_allclose(found, K @ coefficients, rtol=0, atol=room)


@pytest.mark.parametrize("kernel", [*FORMULAS.values(), make_kernel(cauchy)], ids=naming)
@pytest.mark.parametrize("form", FORMS)
def test_groups_have_weights_of_their_own(kernel, form):
    X, support = rows(1200, form), rows(30, form, seed=1)
    coefficients = np.random.default_rng(2).normal(size=(3, 30))
    groups = np.random.default_rng(3).integers(0, 3, 1200)
    found = weighted_scores(X, support, coefficients, kernel, groups)
    K = cauchy(X, support) if not kernel.has_formula else matrix(X, support, kernel)
    expected = np.einsum("ij,ij->i", K, coefficients[groups])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(K).sum(axis=1).max())


@pytest.mark.parametrize("form", FORMS)
def test_a_small_expansion(form):
    X, support = rows(5, form), rows(4, form, seed=1)
    found = weighted_scores(X, support, np.arange(4.0), FORMULAS["rbf"])
    expected = matrix(X, support, FORMULAS["rbf"]) @ np.arange(4.0)
    np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("mixed", [(np.float32, np.float64), (np.float64, np.float32)])
def test_one_side_in_double_precision_makes_the_answer_so(mixed):
    X, support = rows(50, dtype=mixed[0]) + 1e3, rows(40, dtype=mixed[1], seed=1) + 1e3
    X, support = X.astype(mixed[0]), support.astype(mixed[1])
    found = weighted_scores(X, support, np.ones(40), FORMULAS["rbf"])
    expected = FORMULAS["rbf"].values(X, support).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_coefficients_beyond_single_precision():
    X = rows(20, dtype=np.float32)
    found = weighted_scores(X, X, np.full(20, 1e60), FORMULAS["rbf"])
    np.testing.assert_allclose(found, 1e60 * matrix(X, X, FORMULAS["rbf"]).sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_callable_is_asked_for_blocks(form):
    X, support = rows(1500, form), rows(7, form, seed=1)
    sizes = []

    def kernel(a, b):
        sizes.append(a.shape[0])
        return cauchy(a, b)

    found = weighted_scores(X, support, np.arange(7.0), make_kernel(kernel))
    np.testing.assert_allclose(found, cauchy(X, support) @ np.arange(7.0), rtol=1e-12)
    assert sum(sizes) == 1500
    assert max(sizes) <= 2048


@pytest.mark.parametrize("kernel", [*FORMULAS.values(), make_kernel(cauchy)], ids=naming)
def test_an_empty_expansion_scores_zero(kernel):
    X = rows(6)
    np.testing.assert_array_equal(weighted_scores(X, X[:0], np.zeros(0), kernel), np.zeros(6))


@pytest.mark.parametrize("form", FORMS)
def test_a_linear_expansion_forms_no_kernel_value(form, monkeypatch):
    def refuse(*_):
        raise AssertionError("a tile of kernel values was formed")

    monkeypatch.setattr(LinearKernel, "write_tile", refuse)
    X = rows(300, form)
    found = weighted_scores(X, X, np.ones(300), make_kernel("linear"))
    np.testing.assert_allclose(found, matrix(X, X, make_kernel("linear")).sum(axis=1), atol=1e-11)


@pytest.mark.parametrize("offset", [3.0, 30.0, 1000.0])
def test_powers_that_cancel(offset):
    # A second difference of a quadratic kernel is known: k(x, c+h) - 2 k(x, c) + k(x, c-h) is
    # 2 gamma^2 (x'h)^2, in single precision too, where all these rows are exact.
    kernel = make_kernel("poly", gamma=0.25, degree=2, coef0=1.0)
    X = (np.random.default_rng(0).integers(-4, 5, size=(50, 3)) + offset).astype(np.float32)
    step = np.array([1.0, -1.0, 0.0], np.float32)
    support = np.full((3, 3), offset, np.float32) + np.outer([1.0, 0.0, -1.0], step)
    found = weighted_scores(X, support.astype(np.float32), np.array([1.0, -2.0, 1.0]), kernel)
    expected = 2.0 * 0.25**2 * (X.astype(float) @ step) ** 2
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)
