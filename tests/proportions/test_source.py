"""Source models of every kind, and the errors that say what to do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC

import scarce
from tests.proportions.published import GroupProbabilitySVM, TransferGroupProbabilitySVM
from tests.proportions.samples import GAMMA, problem

RNG = np.random.default_rng(5)
SOURCE_X = RNG.normal(size=(60, 3)) + 0.5
SOURCE_Y = np.where(SOURCE_X[:, 0] > 0.4, "yes", "no")
CASE = problem("linear", 6)


def fitted(source, **settings):
    model = TransferGroupProbabilitySVM(source=source, **settings)
    return model.fit(CASE.X, CASE.y, CASE.groups)


LINEAR = {
    "SVC": SVC(kernel="linear"),
    "LinearSVC": LinearSVC(),
    "LogisticRegression": LogisticRegression(),
    "scarce.SVC": scarce.SVC(kernel="linear"),
    "pipeline": make_pipeline(StandardScaler(), LinearSVC()),
    "search": GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]}),
    "group probability": GroupProbabilitySVM(kernel="linear"),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("frozen", [True, False])
def test_linear_sources_equal_their_weights(name, frozen):
    source = clone(LINEAR[name]).fit(SOURCE_X, SOURCE_Y)
    origin = float(source.decision_function(np.zeros((1, 3)))[0])
    coef = source.decision_function(np.eye(3)) - origin
    by_hand = fitted((coef, origin), kernel="linear", transfer=2.0)
    model = fitted(FrozenEstimator(source) if frozen else source, kernel="linear", transfer=2.0)
    np.testing.assert_allclose(
        model.decision_function(CASE.shown), by_hand.decision_function(CASE.shown), atol=1e-9
    )
    assert model.objective_ == pytest.approx(by_hand.objective_)
    np.testing.assert_allclose(
        CASE.shown @ model.coef_[0] + model.intercept_, model.decision_function(CASE.shown)
    )


@pytest.mark.parametrize("source", [SVC(gamma=GAMMA), scarce.SVC(gamma=GAMMA)], ids=["sk", "own"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_kernel_sources(source, container):
    source = clone(source).fit(container(SOURCE_X), SOURCE_Y)
    model = fitted(FrozenEstimator(source), gamma=GAMMA, transfer=3.0)
    given = fitted(
        FrozenEstimator(SVC(gamma=GAMMA).fit(SOURCE_X, SOURCE_Y)),
        gamma=GAMMA,
        transfer=3.0,
        source_kernel="any",
    )
    np.testing.assert_allclose(
        model.decision_function(CASE.shown), given.decision_function(CASE.shown), atol=1e-3
    )
    # What is known of the source's weights enters the objective.
    dual = np.asarray(
        source.dual_coef_.todense() if container is not np.asarray else source.dual_coef_
    )
    vectors = source.support_vectors_
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    K = np.exp(-GAMMA * ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2))
    norm = float((dual @ K @ dual.T).item())
    assert model.objective_ - given.objective_ == pytest.approx(0.5 * 0.75 * norm, rel=1e-2)


def test_a_sparse_target_with_a_dense_source():
    source = FrozenEstimator(SVC(gamma=GAMMA).fit(SOURCE_X, SOURCE_Y))
    dense = fitted(source, gamma=GAMMA)
    model = TransferGroupProbabilitySVM(source=source, gamma=GAMMA)
    model.fit(sparse.csr_array(CASE.X), CASE.y, CASE.groups)
    np.testing.assert_allclose(
        model.decision_function(sparse.csr_array(CASE.shown)),
        dense.decision_function(CASE.shown),
        atol=1e-9,
    )


def test_a_callable_kernel_on_both_sides():
    source = SVC(kernel=laplacian_kernel).fit(SOURCE_X, SOURCE_Y)
    model = fitted(FrozenEstimator(source), kernel=laplacian_kernel)
    own = scarce.SVC(kernel=laplacian_kernel, tol=1e-6).fit(SOURCE_X, SOURCE_Y)
    same = fitted(FrozenEstimator(own), kernel=laplacian_kernel)
    np.testing.assert_allclose(
        model.decision_function(CASE.shown), same.decision_function(CASE.shown), atol=1e-2
    )


def test_clone_and_search_keep_a_frozen_source():
    source = FrozenEstimator(LinearSVC().fit(SOURCE_X, SOURCE_Y))
    model = clone(TransferGroupProbabilitySVM(source=source, kernel="linear"))
    model.fit(CASE.X, CASE.y, CASE.groups)
    plain = TransferGroupProbabilitySVM(source=LinearSVC().fit(SOURCE_X, SOURCE_Y), kernel="linear")
    with pytest.raises(NotFittedError, match=r"source=LinearSVC is not fitted.*FrozenEstimator\("):
        clone(plain).fit(CASE.X, CASE.y, CASE.groups)
    pair = clone(TransferGroupProbabilitySVM(source=([1.0, 0.0, 0.0], 0.1), kernel="linear"))
    pair.fit(CASE.X, CASE.y, CASE.groups)


def test_another_kernel():
    rbf = FrozenEstimator(SVC(gamma=0.7).fit(SOURCE_X, SOURCE_Y))
    linear = FrozenEstimator(LinearSVC().fit(SOURCE_X, SOURCE_Y))
    chain = FrozenEstimator(make_pipeline(StandardScaler(), SVC(gamma=0.7)).fit(SOURCE_X, SOURCE_Y))
    bent = make_pipeline(PolynomialFeatures(2), LinearSVC()).fit(SOURCE_X, SOURCE_Y)
    trees = FrozenEstimator(GradientBoostingClassifier(n_estimators=5).fit(SOURCE_X, SOURCE_Y))
    for source, settings, words in (
        (rbf, {"gamma": "auto"}, r"'rbf' with gamma=0.7, this.*\"auto\" of these.*set gamma=0.7"),
        (rbf, {"gamma": 0.5}, r"'rbf' with gamma=0.5: .*set gamma=0.7 here"),
        (rbf, {"kernel": "linear"}, r"source has kernel 'rbf'.* model has kernel 'linear'"),
        (linear, {"gamma": 0.7}, r"source has kernel 'linear'.*same kernel on the same features"),
        (chain, {"gamma": 0.7}, r"no kernel that could be recognised.*source_kernel=\"any\""),
        (bent, {"kernel": "linear"}, "no kernel that could be recognised"),
        (trees, {"gamma": 0.7}, "no kernel that could be recognised"),
    ):
        with pytest.raises(ValueError, match=words):
            fitted(source, **settings)
        model = fitted(source, source_kernel="any", **settings)
        assert np.isfinite(model.decision_function(CASE.shown)).all()


def test_a_given_function_enters_as_it_is():
    source = FrozenEstimator(GradientBoostingClassifier(n_estimators=5).fit(SOURCE_X, SOURCE_Y))
    model = fitted(source, gamma=GAMMA, transfer=1e8, source_kernel="any")
    shift = model.decision_function(CASE.shown) - source.decision_function(CASE.shown)
    assert np.ptp(shift) < 1e-6
    linear = fitted(source, kernel="linear", source_kernel="any")
    with pytest.raises(AttributeError, match="the source is a given function"):
        _ = linear.coef_


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ((1, 2, 3), "a pair .* tuple of length 3"),
        (("a", "b"), r"a pair \(coef, intercept\) of numbers, got \('a', 'b'\)"),
        (SVC, "source must be a fitted classifier .* got <class"),
        (([1.0, 2.0], 0.1), "source was fitted to 2 features, but X has 3"),
        (([1.0, np.nan, 0.0], 0.1), "finite coef and intercept"),
        ((np.ones((2, 3)), [0.1, 0.2]), "source must be one scorer of two classes.*got 2"),
        ((np.ones((2, 3)), [0.1, 0.2, 0.3]), r"one intercept for each row.*\(2, 3\) and \(3,\)"),
        ([], "got 0"),
        (RandomForestClassifier(3).fit(SOURCE_X, SOURCE_Y), "no decision_function; give a class"),
        (SVC(gamma=GAMMA).fit(SOURCE_X[:, :2], SOURCE_Y), "2 features, but X has 3"),
        (SVC(gamma=GAMMA).fit(SOURCE_X, np.arange(60) % 3), "separates 3 classes"),
        (7, "The 'source' parameter of TransferGroupProbabilitySVM must be"),
    ],
)
def test_sources_that_are_none(source, words):
    kernel = "linear" if isinstance(source, tuple | list) else "rbf"
    with pytest.raises(ValueError, match=words):
        fitted(source, kernel=kernel, gamma=GAMMA)


def test_a_precomputed_kernel_shows_no_rows():
    X = CASE.X @ CASE.X.T
    model = TransferGroupProbabilitySVM(source=([1.0] * 3, 0.0), kernel="precomputed")
    with pytest.raises(ValueError, match="a source is evaluated on the rows"):
        model.fit(X, CASE.y, CASE.groups)


def test_sources_of_several_classes():
    y = np.column_stack([1 - CASE.y, 0.5 * CASE.y, 0.5 * CASE.y])
    labels = np.arange(60) % 3
    many = LogisticRegression().fit(SOURCE_X, labels)
    lines = (many.coef_, many.intercept_)
    models = [
        TransferGroupProbabilitySVM(source=source, kernel="linear").fit(CASE.X, y, CASE.groups)
        for source in (lines, FrozenEstimator(many), list(zip(*lines, strict=True)))
    ]
    assert models[0].coef_.shape == (3, 3)
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_)
    with pytest.raises(ValueError, match="source must be a list of 3, one for each problem; got 1"):
        TransferGroupProbabilitySVM(source=(many.coef_[0], 0.0), kernel="linear").fit(
            CASE.X, y, CASE.groups
        )
