"""Known classes or none of them: the rate of false "unknown", sets, ties, and bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.ensemble import IsolationForest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce
from scarce import (
    SVC,
    SVDD,
    CalibratedOneClass,
    OneClassSVM,
    OpenSetClassifier,
    ScarceDataWarning,
)

CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])


def rows_of(n, seed, centres=CENTRES):
    random = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(centres)), n)
    return centres[y] + random.normal(size=(y.size, 2)), y


@pytest.mark.parametrize("rate", [0.05, 0.2])
@pytest.mark.parametrize("n", [40, 120])
def test_no_more_known_rows_are_called_unknown_than_allowed(n, rate):
    """Means of several draws, each rate a Beta of standard deviation sqrt(rate / n) or so."""
    called, missed, draws = [], [], 5
    for seed in range(draws):
        model = OpenSetClassifier(false_alarms=rate).fit(*rows_of(n, seed))
        X, y = rows_of(300, 1000 + seed)
        called.append(np.mean(model.predict(X) == model.unknown_label_))
        missed.append(1.0 - model.predict_set(X)[np.arange(y.size), y].mean())
    sure = 2.5 * np.sqrt(rate * (1 - rate) / (n * 3 * draws)) + 0.01
    assert np.mean(called) <= rate + sure
    assert abs(np.mean(missed) - rate) <= sure + 1.0 / (n + 1)  # steps of p-values
    assert np.mean(called) > 0.0


def test_unknown_rows_are_found_and_known_ones_are_told_apart():
    X, y = rows_of(100, 0)
    names = np.array(["ant", "bee", "cat"])[y]
    model = OpenSetClassifier().fit(X, names)
    new, truth = rows_of(200, 1)
    found = model.predict(new)
    known = found != "unknown"
    assert np.mean(found[known] == np.array(["ant", "bee", "cat"])[truth][known]) > 0.93
    far = np.random.default_rng(2).normal([8.0, 8.0], 1.0, size=(50, 2))
    assert (model.predict(far) == "unknown").all()
    assert model.score_samples(far).max() < np.quantile(model.score_samples(new), 0.02)
    assert not model.predict_set(far).any()


def test_answers_agree_with_the_models_of_the_classes():
    X, y = rows_of(40, 3)
    model = OpenSetClassifier(false_alarms=0.1).fit(X, y)
    new = rows_of(50, 4)[0]
    own = [CalibratedOneClass(false_alarms=0.1).fit(X[y == c]) for c in range(3)]
    accepted = np.column_stack([each.predict(new) == 1 for each in own])
    np.testing.assert_array_equal(model.predict_set(new), accepted)
    np.testing.assert_allclose(
        model.p_values(new), np.column_stack([each.p_values(new) for each in own])
    )
    np.testing.assert_array_equal(model.predict(new) == -1, ~accepted.any(axis=1))
    assert accepted[np.arange(150), model.predict(new)][accepted.any(axis=1)].all()


def test_a_classifier_names_the_class_among_those_accepted():
    """The rule again, with scikit-learn's SVC in place of ours, and with another classifier."""
    centres = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])
    X, y = rows_of(60, 13, centres)
    new, truth = rows_of(200, 14, centres)
    model = OpenSetClassifier(false_alarms=0.1).fit(X, y)
    names = make_pipeline(StandardScaler(), svm.SVC(C=10.0, tol=1e-6)).fit(X, y).predict(new)
    found, accepted = model.predict(new), model.predict_set(new)
    taken = accepted[np.arange(600), names]
    assert np.mean(found[taken] == names[taken]) > 0.995  # scikit-learn's SVC, up to the tolerance
    assert (found[~accepted.any(axis=1)] == -1).all()
    others = ~taken & accepted.any(axis=1)
    assert accepted[others, found[others]].all()
    own = OpenSetClassifier(false_alarms=0.1, classifier=GaussianNB()).fit(
        X, np.array(list("abc"))[y]
    )
    named = GaussianNB().fit(X, y).predict(new)
    taken = own.predict_set(new)[np.arange(600), named]
    np.testing.assert_array_equal(own.predict(new)[taken], np.array(list("abc"))[named[taken]])
    assert np.mean(own.predict(new) == np.array(list("abc"))[truth]) > 0.6


