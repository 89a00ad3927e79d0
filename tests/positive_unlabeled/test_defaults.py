"""MappingConvergence without arguments: the parts that work where nothing is tuned."""

import numpy as np
import pytest
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel

from scarce import SVC, SVMC, MappingConvergence, PositiveUnlabeledSVC, ScarceDataWarning
from scarce.positive_unlabeled import OutOfBagMapper, best_round
from tests.positive_unlabeled.internals import held_out_rows


def sample(seed=0, n_labelled=40, n_unlabelled=300):
    random = np.random.default_rng(seed)
    truth = np.r_[np.ones(n_labelled, bool), random.random(n_unlabelled) < 0.25]
    X = random.normal(size=(truth.size, 3)) + 2.0 * truth[:, None]
    return X, np.r_[np.ones(n_labelled, int), np.zeros(n_unlabelled, int)], truth


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
def test_the_parts():
    X, y, _ = sample()
    model = MappingConvergence().fit(X, y)
    assert isinstance(model.mapper_, OutOfBagMapper)
    assert isinstance(model.classifier_, SVC)
    assert model.classifier_.class_weight == "equal-total"
    assert model.get_params()["keep"] == "all"
    assert len(model.history_["held_out_recall"]) == model.n_rounds_
    # Chosen on held-out positives: the round with the largest squared recall over the share.
    history = model.history_
    values = np.square(history["held_out_recall"]) / history["accepted_share"]
    assert values[model.round_kept_] == values.max()
    new, _, new_truth = sample(1)
    paper = SVMC().fit(X, y)
    assert f1_score(new_truth, model.predict(new)) > f1_score(new_truth, paper.predict(new))
    assert f1_score(new_truth, model.predict(new)) > 0.8


def test_the_mapper_ranks_by_machines_without_the_row():
    X, y, _ = sample()
    bags = PositiveUnlabeledSVC(n_bags=10, random_state=0)
    mapper = OutOfBagMapper(bags).fit(X[y == 1], unlabeled=[(X[y == 0], np.ones(300))])
    plain = bags.fit(X, y)
    # The same draws, and so the same scores but for their order.
    np.testing.assert_allclose(mapper.bags_.out_of_bag_scores_[0], plain.out_of_bag_scores_[0])
    own = mapper.bags_.out_of_bag_scores_[0]
    assert np.mean(own < mapper.threshold_) <= 0.05
    with pytest.raises(ValueError, match="unlabeled must give at least one"):
        OutOfBagMapper().fit(X)


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
def test_a_precomputed_kernel_is_that_of_all_parts():
    X, y, truth = sample()
    K = rbf_kernel(X, gamma=0.2)
    model = MappingConvergence(classifier=SVC(kernel="precomputed")).fit(K, y)
    assert model.mapper_.bags_.kernel == "precomputed"
    assert f1_score(truth, model.predict(K)) > 0.6


def test_which_positives_are_held_out():
    keys = np.array([3, 3, 0, 1, 2, 4, 5, 6, 7, 8])
    held = held_out_rows(keys)
    assert sorted(set(keys[held])) == [4]
    assert not held_out_rows(np.array([0, 1, 2, 2])).any()
    history = {"held_out_recall": [1.0, 1.0, 0.5], "accepted_share": [0.5, 0.4, 0.3]}
    assert best_round(history) == (1, True)
    assert best_round(history, patience=1) == (1, False)


def test_a_sample_of_one_kind_is_said():
    X, y, _ = sample(n_labelled=40)
    random = np.random.default_rng(0)
    noise = random.normal(size=X.shape)
    with pytest.warns(ScarceDataWarning):
        MappingConvergence().fit(noise, y)
