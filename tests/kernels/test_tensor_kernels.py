"""Tensor kernels against plain loops, their invariances, and their way through the estimators."""

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score

from scarce import SVC, SVMC, GroupProbabilitySVM, NuSVC, OneClassSVM
from scarce.kernels import CPKernel, ProductModeKernel, SubspaceKernel
from tests.kernels.internals import cp_factors
from tests.published import transfer

KERNELS = [
    ProductModeKernel(gamma=0.3),
    SubspaceKernel(gamma=0.7, rank=2),
    CPKernel(gamma=0.4, rank=2),
    CPKernel(rank=2, factor_kernel="linear"),
]
SHAPES = [(4, 3), (3, 4, 2)]


def tensors(n, shape, seed=0):
    return np.random.default_rng(seed).normal(0.4, 1.0, size=(n, *shape))


def unfolding(X, mode):
    return np.moveaxis(X, mode, 0).reshape(X.shape[mode], -1)


def in_loops(kernel, X, Y):
    return np.array([[kernel(x, y) for y in Y] for x in X])


# Against plain loops.


def product_by_hand(X, Y, gamma):
    value = 1.0
    for mode in range(X.ndim):
        A, B = unfolding(X, mode), unfolding(Y, mode)
        value *= np.mean(
            [np.exp(-gamma[mode] * np.sum((a - b) ** 2)) for a, b in zip(A, B, strict=True)]
        )
    return value


def subspace_by_hand(X, Y, gamma, rank):
    value = 1.0
    for mode in range(X.ndim):
        projections = []
        for tensor in (X, Y):
            V = np.linalg.svd(unfolding(tensor, mode))[2][:rank].T
            projections.append(V @ V.T)
        value *= np.exp(-gamma[mode] * np.linalg.norm(projections[0] - projections[1]) ** 2)
    return value


def cp_by_hand(X, Y, gamma, rank):
    """All choices of signs, one by one, for matrices."""
    components = []
    for matrix in (X, Y):
        left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
        roots = np.sqrt(sizes[:rank])
        components.append(
            list(zip((roots * left[:, :rank]).T, roots[:, None] * right[:rank], strict=True))
        )
    total = 0.0
    for (u, v), (a, b) in product(*components):
        values = [
            np.exp(-gamma * (np.sum((sign * u - a) ** 2) + np.sum((sign * v - b) ** 2)))
            for sign in (1, -1)
        ]
        total += np.mean(values)
    return total


@pytest.mark.parametrize("shape", [*SHAPES, (5,)])
def test_product_of_mode_kernels(shape):
    X, Y = tensors(6, shape), tensors(4, shape, seed=1)
    gamma = (0.3, 0.05, 0.2)[: len(shape)]
    expected = in_loops(lambda x, y: product_by_hand(x, y, gamma), X, Y)
    np.testing.assert_allclose(ProductModeKernel(gamma=gamma)(X, Y), expected, rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rank", [1, 2])
def test_subspaces(shape, rank):
    X, Y = tensors(6, shape), tensors(4, shape, seed=1)
    gamma = (0.3, 0.8, 0.5)[: len(shape)]
    expected = in_loops(lambda x, y: subspace_by_hand(x, y, gamma, rank), X, Y)
    np.testing.assert_allclose(SubspaceKernel(gamma=gamma, rank=rank)(X, Y), expected, rtol=1e-11)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_components_of_matrices(rank):
    X, Y = tensors(6, (4, 3)), tensors(4, (4, 3), seed=1)
    expected = in_loops(lambda x, y: cp_by_hand(x, y, 0.4, rank), X, Y)
    np.testing.assert_allclose(CPKernel(gamma=0.4, rank=rank)(X, Y), expected, rtol=1e-11)


def test_components_of_order_three_for_all_signs():
    random = np.random.default_rng(3)
    X, Y = ([random.normal(size=d) for d in (3, 4, 2)] for _ in range(2))
    balanced = []
    for factors in (X, Y):
        size = np.prod([np.linalg.norm(f) for f in factors])
        balanced.append([f / np.linalg.norm(f) * size ** (1 / 3) for f in factors])
    gamma = (0.2, 0.5, 0.3)
    choices = [signs for signs in product((1, -1), repeat=3) if np.prod(signs) == 1]
    expected = np.mean(
        [
            np.exp(
                -sum(
                    g * np.sum((sign * x - y) ** 2)
                    for g, sign, x, y in zip(gamma, signs, *balanced, strict=True)
                )
            )
            for signs in choices
        ]
    )
    whole = [np.einsum("a,b,c->abc", *factors)[None] for factors in (X, Y)]
    assert len(choices) == 4
    np.testing.assert_allclose(CPKernel(gamma=gamma)(*whole), [[expected]], rtol=1e-10)


@pytest.mark.parametrize("products", [60, 1])  # of some tensors, of less than one
def test_tiles_change_nothing(products, monkeypatch):
    X, Y = tensors(9, (4, 3)), tensors(7, (4, 3), seed=1)
    whole = [kernel(X, Y) for kernel in KERNELS]
    monkeypatch.setattr("scarce.kernels.functions._tensor_kernels._TILE", products)
    for kernel, expected in zip(KERNELS, whole, strict=True):
        np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-13)


