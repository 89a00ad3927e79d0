"""A threshold for any detector: weights, signs, and the detector that is taken by default."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce import CalibratedOneClass, OneClassSVM
from scarce.model_selection import _detector

random = np.random.default_rng(0)
X, NEW = random.normal(size=(60, 4)), random.normal(size=(300, 4))


class Distances(BaseEstimator):
    """The distance from the mean, which is higher for odd rows; ``sign`` turns it."""

    def __init__(self, sign=1.0):
        self.sign = sign

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def decision_function(self, X):
        return self.sign * np.linalg.norm(np.asarray(X) - np.asarray(self.mean_), axis=1)


def test_the_default_holds_a_scaler():
    stretched = X * np.array([1.0, 10.0, 100.0, 1e4])
    chain = make_pipeline(StandardScaler(), OneClassSVM(gamma="neighbors", nu=0.1))
    found, expected = (
        CalibratedOneClass(detector).fit(stretched).decision_function(stretched)
        for detector in (None, chain)
    )
    np.testing.assert_array_equal(found, expected)
    rows = sparse.csr_array(np.abs(X))
    model = CalibratedOneClass().fit(rows)  # whose zeros stay
    expected = CalibratedOneClass(OneClassSVM(gamma="neighbors", nu=0.1)).fit(rows)
    np.testing.assert_array_equal(model.decision_function(rows), expected.decision_function(rows))


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("detector", [None, OneClassSVM(nu=0.2)])
def test_weights_are_repetition(routing, detector):
    counts = np.random.default_rng(1).integers(0, 3, 60)
    model = CalibratedOneClass(detector)
    with config_context(enable_metadata_routing=routing):
        often = model.fit(np.repeat(X, counts, axis=0)).decision_function(NEW)
        once = model.fit(X, sample_weight=counts.astype(float)).decision_function(NEW)
    np.testing.assert_allclose(once, often, atol=1e-9)


@pytest.mark.parametrize("chain", [False, True])
def test_weights_that_nobody_takes_are_refused(chain):
    detector = LocalOutlierFactor(novelty=True)
    detector = make_pipeline(StandardScaler(), detector) if chain else detector
    with pytest.raises(ValueError, match=r"LocalOutlierFactor\.fit.* takes no weights"):
        CalibratedOneClass(detector).fit(X, sample_weight=np.ones(60))


def test_a_detector_that_is_upside_down_is_refused():
    with pytest.raises(ValueError, match=r"Distances scores rows.* above the median row"):
        CalibratedOneClass(Distances()).fit(X)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="above the median row"):
        CalibratedOneClass(Distances()).fit(pandas.DataFrame(X, columns=list("abcd")))
    model = CalibratedOneClass(Distances(-1.0)).fit(X)
    assert 0.02 < np.mean(model.predict(NEW) == -1) < 0.25


def test_known_detectors_are_not():
    for detector in (
        IsolationForest(n_estimators=20, random_state=0),
        LocalOutlierFactor(novelty=True),
        OneClassSVM(kernel="poly", degree=2, coef0=1.0),  # grows on both sides, as it must
        OneClassSVM(kernel="linear"),
    ):
        CalibratedOneClass(detector, cv=5).fit(X + 3.0)


def test_signs_of_pyod_are_turned():
    knn = pytest.importorskip("pyod.models.knn").KNN
    for detector in (knn(), make_pipeline(StandardScaler(), knn())):
        model = CalibratedOneClass(detector, cv=5).fit(X)
        assert 0.02 < np.mean(model.predict(NEW) == -1) < 0.25
        assert (model.predict(NEW + 8.0) == -1).all()
        assert (model.p_values(NEW + 8.0) <= 1 / 61 + 1e-12).all()


class Ranks(BaseEstimator):
    """Ranks rows among those of the fit and those they come with, as pyod's ECOD does."""

    def fit(self, X, y=None):
        self.rows_ = X[:, 0]
        return self

    def score_samples(self, X):
        rows = np.r_[self.rows_, X[:, 0]]
        reached = (rows <= X[:, :1]).mean(axis=1)
        return np.minimum(reached, 1.0 - reached)


@pytest.mark.parametrize("method", ["one_model", "cv+"])
def test_rows_are_scored_alone_where_those_beside_them_would_matter(method):
    model = CalibratedOneClass(Ranks(), method=method).fit(X)
    reached = (1 + (X[:, 0] <= NEW[:, :1]).sum(axis=1)) / 61
    expected = np.minimum(reached, 1.0 - reached)
    np.testing.assert_allclose(model.score_samples(NEW), expected, rtol=1e-12)
    together, alone = model.p_values(NEW), [model.p_values(row[None])[0] for row in NEW]
    np.testing.assert_array_equal(together, alone)
    # Ten parts of six: of the 54 others and the row itself.
    lowest = np.argmin(X[:, 0])
    np.testing.assert_allclose(model.left_out_scores_[lowest], 1 / 55, rtol=1e-12)


def test_own_rows_are_scored_by_models_without_them():
    rows = np.r_[X, [[6.0, -6.0, 6.0, -6.0]]]
    model = CalibratedOneClass()
    scores = model.fit_score_samples(rows)
    np.testing.assert_array_equal(scores, model.left_out_scores_)
    assert np.argmin(scores) == 60
    assert scores[60] < model.offset_
    weights = np.r_[np.zeros(5), np.ones(56)]
    assert np.isnan(model.fit_score_samples(rows, sample_weight=weights)[:5]).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_fits_without_a_part_begin_near_the_model_of_all_rows(monkeypatch, weighted):
    random = np.random.default_rng(0)
    X = random.normal(size=(1300, 8))
    weights = random.integers(0, 3, size=1300).astype(float) if weighted else None
    steps = []

    class Counting(OneClassSVM):
        def fit(self, X, y=None, sample_weight=None):
            super().fit(X, y, sample_weight)
            steps.append(self.n_iter_)
            return self

    model = CalibratedOneClass(Counting(gamma="neighbors", nu=0.1)).fit(X, sample_weight=weights)
    near, width = steps[1:], model.estimator_._gamma
    assert model.estimator_.support_.size > 512  # of fewer any start would do
    assert len(near) == 10
    monkeypatch.setattr(_detector, "start_near", lambda *_: None)
    steps.clear()
    alone = CalibratedOneClass(Counting(gamma=width, nu=0.1)).fit(X, sample_weight=weights)
    assert sum(near) < 0.7 * sum(steps[1:])
    np.testing.assert_allclose(model.left_out_scores_, alone.left_out_scores_, rtol=5e-3)
