"""Blocks, sums and diagonals of operators against the full matrix."""

import numpy as np
import pytest
from scipy import sparse

from scarce.kernels import KernelOperator, LinearKernel, make_kernel, make_operator
from scarce.parallel import TILE_ROWS
from scarce.solvers import DenseMatrix
from tests.kernels.internals import PANEL_COLUMNS
from tests.kernels.samples import FORMS, FORMULAS, PRECISIONS, ROUNDING, cauchy, matrix, rows

# Within one tile, over several tiles, over several panels; none a multiple of either.
SIZES = (40, TILE_ROWS + 44, PANEL_COLUMNS + 188)

everywhere = pytest.mark.parametrize("form", FORMS)
every_formula = pytest.mark.parametrize("name", FORMULAS)
every_precision = pytest.mark.parametrize("precision", PRECISIONS)
every_size = pytest.mark.parametrize("n", SIZES)


def near(found, expected, precision):
    """Check values up to rounding, in units of the largest."""
    room = ROUNDING[precision] * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=room)


@everywhere
@every_formula
@every_precision
@every_size
def test_blocks(form, name, precision, n):
    X, kernel = rows(n, form), FORMULAS[name]
    indices = np.random.default_rng(1).permutation(n)[: n - 3]
    out = np.full((n - 3, n - 3), np.nan, precision)
    make_operator(X, kernel).write_block(indices, out)
    near(out, matrix(X, X, kernel)[np.ix_(indices, indices)], precision)
    near(out, out.T, precision)


@everywhere
@every_formula
@every_precision
@every_size
def test_sums_for_groups_with_weights_of_their_own(form, name, precision, n):
    X, kernel, random = rows(n, form), FORMULAS[name], np.random.default_rng(1)
    columns = random.permutation(n)[: n - 5]
    weights, groups = random.normal(size=(3, n - 5)), random.integers(0, 3, n)
    out = np.arange(n, dtype=float)
    make_operator(X, kernel).accumulate(columns, weights, groups, out, precision)
    K = matrix(X, X, kernel)[:, columns]
    expected = np.arange(n) + np.einsum("ij,ij->i", K, weights[groups])
    room = ROUNDING[precision] * (n + np.abs(K) @ np.abs(weights).max(axis=0)).max()
    np.testing.assert_allclose(out, expected, rtol=0, atol=room)


def check_plain_values(form, name, dtype):
    X, kernel = rows(60, form, dtype), FORMULAS[name]
    some, others = np.array([3, 50, 7]), np.arange(59, 0, -2)
    found = make_operator(X, kernel).reference(some, others)
    assert found.dtype == np.float64
    near(found, matrix(X, X, kernel)[np.ix_(some, others)], np.float64)


@everywhere
@every_formula
def test_plain_values(form, name):
    check_plain_values(form, name, np.float64)


@everywhere
@pytest.mark.parametrize("name", ["linear", "poly", "sigmoid"])
def test_plain_values_are_float64_whatever_the_rows(form, name):
    check_plain_values(form, name, np.float32)


@everywhere
def test_plain_rbf_values_are_float64_whatever_the_rows(form):
    check_plain_values(form, "rbf", np.float32)


@everywhere
@every_formula
def test_diagonal_and_subset(form, name):
    X, kernel = rows(60, form), FORMULAS[name]
    operator = make_operator(X, kernel)
    near(operator.diagonal(), np.diagonal(matrix(X, X, kernel)), np.float64)
    indices = np.array([50, 2, 31, 2])
    part, whole = operator.subset(indices), matrix(X, X, kernel)[np.ix_(indices, indices)]
    assert part.n == 4
    near(part.reference(np.arange(4), np.arange(4)), whole, np.float64)
    near(part.diagonal(), np.diagonal(whole), np.float64)
    out = np.empty((4, 4))
    part.write_block(np.arange(4), out)
    near(out, whole, np.float64)


@everywhere
@every_precision
def test_a_tiny_operator(form, precision):
    X, kernel = rows(7, form), FORMULAS["rbf"]
    K = matrix(X, X, kernel)
    out, sums = np.empty((7, 7), precision), np.zeros(7)
    operator = make_operator(X, kernel)
    operator.write_block(np.arange(7), out)
    operator.accumulate(np.arange(7), np.ones((1, 7)), np.zeros(7, np.int64), sums, precision)
    near(out, K, precision)
    near(sums, K.sum(axis=1), precision)


@everywhere
def test_rows_in_float32_are_only_rounded_once(form):
    X = rows(60, form, np.float32)
    out = np.empty((60, 60))
    make_operator(X, FORMULAS["poly"]).write_block(np.arange(60), out)
    near(out, matrix(X, X, FORMULAS["poly"]), np.float64)


