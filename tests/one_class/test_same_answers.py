"""What must not change a model of several tasks: order, names, repetition, storage."""

import pickle
from typing import Any

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn import config_context
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.one_class.samples import all_decisions, several_tasks
from tests.published import transfer, uoct

X, domain = several_tasks(1, (15, 25, 20))
weights = np.linspace(0.5, 2.0, len(X))
MODELS = (
    transfer(nu=0.23, tol=1e-8),
    transfer(nu=0.23, source_weight={0: 0.5, 1: 2.0}, radius="knn", tol=1e-8),
    transfer(nu=0.23, kernel="linear", radius="knn", tol=1e-8),
    transfer(nu=0.23, kernel="poly", radius=0.3, tol=1e-8),
    uoct(C_source=0.2, C_target=0.3, tol=1e-8),
)


def assert_same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.ptp(expected))


@pytest.fixture(params=MODELS, ids=lambda model: f"{type(model).__name__}-{model.kernel}")
def model(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_order_of_rows(model: Any) -> None:
    expected = all_decisions(model.fit(X, sample_weight=weights, sample_domain=domain), X)
    order = np.random.default_rng(0).permutation(len(X))
    model.fit(X[order], sample_weight=weights[order], sample_domain=domain[order])
    assert_same(all_decisions(model, X), expected)


def test_order_of_source_labels(model: Any) -> None:
    expected = all_decisions(model.fit(X, sample_domain=domain), X)
    swapped = np.array([-1, 1, 0])[domain + 1]
    parameters = model.get_params()
    if isinstance(parameters.get("source_weight"), dict):
        parameters["source_weight"] = {1: 0.5, 0: 2.0}
    other = type(model)(**parameters).fit(X, sample_domain=swapped)
    assert_same(all_decisions(other, X)[[0, 2, 1]], expected)


def test_weights_are_repetition(model: Any) -> None:
    counts = np.random.default_rng(1).integers(0, 4, size=len(X))
    often = np.repeat(np.arange(len(X)), counts)
    once = all_decisions(model.fit(X, sample_weight=counts, sample_domain=domain), X)
    repeated = all_decisions(model.fit(X[often], sample_domain=domain[often]), X)
    assert_same(once, repeated)


@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_weight_is_relative_to_that_of_the_task(radius: float) -> None:
    model = transfer(nu=0.23, gamma=0.2, radius=radius, tol=1e-8)
    expected = all_decisions(model.fit(X, sample_domain=domain), X)
    factors = np.array([1.0, 7.0, 0.3])[domain + 1]
    model.fit(X, sample_weight=factors, sample_domain=domain)
    assert_same(all_decisions(model, X), expected)


@pytest.mark.filterwarnings("ignore:kernel='sigmoid' is not positive semidefinite")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_sparse_rows(kernel: str) -> None:
    model = transfer(kernel=kernel, gamma=0.05, coef0=0.3, nu=0.23, tol=1e-8)
    dense = model.fit(X, sample_domain=domain)
    expected, value = all_decisions(dense, X), dense.objective_
    rows = sparse.csr_array(X)
    model.fit(rows, sample_domain=domain)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    found = [
        model.decision_function(rows, sample_domain=np.full(len(X), each))
        for each in model.domains_
    ]
    assert_same(np.array(found), expected)


def test_sparse_rows_of_a_linear_kernel_move() -> None:
    model = transfer(kernel="linear", radius="knn", nu=0.23, tol=1e-8)
    expected = model.fit(X, sample_domain=domain).decision_function(X)
    rows = sparse.csr_array(X)
    assert_same(model.fit(rows, sample_domain=domain).decision_function(rows), expected)


def test_precomputed_and_callable_kernels() -> None:
    K = rbf_kernel(X, gamma=0.2)
    some = np.where(np.arange(len(X)) % 7 == 0, 0.0, weights)
    parameters: dict[str, Any] = {"nu": 0.23, "tol": 1e-8}
    plain = transfer(gamma=0.2, **parameters)
    expected = all_decisions(plain.fit(X, sample_weight=some, sample_domain=domain), X)
    for kernel, rows in (("precomputed", K), (lambda a, b: rbf_kernel(a, b, gamma=0.2), X)):
        model = transfer(kernel=kernel, **parameters)
        model.fit(rows, sample_weight=some, sample_domain=domain)
        assert_same(all_decisions(model, rows), expected)


def test_saved_models(model: Any) -> None:
    model.fit(X, sample_weight=weights, sample_domain=domain)
    saved = skops.io.dumps(model)
    untrusted = skops.io.get_untrusted_types(data=saved)
    assert all(name.startswith("scarce.") for name in untrusted)
    for copied in (skops.io.loads(saved, trusted=untrusted), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(all_decisions(copied, X), all_decisions(model, X))
        assert copied.history_ == model.history_


def share_accepted(model: Any, rows: Any, y: Any = None) -> float:
    return float((model.predict(rows) == 1).mean())


def test_metadata_are_routed_without_set_up() -> None:
    radii = np.linspace(0.0, 0.5, len(X))
    scaled = StandardScaler().fit(X)
    alone = transfer(nu=0.3).fit(scaled.transform(X), sample_domain=domain, sample_radius=radii)
    expected = alone.decision_function(scaled.transform(X), sample_domain=domain)
    metadata = {"sample_domain": domain, "sample_radius": radii}
    folds = KFold(3, shuffle=True, random_state=0)
    with config_context(enable_metadata_routing=True):
        chain = make_pipeline(StandardScaler(), transfer(nu=0.3)).fit(X, **metadata)
        np.testing.assert_array_equal(chain.decision_function(X, sample_domain=domain), expected)
        np.testing.assert_array_equal(
            chain.predict(X, sample_domain=domain), np.where(expected >= 0, 1, -1)
        )
        search = GridSearchCV(
            chain, {"transferoneclasssvm__nu": [0.3]}, cv=folds, scoring=share_accepted
        ).fit(X, **metadata)
        found = search.best_estimator_.decision_function(X, sample_domain=domain)
        np.testing.assert_array_equal(found, expected)
        cross_val_score(uoct(C_source=0.5), X, cv=folds, scoring=share_accepted, params=metadata)