# Decomposition.


def test_a_sum_of_few_components_is_found_again():
    random = np.random.default_rng(0)
    factors = [random.normal(size=(5, 2, d)) for d in (5, 4, 3)]
    X = np.einsum("ira,irb,irc->iabc", *factors)
    found = cp_factors(X, 2, 300)
    np.testing.assert_allclose(np.einsum("ira,irb,irc->iabc", *found), X, atol=1e-6)
    norms = [np.linalg.norm(factor, axis=2) for factor in found]
    np.testing.assert_allclose(norms[1], norms[0])
    np.testing.assert_allclose(norms[2], norms[0])


def test_more_components_than_singular_vectors():
    X = tensors(3, (3, 2, 2))
    found = cp_factors(X, 6, 300)
    np.testing.assert_allclose(np.einsum("ira,irb,irc->iabc", *found), X, atol=1e-6)


def test_components_of_a_tensor_do_not_depend_on_its_company():
    X = tensors(5, (3, 4, 2))
    together = CPKernel(rank=2)(X, X)
    alone = CPKernel(rank=2)(X[:1], X[1:2])
    np.testing.assert_allclose(alone[0, 0], together[0, 1], rtol=1e-10)


# Positive semidefinite, symmetric.


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_no_negative_eigenvalue(kernel, shape):
    X = np.concatenate([tensors(30, shape), np.zeros((1, *shape)), tensors(10, shape, seed=1)])
    X[-1] = X[0]
    K = kernel(X, X)
    np.testing.assert_allclose(K, K.T, atol=1e-13)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    assert eigenvalues[-1] > 1.0


# Limits and invariances.


def test_a_vector_is_a_tensor_of_order_one():
    X = tensors(8, (5,))
    flat = ProductModeKernel(mode_kernel=lambda A, B: rbf_kernel(A[:, :, 0], B[:, :, 0], gamma=0.3))
    np.testing.assert_allclose(flat(X, X), rbf_kernel(X, gamma=0.3))
    # A single factor has no other sign.
    np.testing.assert_allclose(CPKernel(gamma=0.3)(X, X), rbf_kernel(X, gamma=0.3))


def test_rbf_kernels_of_whole_unfoldings_are_one_of_vectors():
    X = tensors(8, (4, 3))

    def whole(A, B):
        return rbf_kernel(A.reshape(len(A), -1), B.reshape(len(B), -1), gamma=0.1)

    expected = rbf_kernel(X.reshape(8, -1), gamma=0.2)
    np.testing.assert_allclose(ProductModeKernel(mode_kernel=whole)(X, X), expected)


def test_one_slice_far_off_costs_its_share():
    X = np.zeros((1, 4, 3))
    Y = X.copy()
    Y[0, 1] = 1e3
    # One row of four is lost, and a part of every column.
    assert ProductModeKernel(gamma=(1.0, 0.0))(X, Y)[0, 0] == pytest.approx(3 / 4)
    assert ProductModeKernel(gamma=(0.0, 1.0))(X, Y)[0, 0] == 0.0


def test_rows_may_be_mixed():
    X = tensors(6, (4, 3))
    mixing = np.random.default_rng(5).normal(size=(6, 4, 4))
    low = X[:, :, :1] * np.array([1.0, -2.0, 0.5]) + X[:, :, 1:2] * np.array([0.3, 1.0, 2.0])
    kernel = SubspaceKernel(gamma=(0.5, 0.0), rank=2)
    np.testing.assert_allclose(np.diagonal(kernel(low, mixing @ low)), 1.0, atol=1e-12)
    turned = np.linalg.qr(mixing)[0]
    np.testing.assert_allclose(kernel(turned @ X, X), kernel(X, X), rtol=1e-10)
    # The columns do change.
    assert SubspaceKernel(gamma=(0.0, 0.5), rank=2)(turned @ X, X)[0, 0] < 0.9