@everywhere
def test_linear_sums_form_no_kernel_value(form, monkeypatch):
    def refuse(*_):
        raise AssertionError("a tile of kernel values was formed")

    monkeypatch.setattr(LinearKernel, "write_tile", refuse)
    X = rows(300, form)
    arguments = np.arange(300), np.ones((1, 300)), np.zeros(300, np.int64)
    out = np.zeros(300)
    make_operator(X, make_kernel("linear")).accumulate(*arguments, out, np.float64)
    near(out, matrix(X, X, make_kernel("linear")).sum(axis=1), np.float64)
    with pytest.raises(AssertionError, match="tile"):
        make_operator(X, make_kernel("linear")).write_block(np.arange(300), np.empty((300, 300)))


def check_numbers_of_another_type(dtype, name):
    X = np.random.default_rng(0).integers(0, 2 if dtype is bool else 9, (30, 4)).astype(dtype)
    everything = np.arange(30)
    found = make_operator(X, FORMULAS[name]).reference(everything, everything)
    near(found, matrix(X, X, FORMULAS[name]), np.float64)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, bool])
@pytest.mark.parametrize("name", ["linear", "poly", "sigmoid"])
def test_rows_that_are_not_floats_count_as_float64(dtype, name):
    check_numbers_of_another_type(dtype, name)


@pytest.mark.parametrize("dtype", [np.uint8, bool])
def test_rbf_of_rows_whose_type_has_no_negative_numbers(dtype):
    check_numbers_of_another_type(dtype, "rbf")


def test_repeated_entries_of_a_sparse_row_add_up():
    X = sparse.csr_array(([1.0, 1.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    found = make_operator(X, make_kernel("rbf")).reference(np.arange(2), np.arange(2))
    np.testing.assert_allclose(found, matrix(X, X, make_kernel("rbf")))


@everywhere
def test_a_callable_as_operator(form):
    n = 1100  # more than one block of rows and of columns
    X, random = rows(n, form), np.random.default_rng(1)
    K = cauchy(X, X)
    operator = make_operator(X, make_kernel(cauchy))
    assert operator.precisions == (np.float64,)
    np.testing.assert_allclose(operator.diagonal(), np.diagonal(K), atol=1e-15)
    weights, groups = random.normal(size=(2, n)), random.integers(0, 2, n)
    out = np.ones(n)
    operator.accumulate(np.arange(n)[::-1], weights[:, ::-1], groups, out, np.float64)
    np.testing.assert_allclose(
        out, 1 + np.einsum("ij,ij->i", K, weights[groups]), rtol=1e-11, atol=1e-11
    )
    indices = np.array([1050, 3, 700])
    block = np.empty((3, 3), np.float32)
    operator.write_block(indices, block)
    np.testing.assert_allclose(block, K[np.ix_(indices, indices)], rtol=1e-6)
    part = operator.subset(indices)
    assert part.n == 3
    np.testing.assert_allclose(
        part.reference(np.arange(2), np.arange(3)), K[np.ix_(indices[:2], indices)], rtol=1e-12
    )


def test_a_callable_of_few_rows_has_a_diagonal():
    operator = make_operator(np.eye(2), make_kernel(lambda X, Z: 3.0 * X @ Z.T))
    np.testing.assert_array_equal(operator.diagonal(), [3.0, 3.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_a_precomputed_matrix_is_the_operator(dtype):
    n = 1100
    K = (np.random.default_rng(0).normal(size=(n, n)) * 10).astype(dtype)
    K = K + K.T
    operator = make_operator(K, make_kernel("precomputed"))
    assert isinstance(operator, DenseMatrix)
    assert operator.precisions == (np.float64,)
    np.testing.assert_array_equal(operator.diagonal(), np.diagonal(K))
    indices = np.array([4, 1099, 0])
    block = np.empty((3, 3))
    operator.write_block(indices, block)
    np.testing.assert_array_equal(block, K[np.ix_(indices, indices)])
    np.testing.assert_array_equal(
        operator.subset(indices).reference(np.arange(3), np.arange(2)),
        K[np.ix_(indices, indices[:2])],
    )
    whole = np.empty((n, n))
    operator.write_block(np.arange(n), whole)
    np.testing.assert_array_equal(whole, K)
    weights, groups = np.random.default_rng(1).normal(size=(2, n)), np.arange(n) % 2
    out = np.zeros(n)
    operator.accumulate(np.arange(n), weights, groups, out, np.float64)
    expected = np.einsum("ij,ij->i", K.astype(float), weights[groups])
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-9)


def test_a_reordered_block_of_all_rows_is_reordered():
    K = np.arange(9.0).reshape(3, 3)
    K = K + K.T
    block = np.empty((3, 3))
    make_operator(K, make_kernel("precomputed")).write_block(np.array([2, 0, 1]), block)
    np.testing.assert_array_equal(block, K[np.ix_([2, 0, 1], [2, 0, 1])])


def test_precomputed_values_must_be_square():
    with pytest.raises(ValueError, match=r"square matrix, got shape \(2, 3\)"):
        make_operator(np.ones((2, 3)), make_kernel("precomputed"))


@everywhere
def test_formulas_have_an_operator_of_their_own(form):
    assert isinstance(make_operator(rows(5, form), make_kernel("poly")), KernelOperator)
