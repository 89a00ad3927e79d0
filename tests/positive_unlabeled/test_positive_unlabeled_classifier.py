"""PositiveUnlabeledClassifier: any classifier in the bags, and what it shares with the SVC."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import ExtraTreeClassifier

import scarce
from scarce import PositiveUnlabeledClassifier, PositiveUnlabeledSVC
from scarce.positive_unlabeled import FeatureWeightsDisplay
from tests.positive_unlabeled.internals import as_arrays, forest_scores
from tests.positive_unlabeled.test_positive_unlabeled_svc import sample


@pytest.mark.parametrize(
    "estimator",
    [
        None,
        LogisticRegression(),
        KNeighborsClassifier(15),  # takes no weights
        make_pipeline(StandardScaler(), GaussianNB()),
    ],
    ids=["default", "logistic", "neighbours", "pipeline"],
)
def test_it_finds_the_class(estimator):
    X, y, truth = sample()
    model = PositiveUnlabeledClassifier(estimator, n_bags=20, random_state=0).fit(X, y)
    new, _, new_truth = sample(seed=1)
    assert f1_score(new_truth, model.predict(new)) > 0.9
    share = truth[y == 0].mean()
    assert model.class_prior_ == pytest.approx(share, rel=0.4)
    low, high = model.class_prior_interval_
    assert low < share < high
    positive, unlabelled = model.out_of_bag_scores_
    labels = np.repeat([1, 0], [positive.size, unlabelled.size])
    area = roc_auc_score(labels, np.r_[positive, unlabelled])
    assert model.out_of_bag_auc_ == pytest.approx(area)


@pytest.mark.filterwarnings("ignore:the positive rows hardly")
def test_out_of_bag_scores_come_from_clones_without_the_sample():
    areas, gains = [], []
    for seed in range(8):  # nothing to learn: only samples that were seen score higher
        X, y, _ = sample(20, 80, distance=0.0, seed=seed)
        model = PositiveUnlabeledClassifier(
            ExtraTreesClassifier(5), n_bags=10, class_prior=0.2, random_state=0
        ).fit(X, y)
        areas.append(model.out_of_bag_auc_)
        gains.append(model.decision_function(X[y == 1]).mean() - model.out_of_bag_scores_[0].mean())
    assert np.mean(areas) < 0.6
    assert min(gains) > 0.2


def test_frames_of_words_reach_the_classifier_as_they_are():
    X, y, truth = sample()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["word"] = np.where(X[:, 0] > 1, "much", "little")
    columns = make_column_transformer(
        (OneHotEncoder(), ["word"]), (StandardScaler(), ["a", "b", "c"])
    )
    pipeline = make_pipeline(columns, LogisticRegression())
    model = PositiveUnlabeledClassifier(pipeline, n_bags=10, random_state=0).fit(frame, y)
    assert f1_score(truth, model.predict(frame)) > 0.85
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d", "word"]
    with pytest.raises(ValueError, match="must be in the same order"):  # not: encode the words
        model.predict(frame[frame.columns[::-1]])


@pytest.mark.parametrize("estimator", [None, LogisticRegression()], ids=["default", "logistic"])
def test_weights_order_and_jobs_change_nothing(estimator):
    X, y, _ = sample(30, 150)
    random = np.random.default_rng(0)
    weights = random.integers(0, 3, y.size)
    model = PositiveUnlabeledClassifier(estimator, n_bags=5, random_state=0)
    one = clone(model).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(y.size), weights)[random.permutation(weights.sum())]
    two = clone(model).set_params(n_jobs=2).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        one.decision_function(X), two.decision_function(X), rtol=1e-6, atol=1e-8
    )
    assert one.class_prior_ == pytest.approx(two.class_prior_, rel=1e-6)


def test_the_positive_label_may_sort_first():
    X, y, truth = sample()
    model = PositiveUnlabeledClassifier(LogisticRegression(), n_bags=10, random_state=0)
    model.fit(X, np.where(y, "a class", "unknown"))
    assert model.classes_.tolist() == ["a class", "unknown"]
    np.testing.assert_array_equal(model.predict(X) == "unknown", model.decision_function(X) > 0)
    assert f1_score(truth, model.predict(X) == "a class") > 0.9
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert roc_auc_score(truth, chances[:, 0]) > 0.95


def test_bad_input_is_named():
    X, y, _ = sample(20, 60)
    with pytest.raises(ValueError, match=r"estimator must be a classifier.*LinearRegression"):
        PositiveUnlabeledClassifier(LinearRegression()).fit(X, y)
    model = PositiveUnlabeledClassifier(KNeighborsClassifier(3), n_bags=5)
    with pytest.raises(ValueError, match=r"not its class: got LogisticRegression, give Log"):
        PositiveUnlabeledClassifier(LogisticRegression).fit(X, y)
    with pytest.raises(ValueError, match=r"sample_weight is given.*KNeighborsClassifier"):
        model.fit(X, y, sample_weight=np.ones(y.size))
    with pytest.raises(ValueError, match=r"propensity is given.*KNeighborsClassifier"):
        model.fit(X, y, propensity=np.ones(y.size))
    with pytest.raises(ValueError, match="greater than one"):
        PositiveUnlabeledClassifier(n_bags=5).fit(X, np.ones(y.size))
    with pytest.raises(ValueError, match="n_bags"):
        PositiveUnlabeledClassifier(n_bags=1).fit(X, y)


class Untyped(BaseEstimator):
    """A classifier that does not say it is one: near the first value of the class."""

    def fit(self, X, y):
        self.middle_ = X[y == 1, 0].mean()
        return self

    def decision_function(self, X):
        return -np.abs(X[:, 0] - self.middle_)


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (make_pipeline(StandardScaler(), IsolationForest()), "Pipeline, of the type 'outlier_det"),
        (GaussianMixture(2), "GaussianMixture, of the type 'density_estimator'"),
    ],
)
def test_what_says_that_it_is_no_classifier_is_refused(estimator, kind):
    X, y, _ = sample(20, 60)
    with pytest.raises(ValueError, match=f"estimator must be a classifier, got {kind}"):
        PositiveUnlabeledClassifier(estimator, n_bags=4).fit(X, y)
    model = PositiveUnlabeledClassifier(Untyped(), n_bags=4, random_state=0).fit(X, y)
    assert len(model.estimators_) == 4  # what says nothing may be one


@pytest.mark.parametrize("estimator", [None, LogisticRegression()], ids=["default", "logistic"])
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=["None", "nan", "NA"])
def test_missing_labels_are_named(estimator, missing):
    X, y, _ = sample(20, 60)
    model = PositiveUnlabeledClassifier(estimator, n_bags=5)
    with pytest.raises(ValueError, match=r"y contains NaN or None, in .* a label of their own"):
        model.fit(X, pd.Series(np.where(y, 1, missing)))


def test_a_label_of_negatives_that_no_row_has_is_named():
    X, y, _ = sample(20, 60)
    model = PositiveUnlabeledClassifier(GaussianNB(), neg_label=7, n_bags=5, random_state=0)
    with pytest.warns(scarce.ScarceDataWarning, match=r"neg_label=7 is the label of no row"):
        model.fit(X, y)


class Scored(GaussianNB):
    """A classifier whose scores are set."""

    def __init__(self, scores=(0.0,)):
        super().__init__()
        self.scores = scores

    def predict_proba(self, X):
        return np.tile(self.scores, (len(X), 1))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ((0.5, np.nan), r"finite scores, got predict_proba with .* NaN or infinite from Scored"),
        ((0.2, 0.3, 0.5), r"two classes for every row, got predict_proba of shape .* from Scored"),
    ],
    ids=["not finite", "three columns"],
)
def test_scores_that_no_threshold_can_use_are_named(scores, message):
    X, y, _ = sample(20, 60)
    with pytest.raises(ValueError, match=message):
        PositiveUnlabeledClassifier(Scored(scores), n_bags=5).fit(X, y)


def test_weights_of_columns_are_those_of_the_kernel_model():
    X, y, _ = sample(20, 60)
    model = PositiveUnlabeledClassifier(n_bags=5, random_state=0).fit(X, y)
    weights = model.svc_.feature_weights_
    shown = FeatureWeightsDisplay.from_estimator(model).weights
    np.testing.assert_array_equal(shown, np.ones(4) if weights is None else -np.sort(-weights))
    with pytest.raises(ValueError, match=r"estimator must have weights of its columns.*Gaussian"):
        FeatureWeightsDisplay.from_estimator(model.set_params(estimator=GaussianNB()).fit(X, y))


def test_the_default_is_the_mean_of_its_members():
    X, y, _ = sample(30, 150)
    model = PositiveUnlabeledClassifier(n_bags=5, random_state=0).fit(X, y)
    assert isinstance(model.svc_, PositiveUnlabeledSVC)
    trees = forest_scores(model.trees_, (X * model._scale).astype(np.float32))
    (m, s), (n, t) = model._standards
    expected = ((model.svc_.decision_function(X) - m) / s + (trees - n) / t) / 2
    np.testing.assert_allclose(
        model.decision_function(X), expected - model.threshold_, rtol=1e-6, atol=1e-6
    )


def test_trees_as_arrays_are_scikit_learns():
    X, y, _ = sample(30, 150)
    X = X.astype(np.float32)
    trees = [
        ExtraTreeClassifier(random_state=seed).fit(X[seed:150], y[seed:150]) for seed in (0, 9)
    ]
    expected = np.mean([each.predict_proba(X)[:, 1] for each in trees], axis=0)
    np.testing.assert_allclose(forest_scores(as_arrays(trees), X), expected)
    np.testing.assert_allclose(forest_scores(as_arrays(trees), sparse.csr_array(X)), expected)


def test_the_default_is_saved_and_loaded(tmp_path):
    skops = pytest.importorskip("skops")
    assert skops
    X, y, _ = sample(30, 150)
    model = PositiveUnlabeledClassifier(n_bags=3, random_state=0).fit(X, y)
    scarce.save(model, tmp_path / "model.skops")
    again = scarce.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