def test_size_and_sign_do_not_matter_to_subspaces():
    X, kernel = tensors(6, (3, 4, 2)), SubspaceKernel(rank=2)
    scale = np.array([1.0, -1.0, 2.0, -0.3, 1e-3, 1e4]).reshape(-1, 1, 1, 1)
    np.testing.assert_allclose(kernel(scale * X, X), kernel(X, X), rtol=1e-9)


def test_directions_of_nothing_are_left_out():
    a = np.outer([1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 0.0])[None]
    b = np.outer([0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0])[None]
    for kernel in (SubspaceKernel, CPKernel):
        np.testing.assert_allclose(kernel(rank=3)(a, b), kernel(rank=1)(a, b), rtol=1e-12)


def test_signs_of_singular_vectors_do_not_matter(monkeypatch):
    X, Y = tensors(5, (4, 3)), tensors(4, (4, 3), seed=1)
    expected = [kernel(X, Y) for kernel in KERNELS]
    svd = np.linalg.svd
    random = np.random.default_rng(7)

    def other_signs(matrices, full_matrices):
        left, sizes, right = svd(matrices, full_matrices=full_matrices)
        signs = random.choice([-1.0, 1.0], size=sizes.shape)
        return left * signs[:, None, :], sizes, right * signs[:, :, None]

    monkeypatch.setattr(np.linalg, "svd", other_signs)
    for kernel, values in zip(KERNELS, expected, strict=True):
        np.testing.assert_allclose(kernel(X, Y), values, rtol=1e-10)


def test_linear_components_are_inner_products_of_approximations():
    X = tensors(6, (4, 3))
    left, sizes, right = np.linalg.svd(X, full_matrices=False)
    near = (left[:, :, :2] * sizes[:, None, :2]) @ right[:, :2]
    found = CPKernel(rank=2, factor_kernel="linear")(X, X)
    np.testing.assert_allclose(found, np.einsum("iab,jab->ij", near, near), rtol=1e-11)


# Input.


@pytest.mark.parametrize("kernel", [ProductModeKernel, SubspaceKernel, CPKernel])
def test_vectors_are_padded_and_folded_row_by_row(kernel):
    X = tensors(5, (5,))
    folded = np.zeros((5, 2, 3))
    folded[:, 0], folded[:, 1, :2] = X[:, :3], X[:, 3:]
    np.testing.assert_array_equal(
        kernel(tensor_shape=(2, 3))(X, X), kernel(tensor_shape=(2, 3))(folded, folded)
    )


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (ProductModeKernel(), np.ones(3), r"shape \(n, d1, ..., dk\), got \(3,\)"),
        (ProductModeKernel(), np.full((2, 2, 2), np.nan), "NaN or infinity"),
        (ProductModeKernel(tensor_shape=(2, 2)), np.ones((3, 5)), "at most 4 features, got .*5"),
        (ProductModeKernel(tensor_shape=(2, 2)), np.ones((3, 2, 3)), r"rows of shape \(2, 3\)"),
        (ProductModeKernel(gamma=(1.0,)), np.ones((3, 2, 2)), r"each of the 2 modes, got \(1.0,\)"),
        (SubspaceKernel(gamma=-1.0), np.ones((3, 2, 2)), "not below 0.*got -1.0"),
        (
            SubspaceKernel(gamma=(1.0, np.inf)),
            np.ones((3, 2, 2)),
            r"not below 0.*got \(1\.0, inf\)",
        ),
        (SubspaceKernel(), np.ones((3, 4)), "order 2 or more, got vectors"),
    ],
)
def test_wrong_rows_are_refused(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X, X)


def test_sparse_rows_are_refused():
    from scipy.sparse import csr_array

    with pytest.raises(ValueError, match=r"dense arrays, got a sparse matrix"):
        ProductModeKernel(tensor_shape=(2, 2))(csr_array(np.eye(4)), csr_array(np.eye(4)))


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=repr)
def test_tensors_of_different_shapes_are_refused(kernel):
    with pytest.raises(ValueError, match=r"shape \(3, 4\) cannot be compared .* \(4, 3\)"):
        kernel(tensors(2, (3, 4)), tensors(2, (4, 3)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SubspaceKernel(rank=0), "rank must be an integer of at least 1, got 0"),
        (lambda: CPKernel(rank=-1), "rank must be an integer of at least 1, got -1"),
        (lambda: CPKernel(factor_kernel="poly"), "factor_kernel .* got 'poly'"),
        (lambda: SubspaceKernel(rank=1.5), "rank must be an integer of at least 1, got 1.5"),
        (lambda: CPKernel(n_sweeps=0), "n_sweeps must be an integer of at least 1, got 0"),
        (lambda: CPKernel(n_sweeps=2.5), "n_sweeps must be an integer of at least 1, got 2.5"),
        (
            lambda: CPKernel(gamma="scale")(np.ones((2, 3, 3)), np.ones((2, 3, 3))),
            "gamma must be a number not below 0.* got 'scale'",
        ),
        (lambda: ProductModeKernel(mode_kernel="rbf"), "mode_kernel .* got 'rbf'"),
    ],
)
def test_wrong_parameters_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Through the estimators.

