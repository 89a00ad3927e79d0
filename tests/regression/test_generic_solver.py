"""The regressors against a generic solver of their primals."""

import numpy as np
import pytest

from scarce import SVR, NuSVR
from tests.oracles import regression
from tests.oracles.convex import feature_map
from tests.oracles.samples import gram, rows

KINDS = ["gaussian", "duplicated", "zeros", "flat"]


def case(kind, name, seed=0, n=25):
    """Return a kernel matrix, its features, targets and weights."""
    rng = np.random.default_rng(seed)
    X = rows(rng, n, kind)
    K = gram(X, name)
    return K, feature_map(K), X[:, 0] + rng.normal(size=n), rng.uniform(0.3, 2.0, size=n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize(("C", "width"), [(0.3, 0.1), (10.0, 0.5), (2.0, 0.0)])
def test_svr(kind, name, C, width):
    K, features, targets, weights = case(kind, name)
    model = SVR(kernel="precomputed", C=C, epsilon=width, tol=1e-9)
    model.fit(K, targets, sample_weight=weights)
    primal = regression.svr(features, targets, width, C * weights)
    best = primal.solve()
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    w = model.dual_coef_[0] @ features[model.support_]
    assert primal.value_at(w, model.intercept_) == pytest.approx(best, rel=1e-6)
    assert model.fit_status_ == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize(("C", "nu"), [(0.3, 0.2), (10.0, 0.5), (2.0, 1.0)])
def test_nu_svr(kind, name, C, nu):
    K, features, targets, weights = case(kind, name)
    model = NuSVR(kernel="precomputed", C=C, nu=nu, tol=1e-9)
    model.fit(K, targets, sample_weight=weights)
    primal = regression.nu_svr(features, targets, nu, C * weights)
    best = primal.solve()
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    w = model.dual_coef_[0] @ features[model.support_]
    offsets = [model.intercept_[0], model.epsilon_]
    assert primal.value_at(w, offsets) == pytest.approx(best, rel=1e-6)
    assert model.fit_status_ == 0
    # What nu is about: at most this share outside the tube, at least this share on or outside.
    off = np.abs(targets - model.predict(K)) - model.epsilon_
    assert weights[off > 1e-6].sum() <= nu * weights.sum() * (1 + 1e-9)
    assert weights[off > -1e-6].sum() >= nu * weights.sum() * (1 - 1e-9)


def test_the_width_found_gives_the_same_function():
    K, _, targets, _ = case("gaussian", "rbf", n=60)
    free = NuSVR(kernel="precomputed", nu=0.4, C=3.0, tol=1e-9).fit(K, targets)
    given = SVR(kernel="precomputed", epsilon=free.epsilon_, C=3.0, tol=1e-9).fit(K, targets)
    np.testing.assert_allclose(given.predict(K), free.predict(K), atol=1e-6)
    assert given.objective_ + 0.4 * 3.0 * 60 * free.epsilon_ == pytest.approx(free.objective_)


def test_a_kernel_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"kernel must return an array of shape \(2, 2\)"):
        SVR(kernel=lambda X, Z: np.ones((1, 1))).fit([[0.0], [1.0]], [0.0, 0.5])


def test_labels_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="could not convert string to float"):
        SVR().fit([[0.0], [1.0]], ["a", "b"])
