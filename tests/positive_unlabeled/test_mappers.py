"""What names the strong negatives."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import LocalOutlierFactor
from sklearn.tree import DecisionTreeClassifier

from scarce import SVC, SVMC, OneClassSVM
from scarce.positive_unlabeled import OneClassMapper, OneDNFMapper, RocchioMapper, SpyMapper
from tests.positive_unlabeled.samples import disc_in_a_square, of_the_paper

# What these tests are about is the loop; its model may be a poor one.
pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")


def words(seed=0):
    """Return documents of 30 words: 20 labelled and 20 unlabelled on a topic, 60 on another."""
    random = np.random.default_rng(seed)
    chances = np.full((100, 30), 0.05)
    chances[:40, :5], chances[40:, 5:10] = 0.6, 0.6
    X = (random.random((100, 30)) < chances).astype(float)
    return X, np.r_[np.ones(20, int), np.zeros(80, int)]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_one_dnf_against_its_definition(container):
    X, y = words()
    P, U = X[y == 1], X[y == 0]
    typical = [j for j in range(30) if P[:, j].mean() > U[:, j].mean()]
    expected = [not any(row[j] for j in typical) for row in U]
    mapper = OneDNFMapper().fit(
        container(P), unlabeled=[(container(U[:30]), np.ones(30)), (container(U[30:]), np.ones(50))]
    )
    np.testing.assert_array_equal(np.flatnonzero(mapper.positive_features_), typical)
    np.testing.assert_array_equal(mapper.score_samples(container(U)) < 0, expected)
    assert 0 < sum(expected) < 80


def test_pebl():
    X, y = words(1)
    truth = np.arange(100) < 40
    for rows in (X, sparse.csr_array(X)):
        model = of_the_paper(
            mapper=OneDNFMapper(), classifier=SVC(kernel="linear"), keep="all", map_fallback=0.0
        ).fit(rows, y)
        assert model.mapper_.positive_features_[:5].all()
        assert np.mean((model.predict(rows) == 1) == truth) > 0.9


def test_one_dnf_counts_weights():
    X, y = words(2)
    counts = np.random.default_rng(0).integers(1, 4, size=100)
    often = np.repeat(np.arange(100), counts)
    parameters = {"mapper": OneDNFMapper(), "classifier": SVC(), "map_fallback": 0.1}
    one = of_the_paper(**parameters).fit(X, y, sample_weight=counts)
    many = of_the_paper(**parameters).fit(X[often], y[often])
    features = one.mapper_.positive_features_
    np.testing.assert_array_equal(features, many.mapper_.positive_features_)
    plain = of_the_paper(**parameters).fit(X, y).mapper_.positive_features_
    assert (features != plain).any()


def test_one_dnf_needs_zeros_and_ones():
    X, y = words()
    X[50, 3] = 2.0
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"OneDNFMapper needs features that are 0 or 1, got 2"):
            of_the_paper(mapper=OneDNFMapper()).fit(rows, y)


def test_one_dnf_without_rows_that_lack_every_positive_feature():
    X, y = words(3)
    X[:, 0] = 1.0
    X[y == 0, 0] = np.arange(80) < 79  # less frequent among the unlabelled, yet in all but one
    X[np.flatnonzero(y == 0)[79], 1] = 1.0
    with pytest.raises(ValueError, match=r"no strong negatives: .*between 0.5 and"):
        of_the_paper(mapper=OneDNFMapper(), map_fallback=None).fit(X, y)
    with pytest.warns(UserWarning, match="no strong negatives"):
        model = of_the_paper(
            mapper=OneDNFMapper(), classifier=SVC(), map_fallback=0.0, max_rounds=100
        ).fit(X, y)
    fewest = (model.mapper_.score_samples(X[y == 0])).min()
    assert model.history_["negatives"][0] == np.sum(
        model.mapper_.score_samples(X[y == 0]) == fewest
    )


def test_functions_and_masks():
    X, y = disc_in_a_square(0)
    far = np.linalg.norm(X, axis=1) > 5
    seen = []

    def mapper(positives, unlabelled):
        seen.append((positives, unlabelled))
        return np.linalg.norm(unlabelled, axis=1) > 5

    by_function = of_the_paper(mapper=mapper).fit(X, y)
    by_mask = of_the_paper(mapper=far).fit(X, y)
    np.testing.assert_array_equal(by_function.decision_function(X), by_mask.decision_function(X))
    np.testing.assert_array_equal(seen[0][0], X[y == 1])
    np.testing.assert_array_equal(seen[0][1], X[y == 0])
    assert by_mask.mapper_ is None
    assert by_mask.history_["negatives"][0] == far[y == 0].sum()
    # Labelled positives are positives whatever the mask says.
    other = of_the_paper(mapper=far | (y == 1)).fit(X, y)
    np.testing.assert_array_equal(other.decision_function(X), by_mask.decision_function(X))


@pytest.mark.parametrize(
    ("mapper", "words"),
    [
        (np.ones(10, bool), r"each of the 150 rows of X, got .*\(10,\) and type bool"),
        (np.ones(150), r"each of the 150 rows of X, got .*\(150,\) and type float64"),
        (lambda P, U: np.ones(3, bool), r"each of the 120 unlabelled rows, got .*\(3,\)"),
    ],
    ids=["short", "numbers", "function"],
)
def test_masks_of_wrong_shape(mapper, words):
    X, y = disc_in_a_square(0)
    with pytest.raises(ValueError, match=words):
        of_the_paper(mapper=mapper).fit(X, y)


def test_any_detector():
    X, y = disc_in_a_square(0)
    detector = IsolationForest(random_state=0)
    model = of_the_paper(mapper=OneClassMapper(detector)).fit(X, y)
    assert (model.mapper_.score_samples(X[y == 1]) >= 0).all()
    assert model.predict([[0.0, 0.0], [5.0, 5.0]]).tolist() == [1, 0]


def test_bad_learners_are_named():
    X, y = disc_in_a_square(0)
    with pytest.raises(ValueError, match="'classifier' parameter of MappingConvergence must be"):
        of_the_paper(classifier="svm").fit(X, y)
    with pytest.raises(ValueError, match="'slack' parameter of OneClassMapper must be"):
        of_the_paper(mapper=OneClassMapper(slack=-1.0)).fit(X, y)
    with pytest.raises(ValueError, match="'C' parameter of SVC must be"):
        of_the_paper(classifier=SVC(C=-1.0)).fit(X, y)


def test_classifiers_without_weights():
    class Plain(SVC):
        def fit(self, X, y):
            return super().fit(X, y)

    X, y = disc_in_a_square(0)
    of_the_paper(classifier=Plain()).fit(X, y)
    with pytest.raises(ValueError, match=r"classifier=Plain\(\) takes no sample_weight"):
        of_the_paper(classifier=Plain()).fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("detector", [OneClassSVM(nu=0.2), svm.OneClassSVM(nu=0.2)])
def test_a_detector_is_no_mapper(detector):
    X, y = disc_in_a_square(0)
    words = r"mapper=OneClassSVM\(nu=0.2\) is not a mapper.*OneClassMapper\(OneClassSVM\(nu=0.2\)\)"
    with pytest.raises(ValueError, match=words):
        of_the_paper(mapper=detector).fit(X, y)


def test_detectors_without_weights():
    X, y = disc_in_a_square(0)
    model = of_the_paper(mapper=OneClassMapper(LocalOutlierFactor(novelty=True)))
    assert model.fit(X, y).predict([[0.0, 0.0], [5.0, 5.0]]).tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"detector=LocalOutlier.* takes no sample_weight"):
        model.fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("kernel", ["precomputed", lambda a, b: rbf_kernel(a, b, gamma=0.4)])
def test_the_default_mapper_has_a_kernel_that_fits_the_rows(kernel):
    X, y = disc_in_a_square(0)
    K = rbf_kernel(X, gamma=0.4) if kernel == "precomputed" else X
    framework = of_the_paper(classifier=SVC(kernel=kernel)).fit(K, y)
    instance = SVMC(kernel=kernel, learner="csvc").fit(K, y)
    assert framework.history_["negatives"] == instance.history_["negatives"]
    np.testing.assert_allclose(framework.decision_function(K), instance.decision_function(K))


def test_width_of_the_mapping_by_itself():
    X, y = disc_in_a_square(0)
    model = SVMC(gamma=0.5, mapping_gamma=0.02, mapping_nu=0.2).fit(X, y)
    alone = svm.OneClassSVM(gamma=0.02, nu=0.2, tol=1e-6).fit(X[y == 1])
    found = model.mapper_.score_samples(X)
    expected = alone.score_samples(X)
    assert np.corrcoef(found, expected)[0, 1] > 1 - 1e-4
    assert model.classifier_.gamma == 0.5


def test_plain_threshold_of_the_one_class_svm():
    X, y = disc_in_a_square(0)
    positives, unlabelled = X[y == 1], X[y == 0]
    reference = svm.OneClassSVM(nu=0.3, gamma=2.0, tol=1e-8).fit(positives)
    mapper = OneClassMapper(OneClassSVM(nu=0.3, gamma=2.0, tol=1e-8), slack=None).fit(positives)
    np.testing.assert_array_equal(
        mapper.score_samples(unlabelled) < 0, reference.predict(unlabelled) < 0
    )
    assert (mapper.score_samples(positives) < -1e-6).any()  # which the lowered one never does
    plain, lowered = (
        SVMC(mapping_nu=0.3, gamma=2.0, map_slack=slack, diagnose=False).fit(X, y).history_
        for slack in (None, 0.0)
    )
    assert plain["negatives"][0] == (reference.predict(unlabelled) < 0).sum()
    assert lowered["negatives"][0] < plain["negatives"][0]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_rocchio_against_its_definition(container):
    X, y = words(3)
    X = X * np.random.default_rng(1).integers(1, 5, size=X.shape)  # counts, of unequal length
    X[-1] = 0.0
    P, U = X[y == 1], X[y == 0]
    p = sum(row / np.linalg.norm(row) for row in P if row.any()) / len(P)
    u = sum(row / np.linalg.norm(row) for row in U if row.any()) / len(U)
    prototypes = [16 * p - 4 * u, 16 * u - 4 * p]
    expected = cosine_similarity(U, prototypes) @ [1.0, -1.0]
    mapper = RocchioMapper().fit(
        container(P), unlabeled=[(container(U[:30]), np.ones(30)), (container(U[30:]), np.ones(50))]
    )
    np.testing.assert_allclose(mapper.score_samples(container(U)), expected, atol=1e-12)
    assert 0 < (expected < 0).sum() < 80
    assert expected[-1] == 0.0
    model = of_the_paper(
        mapper=RocchioMapper(), classifier=SVC(kernel="linear"), keep="all", map_fallback=0.0
    ).fit(container(X), y)
    truth = np.arange(100) < 40
    assert np.mean((model.predict(container(X)) == 1) == truth) > 0.9


def test_rocchio_counts_weights():
    X, y = words(2)
    P, U = X[y == 1], X[y == 0]
    counts = np.random.default_rng(0).integers(1, 4, size=100)
    own, others = counts[y == 1], counts[y == 0]
    one = RocchioMapper().fit(P, own.astype(float), [(U, others.astype(float))])
    many = RocchioMapper().fit(
        np.repeat(P, own, axis=0), None, [(np.repeat(U, others, axis=0), np.ones(others.sum()))]
    )
    np.testing.assert_allclose(one.direction_, many.direction_, atol=1e-14)
    plain = RocchioMapper().fit(P, None, [(U, np.ones(80))])
    assert np.abs(plain.direction_ - one.direction_).max() > 1e-3
    with pytest.raises(ValueError, match="unlabeled must hold at least one row"):
        RocchioMapper().fit(P)


def log_odds(X, positives, others):
    """Return the log odds of multinomial naive Bayes with Laplace's correction, by its formula."""
    total = len(positives) + len(others)
    logs = []
    for rows in (positives, others):
        counts = 1.0 + rows.sum(axis=0)
        logs.append(np.log(len(rows) / total) + X @ np.log(counts / counts.sum()))
    return logs[0] - logs[1]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("spies", "noise", "number", "below"), [(0.1, 0.0, 2, 0), (0.5, 0.3, 10, 2)]
)
def test_spies_against_their_definition(container, spies, noise, number, below):
    X, y = words(4)
    X = X * np.random.default_rng(1).integers(1, 5, size=X.shape)
    P, U = X[y == 1], X[y == 0]
    mapper = SpyMapper(spies=spies, noise=noise, random_state=0).fit(
        container(P), unlabeled=[(container(U[:30]), np.ones(30)), (container(U[30:]), np.ones(50))]
    )
    hidden = np.isin(np.arange(20), mapper.spies_)
    assert hidden.sum() == number == mapper.spies_.size
    scores = log_odds(X, P[~hidden], np.r_[U, P[hidden]])
    of_spies = np.sort(scores[y == 1][hidden])
    expected = scores[y == 0] < of_spies[below]  # no more than the noise lies below
    np.testing.assert_array_equal(mapper.score_samples(container(U)) < 0, expected)
    assert 0 < expected.sum() < 80
    model = of_the_paper(
        mapper=SpyMapper(random_state=0),
        classifier=SVC(kernel="linear"),
        keep="all",
        map_fallback=0.0,
    ).fit(container(X), y)
    truth = np.arange(100) < 40
    assert np.mean((model.predict(container(X)) == 1) == truth) > 0.9


