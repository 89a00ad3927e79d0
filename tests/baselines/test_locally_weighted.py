"""The locally weighted ensemble: weights computed by hand, and the limits of one model."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from scarce import SVC, LocallyWeightedEnsemble
from tests.baselines.samples import assert_same, two_domains


class Step(ClassifierMixin, BaseEstimator):
    """Return one probability to the left of a cut and another one to the right."""

    def __init__(self, cut=0.0, left=0.0, right=1.0):
        self.cut, self.left, self.right = cut, left, right

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        positive = np.where(np.asarray(X)[:, 0] > self.cut, self.right, self.left)
        return np.column_stack([1.0 - positive, positive])


# Source rows, of which `Step` learns nothing, then the target: 0, 1, 2 in one cluster, 10 alone.
X = np.array([[-5.0], [5.0], [0.0], [1.0], [2.0], [10.0]])
Y, DOMAIN = [0, 1, 9, 9, 9, 9], [0, 0, -1, -1, -1, -1]
MODELS = [Step(1.5, 0.2, 0.8), Step(0.5, 0.3, 0.9), Step(5.0, 0.1, 0.6)]


def by_hand(**parameters):
    model = LocallyWeightedEnsemble(estimators=MODELS, n_neighbors=3, **parameters)
    return model.fit(X, Y, sample_domain=DOMAIN)


def test_structure_of_the_target():
    model = by_hand()
    clusters = model.target_clusters_
    np.testing.assert_array_equal(clusters == clusters[0], [True, True, True, False])
    np.testing.assert_array_equal(model.target_rows_, X[2:])
    np.testing.assert_array_equal(model.target_labels_, [[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]])


def test_weights_computed_by_hand():
    # 1.2 has the neighbours 1, 2, 0, all of its cluster. The first model calls it negative, and 0
    # and 1 with it: 2 of 3. The second calls it positive, with 1 and 2: 2 of 3. The third calls
    # all three negative: 3 of 3.
    model = by_hand(threshold=0.0)
    expected = (2 / 3 * 0.2 + 2 / 3 * 0.9 + 1.0 * 0.1) / (2 / 3 + 2 / 3 + 1)
    assert model.predict_proba([[1.2]])[0, 1] == pytest.approx(expected, abs=1e-12)
    assert model.decision_function([[1.2]])[0] == pytest.approx(2 * expected - 1, abs=1e-12)
    # 9 has the neighbours 10, 2, 1, of which only 10 is of its cluster. The models call positive
    # with it: 10 and 2; 10, 2 and 1; 10. The similarities are 1/2, 1/3 and 1.
    expected = (1 / 2 * 0.8 + 1 / 3 * 0.9 + 1.0 * 0.6) / (1 / 2 + 1 / 3 + 1)
    assert model.predict_proba([[9.0]])[0, 1] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(model.predict([[1.2], [9.0]]), [0, 1])


def test_rows_below_the_threshold_take_their_cluster():
    # Mean similarities: 0, 1, 2 have 2/3, 7/9, 2/3. At 0.75 only 1 is sure of the first cluster.
    model = by_hand(threshold=0.75)
    sure = (2 / 3 * 0.2 + 2 / 3 * 0.9 + 1.0 * 0.1) / (7 / 3)
    cluster = int(model.target_clusters_[0])
    assert model.cluster_probability_ == {cluster: pytest.approx(sure, abs=1e-12)}
    found = model.predict_proba([[0.0], [1.2], [2.2]])[:, 1]
    np.testing.assert_allclose(found, sure, atol=1e-12)
    # The other cluster has nobody who is sure (11/18): the mixture stays as it is.
    expected = by_hand(threshold=0.0).predict_proba([[9.0]])
    np.testing.assert_array_equal(model.predict_proba([[9.0]]), expected)


def test_similarities_of_zero_weigh_alike():
    # The new row's only neighbour is called positive by the model, the new row negative.
    model = LocallyWeightedEnsemble(
        estimators=[Step(1.5, 0.1, 0.9), Step(1.6, 0.4, 0.7)], n_neighbors=1, threshold=0.0
    ).fit(X[[0, 1, 4, 5]], [0, 1, 9, 9], sample_domain=[0, 0, -1, -1])
    assert model.predict_proba([[1.4]])[0, 1] == pytest.approx(0.25, abs=1e-12)


def test_weights_count_as_neighbours():
    # With weight 3 the row at 2 is the whole neighbourhood of 2.2.
    model = LocallyWeightedEnsemble(
        estimators=[GaussianNB(), LogisticRegression()], n_neighbors=3, threshold=0.0
    )
    model.fit(X, Y, sample_weight=[1, 1, 1, 1, 3, 1], sample_domain=DOMAIN)
    both = np.mean([m.predict_proba([[2.2]])[0, 1] for m in model.estimators_])
    assert model.predict_proba([[2.2]])[0, 1] == pytest.approx(both, abs=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_weights_equal_repetition(container):
    rows, y, domain = two_domains(2, 40, 50)
    counts = np.random.default_rng(0).integers(0, 4, size=len(rows))
    often = np.repeat(np.arange(len(rows)), counts)
    rows = container(rows)
    once = LocallyWeightedEnsemble().fit(rows, y, sample_weight=counts, sample_domain=domain)
    again = LocallyWeightedEnsemble().fit(rows[often], y[often], sample_domain=domain[often])
    assert_same(once.decision_function(rows), again.decision_function(rows), 1e-6)


@pytest.mark.parametrize(
    "base", [SVC(), LogisticRegression(), GaussianNB(), FrozenEstimator(SVC())], ids=str
)
def test_one_model_is_that_model(base):
    rows, y, domain = two_domains(3, 40, 50)
    source = domain >= 0
    if isinstance(base, FrozenEstimator):
        base = FrozenEstimator(SVC(C=0.1).fit(rows[source][:30], y[source][:30]))
    model = LocallyWeightedEnsemble(estimators=[base], threshold=0.0)
    model.fit(rows, y, sample_domain=domain)
    weights = np.ones(len(rows))
    again = LocallyWeightedEnsemble(estimators=[base], threshold=0.0)
    again.fit(rows, y, sample_weight=weights, sample_domain=domain)
    np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), atol=1e-9)
    alone = base.fit(rows[source], y[source])
    np.testing.assert_array_equal(model.predict(rows), alone.predict(rows))
    if hasattr(alone, "predict_proba"):
        expected = alone.predict_proba(rows)
    else:
        positive = 1.0 / (1.0 + np.exp(-alone.decision_function(rows)))
        expected = np.column_stack([1.0 - positive, positive])
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-12)


def test_equal_models_are_that_model():
    rows, y, domain = two_domains(4, 40, 50)
    one = LocallyWeightedEnsemble(estimators=[SVC()]).fit(rows, y, sample_domain=domain)
    three = LocallyWeightedEnsemble(estimators=3 * [SVC()]).fit(rows, y, sample_domain=domain)
    np.testing.assert_allclose(three.predict_proba(rows), one.predict_proba(rows), atol=1e-12)


def test_the_model_that_fits_the_target_weighs_more():
    random = np.random.default_rng(0)
    target = np.r_[random.normal(-3.0, 0.5, (40, 2)), random.normal(3.0, 0.5, (40, 2))]
    rows = np.r_[[[-1.0, -1.0], [1.0, 1.0]], target]
    # One model cuts between the clusters, the other through one of them.
    models = [Step(0.0, 0.1, 0.9), Step(3.0, 0.1, 0.9)]
    model = LocallyWeightedEnsemble(estimators=models, threshold=0.0)
    model.fit(rows, [0, 1] + 80 * [-1], sample_domain=[0, 0] + 80 * [-1])
    near = target[(target[:, 0] > 2.5) & (target[:, 0] < 3.0)]  # where the two disagree
    assert len(near) > 5
    # A whole neighbourhood agrees with the first model, a part of it with the second.
    probability = model.predict_proba(near)[:, 1]
    assert np.all(probability >= 0.5)
    assert probability.mean() > 0.55


@pytest.mark.parametrize(
    "clusterer", [KMeans(3, random_state=0), AgglomerativeClustering(2)], ids=str
)
def test_clusterers(clusterer):
    rows, y, domain = two_domains(5, 40, 50)
    model = LocallyWeightedEnsemble(clusterer=clusterer).fit(rows, y, sample_domain=domain)
    expected = clusterer.fit(rows[domain < 0]).labels_
    np.testing.assert_array_equal(model.target_clusters_, expected)
    model.fit(rows, y, sample_weight=np.ones(len(rows)), sample_domain=domain)
    np.testing.assert_array_equal(model.target_clusters_, expected)


def test_labels_of_the_target_are_not_looked_at():
    rows, y, domain = two_domains(6, 40, 50)
    one = LocallyWeightedEnsemble().fit(rows, y, sample_domain=domain)
    hidden = np.where(domain >= 0, y, np.nan)
    other = LocallyWeightedEnsemble().fit(rows, hidden, sample_domain=domain)
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))


def test_more_neighbours_than_rows():
    model = LocallyWeightedEnsemble(n_neighbors=1000)
    rows, y, domain = two_domains(7)
    assert np.isfinite(model.fit(rows, y, sample_domain=domain).predict_proba(rows)).all()


def test_estimators_that_do_not_fit():
    rows, y, domain = two_domains(8)
    with pytest.raises(ValueError, match="estimators must hold at least one classifier"):
        LocallyWeightedEnsemble(estimators=[]).fit(rows, y)
    with pytest.raises(ValueError, match=r"a list of classifiers, got \('svm', SVC\(\)\) in it"):
        LocallyWeightedEnsemble(estimators=[("svm", SVC())]).fit(rows, y)
    other = FrozenEstimator(SVC().fit(rows, np.where(y, "b", "a")))
    with pytest.raises(ValueError, match=r"know the classes \[0, 1\], got .* \['a', 'b'\]"):
        LocallyWeightedEnsemble(estimators=[other]).fit(rows, y)
    model = LocallyWeightedEnsemble(estimators=[KNeighborsClassifier()])
    with pytest.raises(ValueError, match="KNeighborsClassifier among the estimators takes no"):
        model.fit(rows, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="every row of the target has sample_weight 0"):
        LocallyWeightedEnsemble().fit(rows, y, sample_weight=domain >= 0, sample_domain=domain)


def test_sparse_is_taken_where_all_parts_take_it():
    rows, y, domain = two_domains(9)
    thin = sparse.csr_array(rows)
    LocallyWeightedEnsemble().fit(thin, y, sample_domain=domain).predict(thin)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        LocallyWeightedEnsemble(estimators=[GaussianNB()]).fit(thin, y)
