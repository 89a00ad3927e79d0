"""The cost per row, the calibration by shares, what these are worth, and the warnings."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

import scarce
from scarce import GroupProbabilitySVM, ScarceDataWarning, TransferGroupProbabilitySVM
from scarce.proportions import effective_labels, expand_proportions, group_proportions

BOTH = [GroupProbabilitySVM, TransferGroupProbabilitySVM]
PUBLISHED = {"cost_per": "group", "calibrate": None}


def sample(n=640, size=8, classes=2, seed=0):
    """Rows in groups that differ much in their shares."""
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(classes, size=n))
    swap = rng.random(n) < 0.5
    labels[swap] = rng.permutation(labels[swap])
    X = rng.normal(size=(n, 3)) + 2.0 * np.eye(3)[labels]
    groups = np.arange(n) // size
    return X, labels, groups, expand_proportions(group_proportions(labels, groups), groups)


@pytest.mark.parametrize("kind", BOTH)
def test_a_cost_per_row_is_the_group_cost_times_the_size(kind):
    X, _, groups, share = sample()
    name = "C" if kind is GroupProbabilitySVM else "C_group"
    row = kind(**{name: 0.5}, calibrate=None).fit(X, share, groups)
    group = kind(**{name: 4.0}, **PUBLISHED).fit(X, share, groups)
    np.testing.assert_allclose(row.decision_function(X), group.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kind", BOTH)
def test_the_former_name_of_cost_per_warns_and_acts(kind):
    X, _, groups, share = sample(n=160)
    former = clone(kind(calibrate=None).set_params(price="group"))
    assert former.get_params()["price"] == "group"
    with pytest.warns(FutureWarning, match="use cost_per='group'"):
        former.fit(X, share, groups)
    assert former.get_params()["price"] == "group"  # a fit changes no parameter
    now = kind(**PUBLISHED).fit(X, share, groups)
    np.testing.assert_array_equal(former.decision_function(X), now.decision_function(X))
    assert "price" not in repr(now)


@pytest.mark.parametrize("kind", BOTH)
def test_labels_are_as_before(kind):
    X, labels, _, _ = sample(n=200)
    default = kind().fit(X, labels)
    published = kind(**PUBLISHED).fit(X, labels)
    np.testing.assert_array_equal(default.decision_function(X), published.decision_function(X))
    assert default.calibration_ is None
    assert default.left_out_loss_ == {}
    assert default.effective_labels_ == pytest.approx(200)


@pytest.mark.parametrize("kind", BOTH)
def test_groups_of_one_distinct_row_are_not_calibrated_and_do_not_warn(kind):
    X, labels, _, _ = sample(n=24)
    twice, groups = np.repeat(X, 2, axis=0), np.repeat(np.arange(24), 2)
    model = kind().fit(twice, np.repeat(labels, 2), groups)
    assert model.calibration_ is None
    again = kind().fit(X, labels, np.arange(24), sample_weight=np.full(24, 2.0))
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kind", BOTH)
def test_the_calibration_is_the_minimum_of_its_loss(kind):
    X, _, groups, share = sample()
    plain = kind(calibrate=None).fit(X, share, groups)
    model = kind(calibrate="shares").fit(X, share, groups)
    f, q = plain.decision_function(X), share[::8]

    def loss(place):
        p = expit(np.exp(place[0]) * f + place[1]).reshape(-1, 8).mean(axis=1)
        fit = q * np.log(p) + (1 - q) * np.log(1 - p)
        return -8 * fit.sum() + 0.05 * place @ place

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-7}).x
    a, b = model.calibration_
    np.testing.assert_allclose([np.log(a), b], best, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X), f + b / a)
    np.testing.assert_allclose(model.intercept_, plain.intercept_ + b / a)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(a * f + b))
    np.testing.assert_array_equal(model.predict(X) == 1, model.predict_proba(X)[:, 1] > 0.5)


def test_several_classes_have_one_slope_and_a_shift_each():
    X, labels, groups, share = sample(classes=3)
    plain = GroupProbabilitySVM(calibrate=None).fit(X, share, groups)
    model = GroupProbabilitySVM(calibrate="shares").fit(X, share, groups)
    a, b = model.calibration_
    assert b.shape == (3,)
    p = softmax(a * plain.decision_function(X) + b, axis=1)
    np.testing.assert_allclose(model.predict_proba(X), p)
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))
    assert (model.predict(X) == labels).mean() > 0.8
    assert set(model.left_out_loss_) == {"uncalibrated", "calibrated"}


@pytest.mark.parametrize("kind", BOTH)
def test_weights_are_repetitions(kind):
    X, _, groups, share = sample(n=320)
    times = np.random.default_rng(1).integers(1, 3, size=len(X))
    again = np.repeat(np.arange(len(X)), times)
    weighted = kind(calibrate="shares", tol=1e-6).fit(X, share, groups, sample_weight=times)
    repeated = kind(calibrate="shares", tol=1e-6).fit(X[again], share[again], groups[again])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)
    assert weighted.effective_labels_ == pytest.approx(repeated.effective_labels_)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_every_kind_of_rows(kernel):
    X, _, groups, share = sample(n=400)
    expected = GroupProbabilitySVM(kernel="linear" if kernel == "linear" else "rbf", gamma=0.3)
    expected.fit(X, share, groups)
    given = {"linear": sparse.csr_array(X), "rbf": sparse.csr_array(X)}.get(kernel)
    if given is None:
        given = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = GroupProbabilitySVM(kernel=kernel, gamma=0.3).fit(given, share, groups)
    np.testing.assert_allclose(model.predict_proba(given), expected.predict_proba(X), atol=1e-4)
    assert model.left_out_loss_ == pytest.approx(expected.left_out_loss_, abs=1e-4)


def test_effective_labels_are_those_of_the_groups():
    X, _, groups, share = sample()
    model = GroupProbabilitySVM(calibrate="shares").fit(X, share, groups)
    assert model.effective_labels_ == pytest.approx(effective_labels(share[::8], np.full(80, 8)))


def test_a_harmful_calibration_is_not_used(monkeypatch):
    X, _, groups, share = sample()
    used = GroupProbabilitySVM(calibrate="shares").fit(X, share, groups)
    assert used.left_out_loss_["calibrated"] < used.left_out_loss_["uncalibrated"]
    # A shift that no share supports.
    wrong = lambda scores, in_groups, shares: (1.0, np.full(scores.shape[1], 9.0))  # noqa: E731
    monkeypatch.setattr("scarce.proportions._calibrated.fit_share_calibration", wrong)
    model = GroupProbabilitySVM(calibrate="shares").fit(X, share, groups)
    assert model.calibration_ is None
    assert model.left_out_loss_["calibrated"] > model.left_out_loss_["uncalibrated"]


def test_few_groups_have_no_extra_fit():
    X, _, _, _ = sample(n=720)
    groups = np.arange(720) // 80
    share = np.where(groups % 2, 0.9, 0.1)
    model = GroupProbabilitySVM(calibrate="shares").fit(X + share[:, None], share, groups)
    assert model.left_out_loss_ == {}
    assert model.calibration_ is not None


def test_shares_worth_few_labels_are_said_in_plain_words():
    X, labels, _, _ = sample(n=64)
    groups = np.random.default_rng(0).permutation(64) // 8
    share = expand_proportions(group_proportions(labels, groups), groups)
    with pytest.warns(ScarceDataWarning, match="proportions of 8 groups are worth about . labels"):
        GroupProbabilitySVM().fit(X, share, groups)


def test_one_label_and_all_at_the_bound_are_said():
    X, _, groups, _ = sample(n=640, size=32)
    share = np.where(groups % 2, 0.7, 0.05)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GroupProbabilitySVM(calibrate="shares", C=1e-6).fit(X, share, groups)
    said = " ".join(str(each.message) for each in caught)
    assert all(issubclass(each.category, ScarceDataWarning) for each in caught)
    assert "all training rows get one label" in said
    assert "raise C" in said


def test_a_source_that_is_as_good_alone_is_said():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(640, 20)), np.arange(640) // 8
    labels = (X[:, 0] > 0.3).astype(int)
    share = expand_proportions(group_proportions(labels, groups), groups)
    right = (np.eye(20)[0] * 8.0, -2.4)
    settings = {"source": right, "kernel": "linear", "transfer": 0.01}
    with pytest.warns(ScarceDataWarning, match="source_calibration_"):
        model = TransferGroupProbabilitySVM(calibrate="shares", **settings).fit(X, share, groups)
    assert model.left_out_loss_["source"] < model.left_out_loss_["calibrated"]
    assert len(model.source_calibration_) == 2


def test_a_poor_source_is_beaten_in_silence():
    X, labels, groups, share = sample()
    source = SVC(gamma=0.3).fit(X[::9] + np.array([3.0, 0.0, 0.0]), labels[::9])
    model = TransferGroupProbabilitySVM(
        calibrate="shares", source=FrozenEstimator(source), gamma=0.3
    )
    model.fit(X, share, groups)
    assert model.left_out_loss_["calibrated"] < model.left_out_loss_["source"]
    assert (model.predict(X) == labels).mean() > (source.predict(X) == labels).mean()


def test_many_rows_are_scored_in_part(monkeypatch):
    X, _, groups, share = sample(n=4000)
    everything = GroupProbabilitySVM(calibrate="shares").fit(X, share, groups)
    monkeypatch.setattr("scarce.proportions._calibrated.MOST_ROWS", 1000)
    part = GroupProbabilitySVM(calibrate="shares").fit(X, share, groups)
    assert part.calibration_ != everything.calibration_
    np.testing.assert_allclose(part.predict_proba(X), everything.predict_proba(X), atol=0.1)


@pytest.mark.parametrize("kind", BOTH)
def test_wrong_forms_are_told(kind):
    X, labels, groups, share = sample(n=64)
    with pytest.raises(ValueError, match=r"each of the 8 groups .* 64 rows.*expand_proportions"):
        kind().fit(X, share[::8], groups)
    with pytest.raises(ValueError, match=r"mapping of 8 groups.*expand_proportions"):
        kind().fit(X, group_proportions(labels, groups), groups)
    with pytest.raises(ValueError, match=r"constant in a group.*group_proportions"):
        kind().fit(X, labels, groups)


def test_the_category_is_public():
    assert issubclass(scarce.ScarceDataWarning, UserWarning)


@pytest.mark.parametrize("kind", BOTH)
def test_scores_that_the_matrix_brings_are_those_of_the_model(kind, monkeypatch):
    # Large groups: rows are scored while the matrix is computed, all of them or whole groups.
    X, _, groups, share = sample(size=40)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    for most in (5000, 100):
        monkeypatch.setattr("scarce.proportions._calibrated.MOST_ROWS", most)
        monkeypatch.setattr("scarce.proportions._calibrated.FEWEST_ROWS", 100)
        monkeypatch.setattr("scarce.proportions._calibrated.FEWEST_SCORED", 4)
        models = []
        for large in (32, 1000):
            monkeypatch.setattr("scarce.proportions._space.LARGE_GROUP", large)
            models.append(
                kind(calibrate="shares", tol=1e-8).fit(X, share, groups, sample_weight=weights)
            )
        one, other = models
        np.testing.assert_allclose(one.calibration_, other.calibration_, rtol=1e-6)
        np.testing.assert_allclose(one.group_dual_coef_, other.group_dual_coef_, rtol=1e-6)
        assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)


def test_few_groups_do_not_say_whether_the_source_is_beaten():
    X, _, groups, share = sample(size=80)
    source = FrozenEstimator(SVC(kernel="linear").fit(X, X[:, 0] > 0))
    model = TransferGroupProbabilitySVM(calibrate="shares", source=source, kernel="linear")
    with pytest.warns(ScarceDataWarning, match="8 groups are too few to test whether the model"):
        model.fit(X, share, groups)
    assert model.left_out_loss_ == {}
