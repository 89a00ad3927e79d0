"""PositiveUnlabeledSVC: what it finds, what it says of itself, and that it is one model."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from scarce import PositiveUnlabeledSVC, ScarceDataWarning, pu_threshold
from scarce.datasets import label_some_positives
from scarce.model_selection import lee_liu_scorer, out_of_bag_auc_scorer
from tests.positive_unlabeled.internals import draw, folds


def sample(n_labelled=60, n_unlabelled=400, share=0.25, distance=2.0, d=4, seed=0):
    """Return rows, labels and truth: a class of normal rows beside another."""
    random = np.random.default_rng(seed)
    truth = np.r_[np.ones(n_labelled, bool), random.random(n_unlabelled) < share]
    X = random.normal(size=(truth.size, d)) + distance * truth[:, None]
    y = np.r_[np.ones(n_labelled, int), np.zeros(n_unlabelled, int)]
    return X, y, truth


@pytest.fixture(scope="module")
def fitted():
    X, y, truth = sample()
    return X, y, truth, PositiveUnlabeledSVC(random_state=0).fit(X, y)


@pytest.mark.parametrize("n_bags", [50, 0])
def test_it_finds_the_class(n_bags):
    X, y, truth = sample()
    model = PositiveUnlabeledSVC(n_bags=n_bags, random_state=0).fit(X, y)
    assert model.C_ == 1.0
    new, _, new_truth = sample(seed=1)
    assert f1_score(new_truth, model.predict(new)) > 0.9
    share = truth[y == 0].mean()
    assert model.accepted_share_ == pytest.approx(share, rel=1 / 3)
    assert model.class_prior_ == pytest.approx(share, rel=1 / 3)
    low, high = model.class_prior_interval_
    assert 0 < low <= model.class_prior_ <= high <= 1
    assert model.dual_gap_ <= model.tol
    assert model.kkt_violation_ <= model.tol


def test_the_model_is_one_sum_of_kernels(fitted):
    X, _, _, model = fitted
    values = rbf_kernel(X, model.support_vectors_, gamma=model.gamma_)
    expected = values @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert np.unique(model.support_).size == model.support_.size


def test_out_of_bag_scores_speak_of_the_area_and_the_share(fitted):
    *_, model = fitted
    positive, unlabelled = model.out_of_bag_scores_
    truth = np.repeat([1, 0], [positive.size, unlabelled.size])
    area = roc_auc_score(truth, np.r_[positive, unlabelled])
    assert model.out_of_bag_auc_ == pytest.approx(area)
    assert np.mean(unlabelled > 0) == pytest.approx(model.accepted_share_)


def test_one_program_is_scikit_learns_with_equal_totals():
    X, y, _ = sample(40, 200)
    model = PositiveUnlabeledSVC(n_bags=0, gamma=0.1, tol=1e-6, random_state=0).fit(X, y)
    peer = svm.SVC(gamma=0.1, tol=1e-6, class_weight={1: 1.0, 0: 40 / 200}).fit(X, y)
    difference = model.decision_function(X) - peer.decision_function(X)
    assert np.ptp(difference) < 1e-3  # but for the threshold


@pytest.mark.parametrize("labels", [("no", "yes"), ("yes", "unknown"), (True, False), (1, -1)])
def test_decisions_are_positive_for_the_second_class(labels):
    X, y, truth = sample()
    first, second = sorted(labels)
    for positive, other in ((first, second), (second, first)):
        model = PositiveUnlabeledSVC(pos_label=positive, n_bags=10, random_state=0)
        model.fit(X, np.where(y, positive, other))
        answers = model.predict(X)
        np.testing.assert_array_equal(answers == second, model.decision_function(X) > 0)
        assert f1_score(truth, answers == positive) > 0.9


def test_the_word_for_unlabelled_settles_the_positive_label():
    X, y, _ = sample(30, 100)
    model = PositiveUnlabeledSVC(n_bags=10, random_state=0)
    assert model.fit(X, np.where(y, "spam", "Unlabeled")).pos_label_ == "spam"
    assert model.fit(X, np.where(y, "yes", "?")).pos_label_ == "yes"
    with pytest.warns(ScarceDataWarning, match=r"'spam' is taken for the label of positive"):
        model.fit(X, np.where(y, "spam", "mail"))
    with pytest.warns(ScarceDataWarning, match="2 is taken"):
        model.fit(X, np.where(y, 2, 1))


@pytest.mark.parametrize("n_bags", [20, 0])
def test_weights_and_order_change_nothing(n_bags):
    X, y, _ = sample(30, 150)
    random = np.random.default_rng(0)
    weights = random.integers(0, 3, y.size)
    model = PositiveUnlabeledSVC(n_bags=n_bags, random_state=0)
    one = clone(model).fit(X, y, sample_weight=weights)
    order = random.permutation(weights.sum())
    rows = np.repeat(np.arange(y.size), weights)[order]
    two = clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        one.decision_function(X), two.decision_function(X), rtol=1e-9, atol=1e-12
    )
    assert one.class_prior_ == pytest.approx(two.class_prior_, rel=1e-9)
    assert one.accepted_share_ == pytest.approx(two.accepted_share_, rel=1e-9)


def test_kinds_of_rows_agree(tmp_path):
    X, y, _ = sample(30, 150)
    model = PositiveUnlabeledSVC(gamma=0.1, n_bags=10, random_state=0)
    expected = clone(model).fit(X, y).decision_function(X)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_allclose(clone(model).fit(mapped, y).decision_function(mapped), expected)
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(
        clone(model).fit(rows, y).decision_function(rows), expected, rtol=1e-6, atol=1e-9
    )
    by_hand = clone(model).set_params(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.1))
    np.testing.assert_allclose(
        by_hand.fit(X, y).decision_function(X), expected, rtol=1e-6, atol=1e-9
    )


def test_a_precomputed_kernel():
    X, y, truth = sample(40, 200)
    K = rbf_kernel(X, gamma=0.1)
    model = PositiveUnlabeledSVC(kernel="precomputed", random_state=0).fit(K, y)
    assert f1_score(truth, model.predict(K)) > 0.9


def test_a_prior_that_is_given_is_taken():
    X, y, _ = sample()
    model = PositiveUnlabeledSVC(class_prior=0.1, n_bags=10, random_state=0).fit(X, y)
    assert model.accepted_share_ == pytest.approx(0.1, abs=1 / 400)
    assert model.class_prior_ == 0.1
    assert model.class_prior_interval_ == (0.1, 0.1)


def test_another_width_is_taken_where_it_is_clearly_better():
    random = np.random.default_rng(0)
    X = random.uniform(-9, 9, size=(600, 2))
    inside = (np.floor(X / 4.5).sum(axis=1) % 2 == 0) & (np.abs(X % 4.5 - 2.25) < 1.6).all(axis=1)
    y = (inside & (np.cumsum(inside) <= 100)).astype(int)  # fields of a chess board
    model = PositiveUnlabeledSVC(n_bags=10, random_state=0)
    scale = 1 / (2 * X.var())
    assert clone(model).fit(X, y).gamma_ == pytest.approx(2 * scale)
    X, y, _ = sample(12, 150)  # normal rows: all widths do, and twelve rows cannot tell
    model.set_params(feature_weights=None).fit(X, y)
    assert model.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))


def test_costs_of_a_rare_class_are_higher():
    X, y, truth = sample(40, 1000, share=0.05)
    model = PositiveUnlabeledSVC(n_bags=10, random_state=0).fit(X, y)
    assert 3.0 < model.C_ <= 10.0
    assert model.accepted_share_ == pytest.approx(truth[y == 0].mean(), rel=1 / 2)
    prior = clone(model).set_params(class_prior=0.05, C=1.0).fit(X, y)
    assert prior.C_ == pytest.approx(6.0)
    assert clone(model).set_params(class_prior=0.01, C=2.0).fit(X, y).C_ == 20.0
    X, y, _ = sample(40, 1000)
    assert clone(model).set_params(class_prior=0.25).fit(X, y).C_ == 1.0
    assert clone(model).set_params(class_prior=0.05, n_bags=0).fit(X, y).C_ == 1.0


def test_easy_rows_labelled_first_are_noticed():
    random = np.random.default_rng(0)
    truth = random.random(600) < 0.25
    X = random.normal(size=(600, 6)) + 1.2 * truth[:, None]
    model = PositiveUnlabeledSVC(n_bags=10, random_state=0)
    y = label_some_positives(X, truth, 40, bias=0.0, random_state=0)
    fair = clone(model).fit(X, y).accepted_share_
    y = label_some_positives(X, truth, 40, bias=2.0, random_state=0)
    with pytest.warns(ScarceDataWarning, match="easy cases were labelled first"):
        model.fit(X, y)
    assert model.accepted_share_ < 0.5 * fair  # what is warned of
    assert model.class_prior_interval_[1] > pu_threshold(*model.out_of_bag_scores_).interval[1]


def test_it_says_when_it_cannot_tell():
    X, y, _ = sample(distance=0.0)
    with pytest.warns(ScarceDataWarning, match="hardly rank above"):
        PositiveUnlabeledSVC(n_bags=10, random_state=0).fit(X, y)
    X, y, _ = sample(6, 200)
    with pytest.warns(ScarceDataWarning, match="only 6 positive rows"):
        PositiveUnlabeledSVC(n_bags=10, random_state=0).fit(X, y)
    X, y, _ = sample(1, 200)
    with pytest.raises(ValueError, match=r"at least two different positive rows.*labelled 1"):
        PositiveUnlabeledSVC().fit(X, y)
    with pytest.raises(ValueError, match="n_bags must be 0"):
        PositiveUnlabeledSVC(n_bags=1).fit(X, y)


@pytest.mark.filterwarnings("ignore:the positive rows hardly")  # of the width that loses
def test_scores_for_searches_need_no_negatives(fitted):
    X, y, _, model = fitted
    assert model.score(X, y) == lee_liu_scorer(model, X, y)
    assert model.score(X, y) > 1.0
    search = GridSearchCV(
        PositiveUnlabeledSVC(n_bags=10, random_state=0),
        {"gamma": [0.1, 1e4]},
        scoring=out_of_bag_auc_scorer,
        cv=[(np.arange(y.size), np.arange(2))],
    ).fit(X, y)
    assert search.best_params_ == {"gamma": 0.1}
    with pytest.raises(ValueError, match="out_of_bag_auc_scorer needs"):
        out_of_bag_auc_scorer(svm.SVC())


def test_draws_and_folds():
    random = np.random.default_rng(0)
    rows, counts = draw(random, np.ones(100), 30)
    assert rows.size == 30
    assert (counts == 1).all()
    times = np.zeros(3)
    for _ in range(2000):
        rows, counts = draw(random, np.array([1.0, 2.0, 5.0]), 4)
        times[rows] += counts
    np.testing.assert_allclose(times / 8000, [1 / 8, 2 / 8, 5 / 8], atol=0.02)
    number = folds(random, np.ones(23), 5)
    assert set(np.bincount(number)) == {4, 5}
    number = folds(random, np.r_[1e6, np.ones(9)], 5)
    assert set(number) == set(range(5))


def test_many_labelled_rows_of_a_rare_class_tell_how_many_to_accept():
    """The others are skewed, and no normal distribution: a fit of two would accept too many."""
    ratios = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        hidden = random.random(3000) < 0.04
        X = np.c_[-1.5 * random.gamma(2, size=3000), random.normal(size=(3000, 2))]
        X[hidden] = 0.6 * random.normal(size=(hidden.sum(), 3)) + [1.2, 0, 0]
        positive = 0.6 * random.normal(size=(500, 3)) + [1.2, 0, 0]
        model = PositiveUnlabeledSVC(random_state=0)
        model.fit(np.r_[positive, X], np.repeat([1, 0], [500, 3000]))
        ratios.append(model.accepted_share_ / hidden.mean())
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.2)