ESTIMATORS = [
    OneClassSVM(nu=0.3),
    transfer(nu=0.3),
    SVC(C=2.0),
    NuSVC(nu=0.4),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_the_same_model_as_from_the_matrix(estimator, kernel):
    X, y = tensors(24, (4, 3)), np.arange(24) % 2
    X[y == 1] += np.outer([1.0, 0.0, 1.0, 0.0], [1.0, 1.0, -1.0])
    new = tensors(9, (4, 3), seed=1)
    model = clone(estimator).set_params(kernel=kernel, tol=1e-6).fit(X, y)
    matrix = clone(estimator).set_params(kernel="precomputed", tol=1e-6).fit(kernel(X, X), y)
    np.testing.assert_allclose(
        model.decision_function(new), matrix.decision_function(kernel(new, X)), atol=1e-8
    )
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    again = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    assert again.kernel == kernel
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


@pytest.mark.parametrize(
    "estimator",
    [*ESTIMATORS, SVMC(mapping_nu=0.3, nu=0.2, diagnose=False), GroupProbabilitySVM()],
    ids=lambda e: type(e).__name__,
)
def test_linear_components_of_full_rank_are_the_linear_machine(estimator):
    X, y = tensors(24, (4, 3)) + 1.0, np.arange(24) % 2
    X[y == 1] += np.outer([1.0, 0.0, 1.0, 0.0], [1.0, 1.0, -1.0])
    rows = X.reshape(24, -1)
    kernel = CPKernel(rank=3, factor_kernel="linear")
    model = clone(estimator).set_params(kernel=kernel, tol=1e-8).fit(X, y)
    plain = clone(estimator).set_params(kernel="linear", tol=1e-8).fit(rows, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(rows), atol=1e-6)


def test_weights_and_domains_take_part():
    X, kernel = tensors(20, (4, 3)), CPKernel(gamma=0.2)
    weights = np.where(np.arange(20) < 5, 0.0, 1.0)
    model = OneClassSVM(kernel=kernel, tol=1e-8).fit(X, sample_weight=weights)
    expected = OneClassSVM(kernel=kernel, tol=1e-8).fit(X[5:])
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-8)
    domain = np.repeat([0, -1], 10)
    machine = transfer(kernel=kernel).fit(X, sample_domain=domain)
    assert machine.predict(X, sample_domain=domain).shape == (20,)


def test_searched_and_cross_validated():
    X, y = tensors(24, (4, 3)), np.arange(24) % 2
    X[y == 1] += 1.0
    grid = {"kernel": [ProductModeKernel(gamma=g) for g in (0.01, 0.1)], "C": [1.0, 10.0]}
    search = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.7
    assert search.predict(X).shape == (24,)
    assert cross_val_score(SVC(kernel=KERNELS[1]), X, y, cv=3).shape == (3,)


def test_new_tensors_of_another_shape_are_refused():
    model = OneClassSVM(kernel=SubspaceKernel()).fit(tensors(6, (4, 3)))
    with pytest.raises(ValueError, match=r"shape \(3, 4\) cannot be compared .* \(4, 3\)"):
        model.predict(tensors(2, (3, 4)))


def test_a_fit_prepares_every_row_once(monkeypatch):
    X = tensors(40, (4, 3))
    counted = []
    svd = np.linalg.svd

    def counting(matrices, full_matrices):
        counted.append(len(matrices))
        return svd(matrices, full_matrices=full_matrices)

    monkeypatch.setattr(np.linalg, "svd", counting)
    model = OneClassSVM(kernel=SubspaceKernel(gamma=(1.0, 0.0))).fit(X)
    assert counted == [40]
    counted.clear()
    model.decision_function(np.repeat(X, 60, axis=0))  # three blocks of rows
    assert sum(counted) == 2400 + model.support_.size
