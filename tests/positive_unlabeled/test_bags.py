"""What classifiers of bags share: prior, probabilities, biased labels, weights of columns."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from scarce import PositiveUnlabeledClassifier, PositiveUnlabeledSVC, ScarceDataWarning
from scarce.datasets import label_some_positives
from scarce.positive_unlabeled import (
    FeatureWeightsDisplay,
    ProbabilityDisplay,
    estimate_prior,
)
from tests.positive_unlabeled.internals import column_weights, curve_of_share, likeliest_share
from tests.positive_unlabeled.test_positive_unlabeled_svc import sample


def scores(share, n_positive, n_unlabelled, distance, seed):
    random = np.random.default_rng(seed)
    hidden = random.random(n_unlabelled) < share
    unlabelled = random.normal(size=n_unlabelled) + distance * hidden
    return random.normal(size=n_positive) + distance, unlabelled, hidden


def ones(*values):
    return tuple(np.ones(each.size) for each in values)


# The share of the class.


# The last is a rare class that overlaps: nothing tells it from a larger one.
@pytest.mark.parametrize(
    ("share", "distance", "least"),
    [(0.3, 1.5, 0.9), (0.3, 2.5, 0.9), (0.05, 2.5, 0.85), (0.05, 1.5, 0.7)],
)
def test_the_interval_of_the_prior_holds_the_share(share, distance, least):
    held = []
    for seed in range(30):
        positive, unlabelled, hidden = scores(share, 40, 800, distance, seed)
        found = estimate_prior(positive, unlabelled)
        assert 0 < found.interval[0] <= found.prior <= found.interval[1] <= 1
        held.append(found.interval[0] <= hidden.mean() <= found.interval[1])
    assert np.mean(held) >= least


@pytest.mark.parametrize("method", ["combined", "top", "median", "normal", "logistic"])
def test_every_method_finds_a_class_that_stands_out(method):
    found = [
        estimate_prior(*scores(0.2, 300, 4000, 4.0, seed)[:2], method=method).prior
        for seed in range(5)
    ]
    assert np.mean(found) == pytest.approx(0.2, rel=0.1)


def test_elkan_and_noto_of_true_probabilities():
    random = np.random.default_rng(0)
    truth = random.random(20_000) < 0.3
    labelled = truth & (random.random(truth.size) < 0.25)
    x = random.normal(size=truth.size) + 6.0 * truth  # one sample, hardly any overlap
    chances = 0.25 * expit(6.0 * x - 18.0 + np.log(0.3 / 0.7))
    found = estimate_prior(chances[labelled], chances[~labelled], method="elkan_noto")
    assert found.prior == pytest.approx(truth[~labelled].mean(), rel=0.05)
    assert "elkan_noto" in found.by_method
    with pytest.raises(ValueError, match="needs probabilities of being labelled"):
        estimate_prior([2.0, 3.0], [0.0, 1.0], method="elkan_noto")
    with pytest.raises(ValueError, match="method must be one of"):
        estimate_prior([2.0, 3.0], [0.0, 1.0], method="best")


BAGS = [PositiveUnlabeledSVC(n_bags=10), PositiveUnlabeledClassifier(n_bags=10)]


@pytest.mark.parametrize("model", BAGS)
def test_a_prior_that_contradicts_the_labels_is_refused(model):
    X, y, _ = sample()
    model = clone(model).set_params(class_prior=0.9, random_state=0)
    with pytest.raises(ValueError, match=r"class_prior=0.9 contradicts the labels.*biased"):
        model.fit(X, y)
    model.set_params(labelling="biased").fit(X, y)  # easy rows first may rank as high as they like
    assert model.class_prior_ == 0.9


@pytest.mark.parametrize("model", BAGS)
@pytest.mark.parametrize(("n", "hidden"), [(4, 10), (4, 60), (6, 20), (30, 30)])
def test_a_prior_is_refused_only_for_what_random_labels_cannot_be(model, n, hidden):
    """All labelled rows rank above all hidden ones: by chance, if they are few."""
    random = np.random.default_rng(0)
    places = np.repeat([9.0, 5.0, 0.0], [n, hidden, 200 - hidden])
    X = places[:, None] + random.normal(scale=0.3, size=(places.size, 2))
    y = np.arange(places.size) < n
    # Mann and Whitney's test of the labelled rows against the hidden ones, by its normal formula.
    errors = 0.5 * n * hidden / np.sqrt(n * hidden * (n + hidden + 1) / 12.0)
    model = clone(model).set_params(class_prior=hidden / 200, random_state=0)
    if errors > 5.0:
        with pytest.raises(ValueError, match="contradicts the labels"):
            model.fit(X, y)
    elif errors > 3.0:
        with pytest.warns(ScarceDataWarning, match="contradicts the labels.*used as given"):
            model.fit(X, y)
    else:
        model.fit(X, y)


# Probabilities.


def test_the_curve_has_the_share_for_its_mean_and_finds_a_logistic():
    random = np.random.default_rng(0)
    unlabelled = random.normal(size=30_000)
    chances = expit(2.0 * unlabelled - 1.5)  # the truth
    hidden = random.random(unlabelled.size) < chances
    more = random.normal(size=30_000)
    positive = more[random.random(more.size) < expit(2.0 * more - 1.5)]
    curve = curve_of_share(positive, unlabelled, ones(positive, unlabelled), hidden.mean())
    assert curve.at(unlabelled).mean() == pytest.approx(hidden.mean(), rel=1e-3)
    assert curve.slope == pytest.approx(2.0, rel=0.1)
    assert curve.constant == pytest.approx(-1.5, rel=0.1)
    found = likeliest_share(positive, unlabelled, ones(positive, unlabelled))
    assert found == pytest.approx(hidden.mean(), rel=0.1)


@pytest.mark.parametrize("kind", [PositiveUnlabeledSVC, PositiveUnlabeledClassifier])
def test_probabilities_are_calibrated_where_the_share_is_told(kind):
    errors = []
    for seed in range(3):
        X, y, truth = sample(60, 600, distance=0.7, seed=seed)
        share = float(truth[y == 0].mean())
        model = kind(class_prior=share, n_bags=15, random_state=seed).fit(X, y)
        new, _, new_truth = sample(2, 3000, distance=0.7, seed=seed + 10)
        chances = model.predict_proba(new)[:, 1]
        bins = np.minimum((10 * chances).astype(int), 9)
        errors.append(
            sum(
                abs(new_truth[bins == k].mean() - chances[bins == k].mean()) * np.mean(bins == k)
                for k in np.unique(bins)
            )
        )
        assert model.probability_curve_interval_ == (model.probability_curve_,) * 2
    assert np.mean(errors) < 0.07


@pytest.mark.filterwarnings("ignore:the positive rows hardly")
def test_probabilities_of_an_uncertain_prior_are_warned_of():
    X, y, _ = sample(15, 300, share=0.1, distance=0.4)
    model = PositiveUnlabeledSVC(n_bags=10, random_state=0).fit(X, y)
    low, high = model.class_prior_interval_
    assert high > 10 * low
    with pytest.warns(ScarceDataWarning, match="rest on a class prior of"):
        model.predict_proba(X)
    display = ProbabilityDisplay.from_estimator(clone(model).set_params(class_prior=0.1).fit(X, y))
    assert (display.low == display.high).all()
    assert (np.diff(display.probabilities) > 0).all()


# Labels that are not random.


@pytest.mark.filterwarnings("ignore:the positive rows rank so high")
def test_biased_labels_and_their_propensities():
    gains = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        truth = random.random(1200) < 0.25
        X = random.normal(size=(1200, 6)) + 1.2 * truth[:, None]
        rows, own = X[:600], truth[:600]
        y = label_some_positives(rows, own, 40, bias=1.0, random_state=seed)
        places = rows @ (rows[own].mean(axis=0) - rows[~own].mean(axis=0))
        chances = np.exp((places - places[own].max()) / places[own].std())
        model = PositiveUnlabeledSVC(n_bags=20, random_state=0)
        plain = clone(model).fit(rows, y)
        biased = clone(model).set_params(labelling="biased").fit(rows, y)
        told = clone(model).fit(rows, y, propensity=np.clip(chances, 0.05, 1.0))
        found = [f1_score(truth[600:], each.predict(X[600:])) for each in (plain, biased, told)]
        share = own[y == 0].mean()
        assert abs(biased.class_prior_ - share) < abs(plain.class_prior_ - share)
        gains.append((found[1] - found[0], found[2] - found[0]))
    assert (np.mean(gains, axis=0) > [0.05, 0.03]).all()


@pytest.mark.parametrize("wrong", [0.0, 1.5, np.nan])
def test_propensities_must_be_chances(wrong):
    X, y, _ = sample(20, 60)
    chances = np.full(y.size, 0.5)
    chances[0] = wrong
    with pytest.raises(ValueError, match="propensity must be above 0 and at most 1"):
        PositiveUnlabeledSVC(n_bags=5).fit(X, y, propensity=chances)
    chances = np.where(y == 1, 0.5, np.nan)  # of unlabelled rows nobody asks
    PositiveUnlabeledSVC(n_bags=5, random_state=0).fit(X, y, propensity=chances)


@pytest.mark.parametrize("wrong", [0.5, np.full(20, 0.5), ["often"] * 80, np.ones((80, 2))])
def test_propensities_are_one_number_a_row(wrong):
    X, y, _ = sample(20, 60)
    with pytest.raises(ValueError, match="propensity must be 80 numbers, one for every row of X"):
        PositiveUnlabeledSVC(n_bags=5).fit(X, y, propensity=wrong)


def test_equal_propensities_change_nothing():
    X, y, _ = sample(20, 60)
    model = PositiveUnlabeledSVC(n_bags=5, random_state=0)
    one, two = clone(model).fit(X, y), clone(model).fit(X, y, propensity=np.full(y.size, 0.1))
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)


# Checked negatives.


@pytest.mark.filterwarnings("ignore:the positive rows rank so high")
@pytest.mark.parametrize("kind", [PositiveUnlabeledSVC, PositiveUnlabeledClassifier])
def test_checked_negatives_are_learnt_from(kind):
    random = np.random.default_rng(0)
    # The class, another group that looks like it to whoever knows only the class, and the rest.
    X = np.r_[
        random.normal([2, 0], 0.7, (90, 2)),
        random.normal([2, 1.6], 0.7, (90, 2)),
        random.normal([-2, 0], 1.0, (300, 2)),
    ]
    truth = np.arange(480) < 90
    y = np.full(480, "unknown", dtype=object)
    y[:30] = "yes"
    model = kind(n_bags=10, random_state=0)
    without = clone(model).fit(X, y).decision_function(X)  # above 0 for "yes", as below
    y[90:130] = "no"
    fitted = clone(model).set_params(neg_label="no").fit(X, y)
    assert fitted.classes_.tolist() == ["no", "yes"]
    found = fitted.predict(X) == "yes"
    assert f1_score(truth, found) > 0.75
    hidden = np.r_[30:90, 130:180]  # of the class and of the other group, not checked
    before, after = (
        roc_auc_score(truth[hidden], scores[hidden])
        for scores in (without, fitted.decision_function(X))
    )
    assert after > before + 0.01
    assert fitted.out_of_bag_scores_[1].size == 410
    with pytest.raises(ValueError, match="name it neg_label"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="pos_label and neg_label must differ"):
        clone(model).set_params(neg_label="no", pos_label="no").fit(X, y)


# Weights of the columns.


def test_columns_that_matter_are_found():
    random = np.random.default_rng(0)
    truth = random.random(700) < 0.3
    X = random.normal(size=(700, 40))
    X[:, 0] += 2.0 * truth
    y = (truth & (np.cumsum(truth) <= 60)).astype(int)
    plain = PositiveUnlabeledSVC(feature_weights=None, n_bags=10, random_state=0).fit(X, y)
    model = PositiveUnlabeledSVC(n_bags=10, random_state=0).fit(X, y)
    assert plain.feature_weights_ is None
    assert model.feature_weights_.argmax() == 0
    assert model.out_of_bag_auc_ > plain.out_of_bag_auc_
    assert f1_score(truth, model.predict(X)) > f1_score(truth, plain.predict(X))
    w = model.feature_weights_
    values = rbf_kernel(X * w, model.support_vectors_ * w, gamma=model.gamma_)
    expected = values @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert FeatureWeightsDisplay.from_estimator(model, most=3).names[0] == "x0"


def test_weights_of_columns_need_a_clear_gain():
    """They are found from the labels that judge them: with few of these any weights look better."""
    taken = []
    for seed in range(6):
        random = np.random.default_rng(seed)
        X = random.normal(size=(300, 30))
        X[:90] += 0.5  # all columns matter alike
        y = np.r_[np.ones(12), np.zeros(288)]
        model = PositiveUnlabeledSVC(n_bags=10, random_state=seed).fit(X, y)
        taken.append(model.feature_weights_ is not None)
    assert not any(taken)


def test_the_gain_that_weights_need_grows_with_columns_a_label():
    """Weights of 400 columns from 20 labels fit these, whose ranks then say far too little."""
    X = np.random.default_rng(0).normal(size=(400, 400))
    X[:120, :2] += 3.0
    model = PositiveUnlabeledSVC(n_bags=10, random_state=0).fit(X, np.arange(400) < 20)
    assert model.feature_weights_ is None
    assert model.accepted_share_ > 0.15


def test_weights_of_columns_by_hand():
    own, others = np.array([[1.0, 5.0], [2.0, 6.0]]), np.array([[1.0, 1.0], [2.0, 2.0]])
    found = column_weights(own, others, ones(own[:, 0], others[:, 0]))
    np.testing.assert_allclose(found, [0.3, 1.3])  # chance, and all above
    rows = sparse.csr_array(own), sparse.csr_array(others)
    np.testing.assert_allclose(column_weights(*rows, ones(own[:, 0], others[:, 0])), found)


def test_given_weights_are_a_scaling_of_the_columns():
    X, y, _ = sample(30, 150)
    w = np.array([1.0, 0.5, 2.0, 0.0])
    model = PositiveUnlabeledSVC(gamma=0.3, n_bags=5, random_state=0)
    given = clone(model).set_params(feature_weights=w).fit(X, y)
    scaled = clone(model).fit(X * w, y)
    # The draws depend on the order of the rows, and a column of zeros does not change it alone.
    assert given.gamma_ == scaled.gamma_ == 0.3
    assert np.corrcoef(given.decision_function(X), scaled.decision_function(X * w))[0, 1] > 0.9
    linear = clone(model).set_params(kernel="linear", feature_weights=w).fit(X, y)
    expected = X @ linear.coef_[0] + linear.intercept_
    np.testing.assert_allclose(linear.decision_function(X), expected, atol=1e-9)
    for wrong in (np.ones(3), -w, np.zeros(4)):
        with pytest.raises(ValueError, match="feature_weights must be 4 finite numbers"):
            clone(model).set_params(feature_weights=wrong).fit(X, y)
    with pytest.raises(ValueError, match="feature_weights need a kernel with a formula"):
        PositiveUnlabeledSVC(kernel="precomputed", feature_weights=np.ones(180)).fit(X @ X.T, y)


def test_probabilities_of_any_classifier_rise_with_the_score():
    X, y, _ = sample(30, 150)
    model = PositiveUnlabeledClassifier(LogisticRegression(), n_bags=5, random_state=0).fit(X, y)
    order = np.argsort(model.decision_function(X))
    assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()
