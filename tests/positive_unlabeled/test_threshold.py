"""The threshold rule on simulated scores with a known share."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from scarce import ScarceDataWarning, pu_threshold
from scarce.positive_unlabeled import area_under_curve
from tests.positive_unlabeled.internals import Shares, gain_of_area, mid_ranks, rank_density


def scores(share, n_positive, n_unlabelled, distance, seed):
    random = np.random.default_rng(seed)
    hidden = random.random(n_unlabelled) < share
    unlabelled = random.normal(size=n_unlabelled) + distance * hidden
    return random.normal(size=n_positive) + distance, unlabelled, hidden


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_the_share_is_found_where_the_class_stands_out(share):
    ratios, covered = [], []
    for seed in range(100):
        positive, unlabelled, hidden = scores(share, 200, 4000, 4.0, seed)
        found = pu_threshold(positive, unlabelled)
        ratios.append(found.share / hidden.mean())
        covered.append(found.interval[0] <= hidden.mean() <= found.interval[1])
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.07)
    assert np.mean(covered) >= 0.9  # 0.95 is meant


def test_the_threshold_accepts_the_share_and_lies_between_scores():
    positive, unlabelled, _ = scores(0.3, 100, 1000, 2.0, 0)
    found = pu_threshold(positive, unlabelled)
    assert np.mean(unlabelled > found.threshold) == pytest.approx(found.share, abs=1.5 / 1000)
    assert not np.isin(found.threshold, unlabelled)
    told = pu_threshold(positive, unlabelled, share=0.1)
    assert np.sum(unlabelled > told.threshold) == 100
    assert told.interval == (0.1, 0.1)


def test_only_ranks_matter():
    positive, unlabelled, _ = scores(0.3, 60, 500, 2.0, 1)
    one, two = pu_threshold(positive, unlabelled), pu_threshold(positive**3, unlabelled**3)
    assert (one.share, one.interval, one.auc) == (two.share, two.interval, two.auc)


def test_weights_are_repetitions():
    positive, unlabelled, _ = scores(0.3, 40, 300, 2.0, 2)
    random = np.random.default_rng(0)
    times = random.integers(0, 4, 40), random.integers(0, 4, 300)
    one = pu_threshold(positive, unlabelled, weight_positive=times[0], weight_unlabeled=times[1])
    two = pu_threshold(np.repeat(positive, times[0]), np.repeat(unlabelled, times[1]))
    assert one.share == pytest.approx(two.share, rel=1e-12)
    assert one.auc == pytest.approx(two.auc, rel=1e-12)
    assert one.auc_se == pytest.approx(two.auc_se, rel=1e-9)
    accepted = [np.repeat(unlabelled, times[1]) > each.threshold for each in (one, two)]
    np.testing.assert_array_equal(*accepted)


def test_area_and_its_standard_error():
    draws = []
    for seed in range(200):
        positive, unlabelled, _ = scores(0.0, 30, 200, 1.0, seed)
        area, error = area_under_curve(positive, unlabelled, (np.ones(30), np.ones(200)))
        truth = np.repeat([1, 0], [30, 200])
        assert area == pytest.approx(roc_auc_score(truth, np.r_[positive, unlabelled]))
        draws.append((area, error))
    areas, errors = np.transpose(draws)
    assert errors.mean() == pytest.approx(areas.std(), rel=0.15)


def test_the_error_of_a_gain_is_that_of_the_same_rows():
    draws, weights = [], (np.ones(40), np.ones(200))
    for seed in range(200):
        before, after = scores(0.0, 40, 200, 1.0, seed)[:2], []
        random = np.random.default_rng(1000 + seed)
        for each in before:
            after.append(each + 0.3 * random.normal(size=each.size))
        gain, error = gain_of_area(tuple(after), before, weights)
        truth = np.repeat([1, 0], [40, 200])
        areas = [roc_auc_score(truth, np.concatenate(each)) for each in (after, before)]
        assert gain == pytest.approx(areas[0] - areas[1])
        draws.append((gain, error))
    gains, errors = np.transpose(draws)
    assert errors.mean() == pytest.approx(gains.std(), rel=0.15)


def test_mid_ranks_by_hand():
    ranks = mid_ranks(np.array([0.0, 1.0, 2.0, 5.0]), np.array([1.0, 2.0, 2.0]), np.ones(3))
    np.testing.assert_allclose(ranks, [0.0, 1 / 6, 2 / 3, 1.0])


def test_the_density_increases_and_has_mean_one():
    ranks = np.random.default_rng(0).beta(5, 2, 80)
    density = rank_density(ranks, np.ones(80))
    assert (np.diff(density) >= -1e-12).all()
    assert density.mean() == pytest.approx(1.0)


def test_warnings():
    positive, unlabelled, _ = scores(0.3, 50, 500, 0.0, 0)
    with pytest.warns(ScarceDataWarning, match=r"hardly rank above .*0.5 is chance"):
        pu_threshold(positive, unlabelled)
    positive, unlabelled, _ = scores(0.3, 9, 500, 4.0, 0)
    with pytest.warns(ScarceDataWarning, match="only 9 positive rows"):
        few = pu_threshold(positive, unlabelled)
    assert few.interval[1] > 1.9 * few.share  # the factor that the warning speaks of


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [1.0]), "scores_positive"),
        (([1.0], [np.nan]), "scores_unlabeled"),
        (([1.0, 2.0], [0.0, 1.0], -1.0), "share must lie"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        pu_threshold(*arguments[:2], share=dict(enumerate(arguments)).get(2))


@pytest.mark.parametrize(("labelled", "share"), [(5.0, 0.2812), (15.0, 0.2035), (100.0, 0.1623)])
@pytest.mark.parametrize("swapped", [False, True])
def test_the_share_leans_to_the_larger_one_with_few_labelled_rows(labelled, share, swapped):
    # Ranks say .1 and the shape .3, ln(3) * sqrt(4) standard errors apart: by hand, the shape has a
    # part of .4409, and the larger one exp(-(labelled / 15)^2) of what is accepted.
    both = (0.3, 0.1) if swapped else (0.1, 0.3)
    if swapped:  # 0.3^.5591 * 0.1^.4409 = .1848
        lean = {5.0: 0.8948, 15.0: 0.3679, 100.0: 0.0}[labelled]
        share = 0.1848 ** (1 - lean) * 0.3**lean
    shares = Shares(both[0], 0.05, both[1], 0.9, 4.0, labelled)
    assert shares.accepted("random") == pytest.approx(share, rel=2e-3)
    assert shares.accepted(None) == both[0]  # pu_threshold: ranks alone


@pytest.mark.parametrize(
    ("by_rank", "by_lowest", "n", "curve", "biased"),
    [
        (0.1, 0.45, 50.0, 0.1, True),  # log 4 is 9.8 standard errors
        (0.1, 0.50, 50.0, 0.1, False),  # labelled rows reach 1.25 times as far as the shape
        (0.1, 0.45, 8.0, 0.1, False),  # 3.9 standard errors
        (0.2, 0.45, 50.0, 0.2, False),  # twice as much is not enough
        (0.2, 0.45, 50.0, 0.01, True),  # a curve of a third of the ranks: 3.5 times, 8.8 errors
    ],
)
def test_labels_are_biased_where_ranks_and_curve_contradict_the_shape(
    by_rank, by_lowest, n, curve, biased
):
    assert Shares(by_rank, 0.05, 0.4, by_lowest, n, 60.0).differ(curve) is biased


@pytest.mark.parametrize("share", [0.005, 0.02, 0.2])
def test_a_rare_class_is_not_overstated(share):
    found = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        n = round(10_000 * share)
        unlabelled = np.r_[random.normal(4, 1, n), random.normal(0, 1, 10_000 - n)]
        found.append(pu_threshold(random.normal(4, 1, 100), unlabelled).share)
    assert np.mean(found) == pytest.approx(share, rel=0.15)
