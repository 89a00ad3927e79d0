"""Estimates of the class prior: which one is given, and what is refused."""

import numpy as np
import pytest

from scarce import UnbiasedPUSVC
from scarce.positive_unlabeled import estimate_prior
from tests.positive_unlabeled.internals import _thinned

RANDOM = np.random.default_rng(0)
POSITIVE = RANDOM.uniform(0.5, 1.0, 40)
OTHERS = np.r_[RANDOM.uniform(0.0, 0.6, 90), RANDOM.uniform(0.5, 1.0, 30)]


@pytest.mark.parametrize("method", ["top", "logistic", "elkan_noto"])
def test_the_prior_is_that_of_the_method(method):
    combined, found = (
        estimate_prior(POSITIVE, OTHERS),
        estimate_prior(POSITIVE, OTHERS, method=method),
    )
    assert found.prior == found.by_method[method] != combined.prior
    assert found.interval[0] <= found.prior <= found.interval[1]


@pytest.mark.parametrize(("low", "high"), [(-0.1, 0.5), (0.5, 1.1)])
@pytest.mark.parametrize("place", [0, 1])
def test_scores_that_are_no_probabilities_are_refused(low, high, place):
    scores = [POSITIVE, OTHERS]
    scores[place] = np.r_[scores[place], low, high]
    with pytest.raises(ValueError, match="needs probabilities of being labelled as scores"):
        estimate_prior(*scores, method="elkan_noto")


def test_a_curve_that_does_not_level_off_lowers_the_prior_by_a_quarter():
    random = np.random.default_rng(0)
    # Of one normal distribution and of another the odds are an exponential curve, without an end.
    found = estimate_prior(random.normal(1, 1, 300), random.normal(0, 1, 2000))
    ranks, curve = found.by_method["top"], found.by_method["logistic"]
    assert curve < 0.05 < ranks
    assert found.prior == pytest.approx(0.7579 * ranks, rel=1e-3)  # 2^-.4 = .7579
    assert found.interval[0] < ranks / 10  # the interval says more of what the curve says


def test_thinned_scores_keep_weight_and_mean():
    scores, weights = RANDOM.normal(size=5000), RANDOM.uniform(0.5, 2.0, 5000)
    fewer, totals = _thinned(scores, weights)
    assert fewer.size == totals.size == 2000
    assert totals.sum() == pytest.approx(1.0, rel=1e-12)
    assert totals @ fewer == pytest.approx(np.average(scores, weights=weights), rel=1e-9)


def test_any_positive_cost_is_accepted():
    X, y = np.r_[POSITIVE, OTHERS][:, None], np.r_[np.ones(40), np.zeros(120)]
    assert np.abs(UnbiasedPUSVC(class_prior=0.25, C=0.01).fit(X, y).dual_coef_).max() <= 0.02
