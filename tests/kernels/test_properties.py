"""What kernels say of themselves, against matrices."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from scarce import OneClassSVM
from scarce.kernels import (
    CPKernel,
    Kernel,
    LaplacianKernel,
    PolynomialKernel,
    ProductModeKernel,
    RBFKernel,
    SubspaceKernel,
    kernel_type,
    make_kernel,
)
from tests.kernels.samples import FORMULAS, cauchy, rows


@pytest.mark.parametrize("name", [n for n, k in FORMULAS.items() if k.definite])
def test_definite_kernels_have_no_negative_eigenvalue(name):
    K = FORMULAS[name].values(rows(80), rows(80))
    values = np.linalg.eigvalsh(K)
    assert values.min() > -1e-12 * values.max()


@pytest.mark.parametrize(
    ("kernel", "definite"),
    [
        (make_kernel("poly", degree=3, coef0=0.0), True),
        (make_kernel("poly", degree=3, coef0=-0.1), False),
        (make_kernel("poly", degree=1.5, coef0=1.0), False),
        (make_kernel("sigmoid"), False),
        (make_kernel("precomputed"), False),
        (make_kernel(cauchy), False),
        (make_kernel(ProductModeKernel()), True),
        (make_kernel(ProductModeKernel(mode_kernel=lambda a, b: a)), False),
        (make_kernel(SubspaceKernel()), True),
        (make_kernel(CPKernel()), True),
    ],
)
def test_definite_where_it_is_certain(kernel, definite):
    assert kernel.definite is definite


@pytest.mark.parametrize("kernel", [SubspaceKernel(rank=2), CPKernel(rank=2), ProductModeKernel()])
def test_tensor_kernels_are_as_definite_as_they_say(kernel):
    X = np.random.default_rng(0).normal(size=(40, 4, 3))
    values = np.linalg.eigvalsh(kernel(X, X))
    assert values.min() > -1e-12 * values.max()


@pytest.mark.parametrize("name", FORMULAS)
def test_shift_invariance_is_as_stated(name):
    X = rows(20)
    moved = FORMULAS[name].values(X + 1.5, X + 1.5)
    assert np.allclose(moved, FORMULAS[name].values(X, X)) == FORMULAS[name].shift_invariant


def test_the_scale_of_the_laplacian_kernel_is_the_standard_deviation():
    X = np.random.default_rng(0).normal(2.0, 3.0, size=(50, 4))
    assert LaplacianKernel().settled(X).gamma == pytest.approx(1 / (4 * X.std()), rel=1e-12)
    assert RBFKernel().settled(X).gamma == pytest.approx(1 / (4 * X.var()), rel=1e-12)
    assert RBFKernel("auto").settled(X).gamma == 0.25


def test_weights_count_as_repetition_in_the_scale():
    X = np.random.default_rng(0).normal(size=(9, 2))
    twice = LaplacianKernel().settled(np.r_[X, X[:3]]).gamma
    assert LaplacianKernel().settled(X, np.r_[[2.0] * 3, [1.0] * 6]).gamma == pytest.approx(twice)


def test_an_unknown_word_for_gamma():
    with pytest.raises(ValueError, match=r"gamma must be .* or a number, got .wide"):
        RBFKernel("wide").settled(np.eye(2))


def test_an_object_is_taken_as_it_is():
    kernel = PolynomialKernel(gamma=2.0, degree=2, coef0=1.0)
    assert make_kernel(kernel, gamma=5.0, degree=7) is kernel
    assert make_kernel(RBFKernel("scale"), gamma=0.5) == RBFKernel(0.5)
    assert kernel_type(kernel) is kernel_type("poly") is PolynomialKernel


@pytest.mark.filterwarnings("ignore:kernel=.* is not positive semidefinite")
@pytest.mark.parametrize("name", FORMULAS)
def test_estimators_take_objects(name):
    X = 2.0 + rows(60)
    kernel = FORMULAS[name]
    by_name = OneClassSVM(kernel=name, nu=0.3, **kernel.parameters()).fit(X)
    by_object = clone(OneClassSVM(kernel=kernel, nu=0.3)).fit(X)
    np.testing.assert_array_equal(by_object.score_samples(X), by_name.score_samples(X))


def test_a_new_kernel_is_one_class():
    @dataclass(frozen=True)
    class Renamed(LaplacianKernel):
        name = "renamed"

    try:
        X = rows(40)
        by_name = OneClassSVM(kernel=make_kernel("renamed", "scale"), nu=0.5).fit(X)
        laplacian = OneClassSVM(kernel="laplacian", nu=0.5).fit(X)
        np.testing.assert_array_equal(by_name.dual_coef_, laplacian.dual_coef_)
    finally:
        del Kernel.named["renamed"]
