"""One against one: the same as scikit-learn's, and as two-class machines of every pair."""

from itertools import combinations

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

import scarce
from scarce import SVC, NuSVC
from scarce.testing import Recorder
from tests.versions import NEEDS_CALLBACKS

KINDS = {"SVC": {"C": 2.0}, "NuSVC": {"nu": 0.6}}
X, Y = make_blobs(n_samples=150, centers=4, n_features=3, cluster_std=2.5, random_state=0)
X = X - X.mean(axis=0)
NAMES = np.array(["d", "b", "a", "c"])[Y]  # in another order than the rows
NEW = X[::3] + 0.5


def both(name, **parameters):
    given = {**KINDS[name], **parameters}
    return (
        getattr(scarce, name)(tol=1e-8, **given),
        getattr(sklearn.svm, name)(tol=1e-9, **given),
    )


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_same_as_scikit_learn(name, kernel, container):
    ours, theirs = (m.fit(container(X), NAMES) for m in both(name, kernel=kernel, gamma=0.1))
    for attribute in ("classes_", "support_", "n_support_"):
        np.testing.assert_array_equal(getattr(ours, attribute), getattr(theirs, attribute))
    for attribute in ("dual_coef_", "intercept_", "support_vectors_", "class_weight_"):
        mine, other = getattr(ours, attribute), getattr(theirs, attribute)
        assert type(mine) is type(other)
        if sparse.issparse(mine):
            mine, other = mine.toarray(), other.toarray()
        np.testing.assert_allclose(mine, other, atol=1e-4 * np.abs(other).max())
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    assert ours.n_iter_.dtype == theirs.n_iter_.dtype
    for shape in ("ovo", "ovr"):
        for model in (ours, theirs):
            model.decision_function_shape = shape
        expected = theirs.decision_function(container(NEW))
        found = ours.decision_function(container(NEW))
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_array_equal(ours.predict(container(NEW)), theirs.predict(container(NEW)))
    if kernel == "linear":
        mine, other = ours.coef_, theirs.coef_
        assert sparse.issparse(mine) == sparse.issparse(other)
        mine, other = (c.toarray() if sparse.issparse(c) else c for c in (mine, other))
        np.testing.assert_allclose(mine, other, atol=1e-4 * np.abs(other).max())
    else:
        assert not hasattr(ours, "coef_")


@pytest.mark.parametrize("name", KINDS)
def test_pairs_are_machines_of_two_classes(name):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))
    model = getattr(scarce, name)(gamma=0.1, decision_function_shape="ovo", **KINDS[name])
    model.fit(X, Y, sample_weight=weights)
    decisions, objectives, violations, gaps = [], [], [], []
    for first, second in combinations(range(4), 2):
        rows = (first == Y) | (second == Y)
        pair = getattr(scarce, name)(gamma=0.1, **KINDS[name])
        pair.fit(X[rows], Y[rows], sample_weight=weights[rows])
        decisions.append(-pair.decision_function(NEW))
        objectives.append(pair.objective_)
        violations.append(pair.kkt_violation_)
        gaps.append(pair.dual_gap_)
    np.testing.assert_allclose(model.decision_function(NEW).T, decisions, rtol=1e-6, atol=1e-9)
    assert model.objective_ == pytest.approx(sum(objectives))
    assert model.kkt_violation_ == pytest.approx(max(violations), abs=1e-9)
    assert model.dual_gap_ == pytest.approx(max(gaps), abs=1e-9)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.1}])
def test_class_weights(class_weight):
    kept = np.flatnonzero((Y > 0) | (np.arange(len(Y)) % 3 == 0))
    ours, theirs = both("SVC", class_weight=class_weight, gamma=0.1)
    for model in (ours, theirs):
        model.fit(X[kept], Y[kept])
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    expected = theirs.decision_function(NEW)
    np.testing.assert_allclose(ours.decision_function(NEW), expected, atol=1e-5)
    equal = SVC(class_weight="equal-total").fit(X[kept], Y[kept])
    totals = np.bincount(Y[kept]) * equal.class_weight_
    np.testing.assert_allclose(totals, totals[0])


