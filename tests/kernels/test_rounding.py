"""Bounds of rounding errors against errors that happened, by somebody who tries to break them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from scarce.kernels import KernelOperator, make_kernel, make_operator, nystroem_operator, prepare
from tests.kernels.samples import FORMS

NAMES = ("linear", "rbf", "laplacian", "poly", "sigmoid")


def cluttered(n, d, seed, far, share, offset):
    """Return rows of which a share lies far away, all of them off the origin."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + offset
    away = random.random(n) < share
    X[away] += far * random.normal(size=d)
    return X


def exact_sums(operator, weights):
    everyone = np.arange(operator.n)
    values = operator.reference(everyone, everyone).astype(np.longdouble)
    return np.asarray(values @ weights.astype(np.longdouble), dtype=np.float64)


def assert_bound_holds(operator, weights, precision):
    out = np.zeros(operator.n)
    groups = np.zeros(operator.n, np.int64)
    operator.accumulate(np.arange(operator.n), weights[None, :], groups, out, precision)
    error = np.abs(out - exact_sums(operator, weights))
    bound = operator.error_bound(np.abs(weights), precision)
    assert bound.shape == (operator.n,)
    assert (error <= bound).all(), f"{error.max()} at {int((error - bound).argmax())}"
    return error, bound


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    form=st.sampled_from(FORMS),
    precision=st.sampled_from([np.float32, np.float64]),
    dtype=st.sampled_from([np.float32, np.float64]),
    d=st.sampled_from([1, 3, 40]),
    far=st.sampled_from([0.0, 10.0, 1e3, 1e5]),
    share=st.sampled_from([0.02, 0.5]),
    offset=st.sampled_from([0.0, 5.0, 1e3]),
    gamma=st.sampled_from([1e-4, 0.1, 10.0]),
    seed=st.integers(0, 10**6),
)
def test_no_error_is_larger_than_its_bound(
    name, form, precision, dtype, d, far, share, offset, gamma, seed
):
    X = cluttered(80, d, seed, far, share, offset).astype(dtype)
    X = sparse.csr_array(X) if form == "sparse" else X
    operator = make_operator(X, make_kernel(name, gamma=gamma, degree=3, coef0=0.5))
    if precision not in (np.float64, *operator.subset(np.arange(80)).precisions):
        if not operator.kernel.fits_single_precision(operator.prepared.largest):
            return
    weights = np.random.default_rng(seed).normal(size=80)
    with np.errstate(over="ignore"):
        assert_bound_holds(operator, weights, precision)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_a_far_cluster_does_not_spoil_the_bounds_of_the_others(precision):
    X = np.random.default_rng(0).normal(size=(1000, 8))
    kernel = make_kernel("rbf", gamma=0.1)
    near = KernelOperator(prepare(kernel, X))
    X[990:] += 1e3
    mixed = KernelOperator(prepare(kernel, X))
    alone = near.error_bound(np.ones(1000), precision)
    both = mixed.error_bound(np.ones(1000), precision)
    assert both[:990].max() < 2 * alone.max()
    assert both[990:].min() > 100 * both[:990].max()


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_bounds_are_not_hopeless(precision):
    X = np.random.default_rng(0).normal(size=(600, 16))
    operator = make_operator(X, make_kernel("rbf", gamma=1 / 16))
    error, bound = assert_bound_holds(operator, np.ones(600), precision)
    assert bound.max() < 1e4 * error.max()


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_low_rank_sums_keep_their_bound(precision, name):
    X = cluttered(300, 5, 3, 4.0, 0.1, 2.0)
    kernel = make_kernel(name, gamma=0.3, degree=2, coef0=1.0)
    operator = nystroem_operator(X, kernel, np.arange(0, 300, 12))
    weights = np.random.default_rng(1).random(300)
    assert_bound_holds(operator, weights, precision)


def test_low_rank_sums_by_plain_means():
    X = cluttered(300, 5, 3, 4.0, 0.1, 2.0)
    operator = nystroem_operator(X, make_kernel("rbf", gamma=0.3), np.arange(0, 300, 12))
    rows, columns = np.arange(0, 300, 7), np.arange(0, 300, 5)
    random = np.random.default_rng(0)
    weights, groups = random.normal(size=(2, columns.size)), random.integers(0, 2, rows.size)
    expected = np.einsum("ij,ij->i", operator.reference(rows, columns), weights[groups])
    found = operator.reference_sums(rows, columns, weights, groups)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