def test_spies_of_other_classifiers():
    X, y = words(5)
    P, U = X[y == 1], X[y == 0]
    for classifier in (LogisticRegression(), BernoulliNB(), DecisionTreeClassifier(random_state=0)):
        mapper = SpyMapper(classifier, spies=0.5, noise=0.2, random_state=0)
        with np.errstate(divide="ignore"):  # a leaf with one class has a probability of zero
            rejected = mapper.fit(P, unlabeled=[(U, np.ones(80))]).score_samples(U) < 0
        hidden = np.isin(np.arange(20), mapper.spies_)
        model = clone(classifier).fit(np.r_[P, U], np.r_[~hidden, np.zeros(80, bool)])
        level = np.sort(model.predict_proba(P[hidden])[:, 1])[1]  # a fifth of ten is two
        np.testing.assert_array_equal(rejected, model.predict_proba(U)[:, 1] < level)
    weights = np.r_[np.zeros(20), np.ones(60)]  # as if the hidden positives were not there
    spies = SpyMapper(LogisticRegression(tol=1e-10), random_state=0)
    some = spies.fit(P, unlabeled=[(U, weights)]).score_samples(U)
    fewer = spies.fit(P, unlabeled=[(U[20:], np.ones(60))]).score_samples(U)
    np.testing.assert_allclose(some, fewer, atol=1e-5)


def test_what_spies_refuse():
    X, y = words(5)
    P, U = X[y == 1], X[y == 0]
    with pytest.raises(ValueError, match=r"positives must have at least two rows.*got 1"):
        SpyMapper().fit(P[:1], unlabeled=[(U, np.ones(80))])
    with pytest.raises(ValueError, match="unlabeled must give at least one pair"):
        SpyMapper().fit(P)
    with pytest.raises(ValueError, match=r"LinearDiscriminantAnalysis.* takes no sample_weight"):
        SpyMapper(LinearDiscriminantAnalysis()).fit(P, unlabeled=[(U, np.full(80, 2.0))])
