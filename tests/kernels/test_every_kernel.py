"""Every kernel at every entry point: the answer of the same function given as a callable."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from scarce.kernels import (
    Kernel,
    group_mean_kernel,
    group_mean_values,
    make_kernel,
    make_operator,
    nystroem_operator,
    score_gradients,
    weighted_scores,
)

GAMMA, DEGREE, COEF0 = 0.3, 2, 0.7


def plain(X):
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


# The formulas, written out once more.
FORMULAS = {
    "linear": lambda X, Z: plain(X) @ plain(Z).T,
    "rbf": lambda X, Z: np.exp(-GAMMA * cdist(plain(X), plain(Z), "sqeuclidean")),
    "laplacian": lambda X, Z: np.exp(-GAMMA * cdist(plain(X), plain(Z), "cityblock")),
    "poly": lambda X, Z: (GAMMA * plain(X) @ plain(Z).T + COEF0) ** DEGREE,
    "sigmoid": lambda X, Z: np.tanh(GAMMA * plain(X) @ plain(Z).T + COEF0),
}
FORMS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_array,
    "sparse float32": lambda X: sparse.csr_array(X.astype(np.float32)),
}

by_name = pytest.mark.parametrize("name", FORMULAS)
by_form = pytest.mark.parametrize("form", FORMS)


def data(form, n=700, d=4):
    """Return rows in a form, of steps that every form holds exactly; some entries are zero."""
    random = np.random.default_rng(n)
    rows = np.round(32 * random.normal(size=(n, d))) / 32
    rows[random.random(rows.shape) < 0.3] = 0.0
    return FORMS[form](rows)


def pair(name):
    """Return a kernel by name, and the same function as a callable."""
    named = make_kernel(name, gamma=GAMMA, degree=DEGREE, coef0=COEF0)
    return named, make_kernel(FORMULAS[name])


def near(form):
    """Return how far an answer may be off, as a share of the sum of absolute terms."""
    return 1e-5 if "float32" in form else 1e-12


def test_every_name_has_a_formula_here():
    own = {name for name, kind in Kernel.named.items() if kind.__module__.startswith("scarce.")}
    assert own - {"precomputed", "callable"} == set(FORMULAS)


@by_name
@by_form
def test_values(name, form):
    named, called = pair(name)
    X, Z = data(form, 60), data(form, 50)
    found = named.values(X, Z)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, FORMULAS[name](X, Z), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found, called.values(X, Z), rtol=1e-12, atol=1e-12)


@by_name
@by_form
def test_operator(name, form):
    named, called = pair(name)
    X = data(form)
    one, other = make_operator(X, named), make_operator(X, called)
    assert one.n == other.n == X.shape[0]
    rows, columns = np.arange(0, 700, 3), np.arange(1, 700, 7)
    expected = FORMULAS[name](X, X)
    for operator in (one, other):
        np.testing.assert_allclose(operator.diagonal(), np.diag(expected), rtol=1e-6)
        found = operator.reference(rows, columns)
        np.testing.assert_allclose(found, expected[np.ix_(rows, columns)], rtol=1e-12, atol=1e-12)
    weights = np.random.default_rng(0).normal(size=(1, columns.size))
    groups = np.zeros(700, np.int64)
    size = np.abs(expected[:, columns]) @ np.abs(weights[0])
    for precision in one.precisions:
        sums = np.zeros(700)
        one.accumulate(columns, weights, groups, sums, precision)
        off = np.abs(sums - expected[:, columns] @ weights[0]) / size.max()
        assert off.max() <= near("float32" if precision == np.float32 else form)
        block = np.empty((rows.size, rows.size), precision)
        one.write_block(rows, block)
        off = np.abs(block - expected[np.ix_(rows, rows)]).max() / np.abs(expected).max()
        assert off <= near("float32" if precision == np.float32 else form)


@by_name
@by_form
def test_nystroem(name, form):
    named, called = pair(name)
    X, chosen = data(form, 300), np.arange(0, 300, 10)
    operator = nystroem_operator(X, named, chosen)
    K = FORMULAS[name](X, X)
    columns, weights = np.arange(0, 300, 2), np.random.default_rng(0).normal(size=150)
    # What is left of the kernel through the landmarks is a sum over them: the two ways to say it.
    through = operator.landmark_weights(columns, weights[None, :])[0]
    sums = np.zeros(300)
    operator.accumulate(columns, weights[None, :], np.zeros(300, np.int64), sums, np.float64)
    size = np.abs(K[:, chosen]) @ np.abs(through)
    np.testing.assert_allclose(sums, K[:, chosen] @ through, atol=1e-7 * size.max())
    # On the landmarks themselves nothing is lost, but directions of no or negative length.
    values, vectors = np.linalg.eigh(K[np.ix_(chosen, chosen)])
    kept = values > 1e-6 * np.abs(values).max()
    among = vectors[:, kept] * values[kept] @ vectors[:, kept].T
    found = operator.reference(chosen, chosen)
    if (values > -1e-9 * np.abs(values).max()).all():
        np.testing.assert_allclose(found, among, atol=1e-4 * np.abs(among).max())
    with pytest.raises(ValueError, match="formula"):
        nystroem_operator(X, called, chosen)


@by_name
@by_form
def test_scores(name, form):
    named, called = pair(name)
    X, Z = data(form, 300), data(form, 200)
    weights, groups = np.random.default_rng(0).normal(size=(2, 200)), np.arange(300) % 2
    found = weighted_scores(X, Z, weights, named, groups)
    values = FORMULAS[name](X, Z)
    expected = np.einsum("ij,ij->i", values, weights[groups])
    size = np.einsum("ij,ij->i", np.abs(values), np.abs(weights[groups]))
    assert (np.abs(found - expected) / size.max()).max() <= near(form)
    again = weighted_scores(X, Z, weights, called, groups)
    np.testing.assert_allclose(again, expected, atol=1e-12 * size.max())


@by_name
@by_form
def test_gradients(name, form):
    named, called = pair(name)
    X, Z = data(form, 60), data(form, 40)
    weights = np.random.default_rng(0).normal(size=(1, 40))
    with pytest.raises(ValueError, match="gradient"):
        score_gradients(X, Z, weights, called)
    if not named.has_gradient:
        with pytest.raises(ValueError, match=f"{name}.*gradient"):
            score_gradients(X, Z, weights, named)
        return
    found = score_gradients(X, Z, weights, named)
    assert found.shape == X.shape
    # Central differences of the formula itself.
    step = 1e-5
    expected = np.empty(X.shape)
    for column in range(X.shape[1]):
        shift = np.zeros(X.shape[1])
        shift[column] = step
        up = FORMULAS[name](plain(X) + shift, Z) @ weights[0]
        down = FORMULAS[name](plain(X) - shift, Z) @ weights[0]
        expected[:, column] = (up - down) / (2 * step)
    share = 1e-4 if "float32" in form else 1e-7
    np.testing.assert_allclose(found, expected, atol=share * np.abs(expected).max())


@by_name
@by_form
def test_group_means(name, form):
    named, called = pair(name)
    X = data(form, 300)
    codes, weights = np.arange(300) % 7 - 1, np.random.default_rng(0).uniform(0.1, 2.0, size=300)
    members = (codes == np.arange(6)[:, None]) * weights
    members /= members.sum(axis=1, keepdims=True)
    K = FORMULAS[name](X, X)
    expected = members @ K @ members.T
    size = (members @ np.abs(K) @ members.T).max()
    for kernel, share in ((named, near(form)), (called, 1e-12)):
        found = group_mean_kernel(X, codes, kernel, 6, weights)
        np.testing.assert_allclose(found, expected, atol=share * size)
    marks, beside = X[:9], members @ K[:, :9]
    size = (members @ np.abs(K[:, :9])).max()
    for kernel, share in ((named, near(form)), (called, 1e-12)):
        found = group_mean_values(X, codes, kernel, 6, marks, weights)
        np.testing.assert_allclose(found, beside, atol=share * size)


def test_precomputed():
    # The rows are the matrix: where rows are compared with others there is nothing to compare.
    given = make_kernel("precomputed")
    X = data("float64", 60)
    K = FORMULAS["rbf"](X, X)
    rows = np.arange(0, 60, 3)
    found = make_operator(K, given).reference(rows, rows)
    np.testing.assert_array_equal(found, K[np.ix_(rows, rows)])
    codes = np.arange(60) % 5
    expected = group_mean_kernel(X, codes, make_kernel(FORMULAS["rbf"]), 5)
    np.testing.assert_allclose(group_mean_kernel(K, codes, given, 5), expected, atol=1e-12)
    for call in (
        partial(nystroem_operator, K, given, rows),
        partial(weighted_scores, K, K, np.ones((1, 60)), given),
        partial(score_gradients, K, K, np.ones((1, 60)), given),
        partial(group_mean_values, K, codes, given, 5, K[:3]),
        partial(given.values, K, K),
    ):
        with pytest.raises(ValueError, match="precomputed"):
            call()


def test_unknown_kernels_are_refused():
    for kernel in ("cubic", 3, None):
        with pytest.raises(ValueError, match=r"kernel must be one of .*'rbf'.*got"):
            make_kernel(kernel)
