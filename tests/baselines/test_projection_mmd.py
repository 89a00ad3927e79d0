"""LMPROJ: the deflated kernel gives the optimum of the penalised primal."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_validate

from scarce import SVC, ProjectionMMDSVM
from tests.baselines.samples import GAMMA, assert_same, matrix, two_domains
from tests.oracles.classification import projected_means_svc
from tests.oracles.convex import feature_map

EXACT = {"gamma": GAMMA, "tol": 1e-8}
X, y, domain = two_domains(0)
source = domain >= 0
new = np.random.default_rng(99).normal(1.0, 1.5, size=(30, 3))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("penalty", [0.0, 0.7, 40.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_primal_by_a_generic_solver(kernel, penalty, weighted):
    weights = np.random.default_rng(3).uniform(0.3, 2.0, len(X)) if weighted else np.ones(len(X))
    model = ProjectionMMDSVM(C=0.8, shift_penalty=penalty, kernel=kernel, **EXACT)
    model.fit(X, y, sample_weight=weights if weighted else None, sample_domain=domain)
    features = feature_map(matrix(np.r_[X, new], kernel))
    means = [
        np.average(features[: len(X)][part], axis=0, weights=weights[part])
        for part in (source, ~source)
    ]
    primal = projected_means_svc(
        features[: len(X)][source],
        2.0 * y[source] - 1.0,
        0.8 * weights[source],
        means[0] - means[1],
        penalty,
    )
    value = primal.solve()
    plane = primal.weights.value
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    expected = features[len(X) :] @ plane + primal.offsets.value
    assert_same(model.decision_function(new), expected)
    assert model.mean_distance_ == pytest.approx(np.linalg.norm(means[0] - means[1]), rel=1e-9)
    assert model.mean_difference_ == pytest.approx(plane @ (means[0] - means[1]), abs=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_no_penalty_is_an_svc_on_the_source(kernel):
    plain = SVC(kernel=kernel, **EXACT).fit(X[source], y[source])
    model = ProjectionMMDSVM(kernel=kernel, shift_penalty=0.0, **EXACT)
    model.fit(X, y, sample_domain=domain)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert_same(model.decision_function(new), plain.decision_function(new), 1e-9)
    np.testing.assert_array_equal(model.n_support_, [*plain.n_support_, 0])
    np.testing.assert_array_equal(model.support_, np.flatnonzero(source)[plain.support_])


def test_one_domain_is_an_svc():
    plain, model = SVC().fit(X, y), ProjectionMMDSVM(shift_penalty=9.0).fit(X, y)
    # Not to the bit: the first small program of a process is solved without the compiler.
    answer, expected = model.decision_function(new), plain.decision_function(new)
    np.testing.assert_allclose(answer, expected, rtol=1e-9)
    assert (model.mean_distance_, model.mean_difference_) == (0.0, 0.0)


def test_equal_domains_are_an_svc():
    twice = np.r_[X, X]
    model = ProjectionMMDSVM(shift_penalty=1e6, **EXACT)
    model.fit(twice, np.r_[y, y], sample_domain=np.repeat([0, -1], len(X)))
    assert_same(model.decision_function(new), SVC(**EXACT).fit(X, y).decision_function(new), 1e-6)


def test_the_mean_scores_come_together():
    left = []
    for penalty in (0.0, 1.0, 100.0, 1e8):
        model = ProjectionMMDSVM(shift_penalty=penalty, **EXACT).fit(X, y, sample_domain=domain)
        scores = model.decision_function(X)
        apart = scores[source].mean() - scores[~source].mean()
        assert model.mean_difference_ == pytest.approx(apart, abs=1e-9)
        left.append(abs(apart))
    assert np.all(np.diff(left) < 0)
    assert left[-1] < 1e-6 * left[0]


def test_a_small_rest_of_a_large_difference():
    # One column: ``w = C / (1 + penalty d^2)`` with both rows at their bounds, and ``w d`` is left.
    far = np.array([[0.0], [1.0], [1e8], [1e8 + 1.0]])
    model = ProjectionMMDSVM(kernel="linear", C=1.0, shift_penalty=2.0)
    model.fit(far, [0, 1, 0, 1], sample_domain=[0, 0, -1, -1])
    assert model.mean_difference_ == pytest.approx(-1e8 / (1.0 + 2e16), rel=1e-9)


@pytest.mark.parametrize("nothing", [np.nan, -1.0, 77.0])
def test_labels_of_the_target_are_not_looked_at(nothing):
    hidden = np.where(source, y, nothing)
    one = ProjectionMMDSVM().fit(X, y, sample_domain=domain)
    other = ProjectionMMDSVM().fit(X, hidden, sample_domain=domain)
    np.testing.assert_array_equal(one.decision_function(new), other.decision_function(new))
    np.testing.assert_array_equal(other.classes_, [0, 1])


def test_balanced_classes_are_those_of_the_source():
    labels = np.where(np.cumsum(source) % 4 == 0, "yes", "no")
    counts = [(labels[source] == name).sum() for name in ("no", "yes")]
    labels[~source] = "unknown"
    model = ProjectionMMDSVM(class_weight="balanced").fit(X, labels, sample_domain=domain)
    np.testing.assert_allclose(model.class_weight_, source.sum() / (2.0 * np.array(counts)))


def test_several_sources_are_one():
    parts = np.where(source, np.arange(len(X)) % 3, -5)
    one = ProjectionMMDSVM().fit(X, y, sample_domain=parts)
    other = ProjectionMMDSVM().fit(X, y, sample_domain=domain)
    np.testing.assert_array_equal(one.decision_function(new), other.decision_function(new))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_weights_equal_repetition(kernel, container):
    counts = np.random.default_rng(0).integers(0, 4, size=len(X))
    often = np.repeat(np.arange(len(X)), counts)
    rows = container(X)
    once = ProjectionMMDSVM(kernel=kernel).fit(rows, y, sample_weight=counts, sample_domain=domain)
    again = ProjectionMMDSVM(kernel=kernel).fit(rows[often], y[often], sample_domain=domain[often])
    assert_same(
        once.decision_function(container(new)), again.decision_function(container(new)), 1e-6
    )
    assert once.objective_ == pytest.approx(again.objective_, rel=1e-6)


def test_other_forms_of_the_same_kernel():
    plain = ProjectionMMDSVM(**EXACT).fit(X, y, sample_domain=domain)
    expected = plain.decision_function(new)
    given = ProjectionMMDSVM(kernel="precomputed", tol=1e-8)
    given.fit(rbf_kernel(X, gamma=GAMMA), y, sample_domain=domain)
    assert_same(given.decision_function(rbf_kernel(new, X, gamma=GAMMA)), expected, 1e-8)
    called = ProjectionMMDSVM(kernel=lambda a, b: rbf_kernel(a, b, gamma=GAMMA), tol=1e-8)
    assert_same(called.fit(X, y, sample_domain=domain).decision_function(new), expected, 1e-8)
    thin = sparse.csr_array(X)
    model = ProjectionMMDSVM(**EXACT).fit(thin, y, sample_domain=domain)
    assert_same(model.decision_function(sparse.csr_array(new)), expected, 1e-8)
    low = ProjectionMMDSVM(approximation="nystroem", n_components=len(X), **EXACT)
    assert_same(low.fit(X, y, sample_domain=domain).decision_function(new), expected, 1e-3)
    single = X.astype(np.float32)
    model = ProjectionMMDSVM(**EXACT).fit(single, y, sample_domain=domain)
    assert model.support_vectors_.dtype == np.float32
    assert_same(model.decision_function(new.astype(np.float32)), expected, 1e-4)


def test_a_sample_beyond_single_blocks():
    # Above the size from which the solver works in single precision and in parts.
    X, y, domain = two_domains(1, 900, 600)
    model = ProjectionMMDSVM(shift_penalty=50.0).fit(X, y, sample_domain=domain)
    exact = ProjectionMMDSVM(shift_penalty=50.0, kernel=_scaled_rbf(X)).fit(
        X, y, sample_domain=domain
    )
    assert model.fit_status_ == 0
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-4)
    assert_same(model.decision_function(new), exact.decision_function(new), 5e-3)


def _scaled_rbf(X):
    gamma = 1.0 / (X.shape[1] * X.var())
    return lambda a, b: rbf_kernel(a, b, gamma=gamma)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.full(len(X), -1), "labelled rows of a source by values of at least 0"),
        (np.zeros(len(X), int), "rows of one target by one negative value"),
        (np.arange(len(X)) - 3, "got the negative values"),
        (np.zeros(len(X) - 1, int), "one value per row"),
        (np.full(len(X), 0.5), "whole numbers"),
    ],
)
def test_domains_that_do_not_fit(given, message):
    with pytest.raises(ValueError, match=message):
        ProjectionMMDSVM().fit(X, y, sample_domain=given)


def test_domains_without_weight():
    with pytest.raises(ValueError, match="every row of the target has sample_weight 0"):
        ProjectionMMDSVM().fit(X, y, sample_weight=source, sample_domain=domain)
    with pytest.raises(ValueError, match="samples with positive weights belong to the same class"):
        ProjectionMMDSVM().fit(X, y, sample_weight=~source, sample_domain=domain)


def test_domains_reach_every_fold():
    seen = []

    class Watched(ProjectionMMDSVM):
        def fit(self, X, y, sample_weight=None, *, sample_domain=None):
            seen.append(sample_domain)
            return super().fit(X, y, sample_weight, sample_domain=sample_domain)

    with config_context(enable_metadata_routing=True):
        cross_validate(Watched(), X, y, cv=3, params={"sample_domain": domain}, error_score="raise")
    assert len(seen) == 3
    assert all(set(each) == {2, -1} for each in seen)