def test_a_classifier_without_weights_is_refused_where_they_are_given():
    X, y = rows_of(20, 15)
    model = OpenSetClassifier(classifier=KNeighborsClassifier())
    assert (model.fit(X, y).predict(X) == y).mean() > 0.8
    with pytest.raises(ValueError, match="sample_weight is given, and KNeighborsClassifier"):
        model.fit(X, y, sample_weight=np.ones(60))


def test_sparse_rows():
    X, y = rows_of(40, 16)
    dense = OpenSetClassifier(OneClassSVM(nu=0.1), classifier=SVC(C=10.0)).fit(X, y)
    model = OpenSetClassifier(OneClassSVM(nu=0.1)).fit(sparse.csr_array(X), y)
    new = rows_of(40, 17)[0]
    np.testing.assert_array_equal(model.predict(sparse.csr_array(new)), dense.predict(new))


@pytest.mark.parametrize(
    "estimator",
    [
        OneClassSVM(nu=0.1, gamma="neighbors"),
        SVDD(nu=0.1),
        OneClassSVM(kernel="linear", nu=0.1),  # no distances
        IsolationForest(n_estimators=20, random_state=0),
    ],
    ids=["svm", "svdd", "linear", "forest"],
)
@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.filterwarnings("ignore:.*The solution is trivial")
def test_any_detector(estimator):
    X, y = rows_of(60, 5)
    model = OpenSetClassifier(estimator, false_alarms=0.1).fit(X, y)
    new = rows_of(60, 6)[0]
    assert np.mean(model.predict(new) == -1) < 0.2
    assert np.isfinite(model.score_samples(new)).all()
    if not (isinstance(estimator, OneClassSVM) and estimator.kernel == "linear"):
        assert model.predict([[90.0, -90.0]]) == [-1]


def test_weights_are_repetition():
    X, y = rows_of(30, 7)
    weights = np.random.default_rng(0).integers(0, 3, size=y.size)
    one = OpenSetClassifier().fit(X, y, sample_weight=weights)
    other = OpenSetClassifier().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    new = rows_of(20, 8)[0]
    np.testing.assert_allclose(one.p_values(new), other.p_values(new), atol=1e-9)
    np.testing.assert_array_equal(one.predict(new), other.predict(new))


def test_saved_and_loaded(tmp_path):
    X, y = rows_of(30, 9)
    model = OpenSetClassifier().fit(X, np.array(["a", "b", "c"])[y])
    scarce.save(model, tmp_path / "m.skops")
    again = scarce.load(tmp_path / "m.skops")
    new = rows_of(20, 10)[0]
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert again.unknown_label_ == "unknown"


def test_labels_of_all_kinds():
    X, y = rows_of(20, 11)
    far = [[99.0, 99.0]]
    for labels, unknown in (
        (y - 1, -2),
        (y.astype(float), -1.0),
        (np.array(["a", "b", "c"], object)[y], "unknown"),
    ):
        assert OpenSetClassifier(false_alarms=0.1).fit(X, labels).predict(far) == [unknown]


def test_bad_input():
    X, y = rows_of(20, 12)
    with pytest.raises(ValueError, match="classes has to be greater than one; got 1 class"):
        OpenSetClassifier().fit(X, np.zeros(60, int))
    with pytest.raises(ValueError, match=r"class 3 with 1 rows: .* at least 2 distinct rows"):
        OpenSetClassifier().fit(np.r_[X, [[9.0, 9.0]]], np.append(y, 3))
    with pytest.raises(ValueError, match="y holds the label 'unknown'"):
        OpenSetClassifier().fit(X, np.array(["a", "unknown", "c"])[y])
    with pytest.raises(ValueError, match="false_alarms"):
        OpenSetClassifier(false_alarms=0.0).fit(X, y)
    with pytest.warns(ScarceDataWarning, match="class 1: false_alarms=0.05 is not attainable"):
        OpenSetClassifier().fit(np.r_[X[:20], X[20:28]], y[:28])