@pytest.mark.parametrize("name", KINDS)
def test_a_precomputed_kernel(name):
    ours, theirs = both(name, kernel="precomputed")
    K, new = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2)), X[:7]
    for model in (ours, theirs):
        model.fit(K, Y)
    values = np.exp(-0.1 * ((new[:, None] - X[None]) ** 2).sum(axis=2))
    expected = theirs.decision_function(values)
    np.testing.assert_allclose(
        ours.decision_function(values), expected, atol=1e-4 * np.abs(expected).max()
    )


@pytest.mark.parametrize("name", KINDS)
def test_a_warm_start_goes_on_where_it_stopped(name):
    model = getattr(scarce, name)(gamma=0.1, warm_start=True, tol=1e-6, **KINDS[name])
    expected = model.fit(X, Y).decision_function(NEW)
    first = model.n_iter_.sum()
    model.fit(X, Y)
    assert model.n_iter_.sum() < 0.2 * first
    np.testing.assert_allclose(model.decision_function(NEW), expected, atol=1e-5)
    other = np.minimum(Y, 2)  # fewer classes: the old multipliers say nothing
    fresh = getattr(scarce, name)(gamma=0.1, tol=1e-6, **KINDS[name]).fit(X, other)
    again = model.fit(X, other).decision_function(NEW)
    np.testing.assert_allclose(again, fresh.decision_function(NEW), atol=1e-5)


def test_pairs_may_share_the_kernel_matrix_or_not():
    shared, own = SVC(gamma=0.1).fit(X, Y), SVC(gamma=0.1, cache_size=0.1).fit(X, Y)
    np.testing.assert_array_equal(shared.support_, own.support_)
    np.testing.assert_allclose(shared.dual_coef_, own.dual_coef_, atol=1e-6)


@NEEDS_CALLBACKS
def test_callbacks_hear_of_every_pair():
    listener = Recorder()
    SVC().set_callbacks(listener).fit(X, Y)
    assert listener.events.count("begin round") == 6
    assert listener.events.count("end fit") == 1


def test_the_number_of_threads_does_not_matter(monkeypatch):
    monkeypatch.setattr("scarce.classification._margin_machine.THREADED_ROWS", 0)
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        answers.append(SVC().fit(X, Y).decision_function(NEW))
    np.testing.assert_array_equal(answers[0], answers[1])


def test_ties_are_broken_by_decision_values():
    rows, labels = load_iris(return_X_y=True)
    grid = np.random.default_rng(0).uniform(rows.min(), rows.max(), size=(4000, 4))
    first = SVC(gamma=5.0).fit(rows, labels)
    best = SVC(gamma=5.0, break_ties=True).fit(rows, labels)
    assert (best.predict(grid) == best.decision_function(grid).argmax(axis=1)).all()
    theirs = sklearn.svm.SVC(gamma=5.0, break_ties=True, tol=1e-9).fit(rows, labels)
    assert np.mean(best.predict(grid) == theirs.predict(grid)) > 0.99
    assert (first.predict(rows) == best.predict(rows)).mean() > 0.95


@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_what_is_refused(kind):
    with pytest.raises(ValueError, match=r"approximation='nystroem' is for two classes, got 4; "):
        kind(approximation="nystroem").fit(X, Y)
    with pytest.raises(ValueError, match=r"class (np.int64\()?2\)? has no sample with a pos"):
        kind().fit(X, Y, sample_weight=np.where(Y == 2, 0.0, 1.0))


def test_nu_that_one_pair_cannot_have():
    few = np.flatnonzero((Y < 2) | (np.arange(len(Y)) % 5 == 0))
    with pytest.raises(ValueError, match=r"specified nu is infeasible: nu=0.9"):
        NuSVC(nu=0.9).fit(X[few], Y[few])
