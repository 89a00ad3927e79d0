"""A stored matrix as an operator: blocks of any matrix, and when a kernel is stored at all."""

import numpy as np
import pytest

from scarce.kernels import make_kernel, make_operator
from scarce.solvers import DenseMatrix, QuadraticProgram
from tests.solvers.internals import SignedForm


def matrices():
    values = np.random.default_rng(0).normal(size=(9, 9))
    values += values.T
    locked = values.copy()
    locked.flags.writeable = False
    return {
        "C": values,
        "Fortran": np.asfortranarray(values),
        "strided": np.repeat(np.repeat(values, 2, 0), 2, 1)[::2, ::2],
        "read-only": locked,
        "single": values.astype(np.float32),
    }


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("name", matrices())
def test_block(name, precision):
    values, indices = matrices()[name], np.array([7, 0, 3, 8])
    found = np.empty((4, 4), precision)
    DenseMatrix(values).write_block(indices, found)
    assert np.array_equal(found, values[indices][:, indices].astype(precision))


@pytest.mark.parametrize(("cache_size", "stored"), [(200.0, True), (0.12, True), (0.11, False)])
def test_no_more_is_stored_than_the_cache_may_hold(cache_size, stored):
    X = np.random.default_rng(0).normal(size=(100, 2))  # 10,000 values twice, 0.12 MB
    form = SignedForm(QuadraticProgram(make_operator(X, make_kernel()), totals=[1.0]))
    form.keep_rows(np.empty(10_000), cache_size)
    assert (form.kept is not None) == stored


def test_rows_beyond_the_space_given_get_their_own():
    X = np.random.default_rng(0).normal(size=(100, 2))
    form = SignedForm(QuadraticProgram(make_operator(X, make_kernel()), totals=[1.0]))
    space = np.zeros(9_999)
    form.keep_rows(space, 200.0)
    assert form.kept is not None
    assert not space.any()
