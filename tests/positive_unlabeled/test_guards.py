"""Each guard, triggered by an input built for it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from scarce import SVMC, NuSVC, OneClassSVM
from scarce.chunks import ArrayChunks
from scarce.positive_unlabeled import OneClassMapper
from tests.positive_unlabeled.samples import (
    disc_in_a_square,
    of_the_paper,
    overlapping,
    two_gaussians,
)

# What these tests are about is the loop; its model may be a poor one.
pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")


def test_nu_is_lowered_to_what_few_negatives_allow():
    # The example of the theory page: 521 positives, 1 negative.
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(521, 2)), [[9.0, 9.0]], random.normal(size=(40, 2))]
    y = np.r_[np.ones(521), np.zeros(41)]
    mask = np.arange(562) == 521
    with pytest.warns(UserWarning, match=r"nu lowered in the rounds \[1.*smaller class") as caught:
        model = of_the_paper(mapper=mask, diagnose=False).fit(X, y)
    assert len(caught) == 1
    assert model.history_["nu"][0] == pytest.approx(0.999 * 2 / 522)
    assert model.history_["guard"][0] == "nu lowered"
    assert model.predict([[9.0, 9.0]]) == [0]
    with pytest.raises(ValueError, match=r"nu=0.01 is infeasible.*0 < nu <= 0.00383"):
        of_the_paper(mapper=mask, on_infeasible="error").fit(X, y)


def test_weights_count_in_what_nu_may_be():
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([1, 1, 0])
    with pytest.warns(UserWarning, match="nu lowered"):
        model = SVMC(nu=1.0).fit(X, y, sample_weight=[1.0, 1.0, 0.5])
    assert model.nu_ == pytest.approx(0.999 * 2 * 0.5 / 2.5)


@pytest.mark.filterwarnings("ignore:nu raised")
def test_shared_rows_never_become_negatives():
    X, y = two_gaussians(40, 6.0, shared=3)
    model = SVMC(gamma=0.5).fit(X, y)
    shared = np.arange(40, 43)
    assert not np.isin(model.support_, shared).any()
    assert model.history_["negatives"][0] <= 37
    assert model.history_["accepted_share"][-1] == pytest.approx(
        (3 + model.history_["accepted"][-1]) / 40  # no round can reject them
    )
    # Even where everything else becomes a negative.
    everything = of_the_paper(mapper=np.ones(80, bool), classifier=NuSVC(nu=0.3))
    assert everything.fit(X, y).history_["negatives"] == [37]
    everything.set_params(drop_shared=False)
    assert everything.fit(X, y).history_["negatives"] == [40]


def test_no_strong_negatives():
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(100, 2)), 0.1 * random.normal(size=(50, 2))]
    y = np.r_[np.ones(100), np.zeros(50)]
    with pytest.raises(
        ValueError,
        match=r"no strong negatives: .* are between 0\.\d+ and .*larger gamma.*map_slack",
    ):
        SVMC(map_fallback=None).fit(X, y)
    with pytest.raises(ValueError, match="no strong negatives"):
        of_the_paper(mapper=np.zeros(150, bool), map_fallback=None).fit(X, y)
    with pytest.warns(UserWarning, match=r"begins with the 5 .*map_fallback=0.1"):
        model = SVMC(learner="csvc").fit(X, y)  # the default
    assert model.history_["negatives"][0] == 5
    with pytest.warns(UserWarning, match="begins with the 1 "):
        assert SVMC(map_fallback=0.0, learner="csvc").fit(X, y).history_["negatives"][0] == 1


def test_the_fallback_takes_the_lowest_scores():
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(100, 2)), 0.1 * random.normal(size=(50, 2))]
    y = np.r_[np.ones(100), np.zeros(50)]
    with pytest.warns(UserWarning, match="no strong negatives"):
        model = SVMC(map_fallback=0.2, learner="csvc", max_rounds=1, keep="all").fit(X, y)
    scores = model.mapper_.score_samples(X[100:])
    assert (scores >= 0).all()
    lowest = 100 + np.argsort(scores)[:10]
    assert set(model.support_[model.support_ >= 100]) <= set(lowest)


def test_all_unlabelled_rows_equal_to_positives():
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.repeat([1, 0], 20)
    with pytest.raises(ValueError, match=r"no strong negatives.*20 more equal a positive"):
        SVMC(map_fallback=0.5).fit(np.r_[X, X], y)


def test_everything_rejected_at_once():
    X, y = two_gaussians(30, 30.0)
    model = SVMC().fit(X, y)
    assert model.n_rounds_ == 1
    assert model.converged_
    assert model.history_["accepted"] == [0]
    assert model.accepted_share_ == 0.0
    assert np.isnan(model.class_prior_)
    np.testing.assert_array_equal(model.predict(X), y)


def test_positives_that_are_all_equal():
    random = np.random.default_rng(0)
    X = np.r_[np.ones((10, 2)), random.normal(size=(40, 2)) * 3]
    for n in (10, 1):
        y = np.r_[np.ones(n), np.zeros(50 - n)]
        rows = np.r_[X[:n], X[10:], np.ones((10 - n, 2))]
        with pytest.warns(UserWarning, match=f"the {n} positive rows are all equal"):
            model = SVMC(gamma=1.0).fit(rows, y)
        assert model.predict(rows[:1]) == [1]


def test_a_class_is_missing():
    X, y = disc_in_a_square(0)
    for label in (0, 1):
        with pytest.raises(ValueError, match="got 1 class: positive and unlabelled rows"):
            SVMC().fit(X, np.full(len(y), label))
    with pytest.raises(ValueError, match=r"same class: 30 positive rows and 0 unlabelled ones"):
        SVMC().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match=r"pos_label must be one of the labels \[0, 1\], got 2"):
        SVMC(pos_label=2).fit(X, y)


def test_the_threshold_of_the_mapper_is_lowered():
    # Recall of the theory page's example, on the sample and on fresh rows.
    random = np.random.default_rng(1)
    positives, fresh = random.normal(size=(300, 5)), random.normal(size=(20_000, 5))
    recall = {}
    for nu in (0.01, 0.05, 0.1, 0.3):
        mapper = OneClassMapper(OneClassSVM(nu=nu, gamma=0.1, tol=1e-6)).fit(positives)
        raw = mapper.detector_.decision_function(fresh) >= 0
        assert (mapper.score_samples(positives) >= 0).all()
        recall[nu] = raw.mean(), np.mean(mapper.score_samples(fresh) >= 0)
    printed = {0.01: (0.914, 0.914), 0.05: (0.906, 0.991), 0.1: (0.853, 0.997), 0.3: (None, 0.997)}
    for nu, (raw, lowered) in printed.items():
        # Of another sample of 300: two digits, the second uncertain.
        assert raw is None or recall[nu][0] == pytest.approx(raw, abs=0.05)
        assert recall[nu][1] == pytest.approx(lowered, abs=0.03)
    assert recall[0.1][1] > recall[0.01][1]


def test_slack_lowers_the_threshold_further():
    X, y = overlapping(0)
    scores = SVMC(learner="csvc").fit(X, y).mapper_.detector_.decision_function(X[y == 1])
    spread = np.sort(scores)[(scores.size - 1) // 2] - scores.min()
    strict = SVMC(learner="csvc").fit(X, y)
    lenient = SVMC(learner="csvc", map_slack=0.5).fit(X, y)
    assert lenient.mapper_.threshold_ == pytest.approx(strict.mapper_.threshold_ - 0.5 * spread)
    assert lenient.history_["negatives"][0] < strict.history_["negatives"][0]


def test_recall_on_the_positives_can_end_the_loop():
    # Slack is so cheap that the loop gives up the whole class.
    X, y = overlapping(1)
    cheap = {"learner": "csvc", "C": 0.1, "gamma": 0.3}
    free = SVMC(**cheap).fit(X, y)
    recall = np.array(free.history_["recall"])
    assert recall[0] > 0.8
    assert recall[-1] == 0.0
    least = 0.6
    first_below = int(np.argmax(recall < least))
    assert 1 < first_below < free.n_rounds_ - 1
    model = SVMC(**cheap, stop_recall=least).fit(X, y)
    assert model.round_kept_ == first_below - 1
    assert model.n_rounds_ == first_below + 1
    assert model.history_["recall"] == free.history_["recall"][: first_below + 1]
    # The model is the one of that round.
    inside = model.decision_function(X[y == 1]) >= 0
    assert inside.mean() == pytest.approx(recall[first_below - 1])
    assert inside.mean() >= least
    share = free.history_["accepted_share"][first_below - 1]
    assert model.history_["accepted_share"][model.round_kept_] == share
    assert model.converged_
    with pytest.warns(UserWarning, match="no round has a recall of stop_recall=0.99"):
        model = SVMC(**cheap, stop_recall=0.99).fit(X, y)
    assert model.round_kept_ == 0


def test_no_margin_at_any_nu():
    X = np.zeros((20, 2))
    X[10:] = 1e-9  # no kernel of ordinary width tells the classes apart
    X[:10, 0] = np.linspace(0, 1e-10, 10)
    mask = np.ones(20, bool)
    y = np.repeat([1, 0], 10)
    with pytest.raises(ValueError, match=r"nu=0.01 leaves no margin.*up to 1.*learner=\"csvc\""):
        of_the_paper(mapper=mask, classifier=NuSVC(nu=0.01, gamma=1.0)).fit(X, y)


@pytest.mark.parametrize("in_chunks", [False, True])
def test_a_later_round_without_a_margin_keeps_those_before_it(in_chunks):
    # Every round halves the gap, until the kernel no longer tells the rows at 11 from the class.
    levels = [1000.0, 600.0, 340.0, 190.0, 105.0, 58.0, 33.0, 20.0]
    unlabelled = np.r_[levels, np.linspace(11.0, 11.1, 40), 0.05]
    X = np.r_[np.linspace(0.0, 0.1, 10), unlabelled][:, None]
    y = np.r_[np.ones(10), np.zeros(unlabelled.size)]
    model = of_the_paper(mapper=np.arange(y.size) == 10, classifier=NuSVC(nu=0.01, gamma=1e-6))
    said = r"round 9 has no margin .* classifier of round 8.* 41 negatives: nu=0.01 .*csvc"
    with pytest.warns(ConvergenceWarning, match=said):
        model.fit(*((ArrayChunks(X, y=y),) if in_chunks else (X, y)))
    assert not model.converged_
    assert model.fit_status_ == 1
    assert (model.n_rounds_, model.round_kept_) == (8, 7)
    assert {len(values) for values in model.history_.values()} == {8}
    # The boundary is half-way between the class and the last row that had a margin.
    np.testing.assert_array_equal(model.predict([[9.9], [10.2]]), [1, 0])
