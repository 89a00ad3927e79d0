"""Soft labels from proportions: each part against generic methods, the whole against the truth."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq, minimize
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from scarce import GroupProbabilitySVM, ScarceDataWarning, TransferGroupProbabilitySVM
from scarce.proportions import RowGroups, ShareCalibrationDisplay
from tests.proportions.internals import (
    accepting_cut,
    chosen_rows,
    fit_soft_logistic,
    log_sums,
    row_steps,
    soft_labels,
)

BOTH = [GroupProbabilitySVM, TransferGroupProbabilitySVM]


def shifted(n_groups=40, size=25, classes=2, seed=0, distance=1.5):
    """Groups whose proportions differ for a reason that is in no column, and the true log-odds."""
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(classes), size=n_groups)
    labels = np.concatenate([rng.choice(classes, size, p=each) for each in q])
    X = rng.normal(size=(labels.size, 3)) + distance * np.eye(3)[labels]
    groups = np.repeat(np.arange(n_groups), size)
    share = np.eye(classes)[labels].reshape(n_groups, size, classes).mean(axis=1)[groups]
    return X, labels, groups, share[:, 1] if classes == 2 else share


def true_log_odds(X, distance=1.5):
    """Of two classes that are equally frequent over all groups."""
    return distance * (X[:, 1] - X[:, 0])


# The parts.


def test_shifts_of_two_classes_are_the_roots():
    rng = np.random.default_rng(0)
    codes = rng.integers(6, size=80)
    weights, logits = rng.uniform(0.5, 2.0, 80), 3.0 * rng.normal(size=(80, 1))
    shares = np.array([[0.1], [0.5], [0.93], [0.3], [0.0], [1.0]])
    soft, shifts = soft_labels(logits, RowGroups.of(codes, weights, 6), shares)
    for k in range(4):
        own = codes == k

        def off(t, own=own, k=k):
            return np.average(expit(logits[own, 0] + t), weights=weights[own]) - shares[k, 0]

        assert shifts[k, 0] == pytest.approx(brentq(off, -40, 40), abs=1e-4)
    assert soft[codes == 4].max() < 1e-4
    assert soft[codes == 5].min() > 1 - 1e-4


def test_soft_labels_of_several_classes_meet_every_proportion():
    rng = np.random.default_rng(1)
    codes = rng.integers(4, size=100)
    logits = 4.0 * rng.normal(size=(100, 3))
    shares = np.array([[0.2, 0.3, 0.5], [0.9, 0.1, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.01, 0.98, 0.01]])
    in_groups = RowGroups.of(codes, np.ones(100), 4)
    soft, shifts = soft_labels(logits, in_groups, shares)
    np.testing.assert_allclose(in_groups.means(soft), shares, atol=2e-6)
    np.testing.assert_allclose(soft, softmax(logits + shifts[codes], axis=1), atol=1e-12)


def test_confident_rows_do_not_stop_the_shifts():
    logits = np.repeat([[-60.0], [60.0]], 10, axis=0)
    in_groups = RowGroups.of(np.zeros(20, int), np.ones(20), 1)
    soft, _ = soft_labels(logits, in_groups, np.array([[0.7]]))
    assert soft.mean() == pytest.approx(0.7, abs=1e-6)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_soft_logistic_is_that_of_scikit_learn_on_rows_given_twice(kind):
    rng = np.random.default_rng(2)
    X, soft, weights = rng.normal(size=(60, 4)), rng.uniform(size=(60, 1)), rng.uniform(1, 2, 60)
    X[:, 1] *= 1e3  # columns of very different sizes
    both = LogisticRegression(C=5.0, tol=1e-12, max_iter=20_000, solver="newton-cg")
    both.fit(
        np.vstack([X, X]),
        np.repeat([0, 1], 60),
        sample_weight=np.concatenate([weights * (1 - soft[:, 0]), weights * soft[:, 0]]),
    )
    given = sparse.csr_array(X) if kind == "sparse" else X
    model = fit_soft_logistic(given, soft, weights, 5.0, tol=1e-10)
    np.testing.assert_allclose(
        model.logits(given)[:, 0], both.decision_function(X), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("columns", [1, 3])
def test_the_gap_bounds_the_distance_from_the_minimum(columns):
    rng = np.random.default_rng(3)
    X, C = rng.normal(size=(40, 3)), 2.0
    soft = rng.uniform(size=(40, 1)) if columns == 1 else rng.dirichlet(np.ones(3), size=40)

    def objective(place):
        W, b = place[:-columns].reshape(3, columns), place[-columns:]
        z = X @ W + b
        p = expit(z) if columns == 1 else softmax(z, axis=1)
        losses = soft * np.log(p)
        if columns == 1:
            losses = losses + (1 - soft) * np.log(1 - p)
        return -losses.sum() + (W**2).sum() / (2 * C) + (b**2).sum() / (2e3 * C)

    least = minimize(objective, np.zeros(4 * columns), options={"gtol": 1e-7}).fun
    for tol in (1e-1, 1e-2, 1e-4):
        model = fit_soft_logistic(X, soft, np.ones(40), C, tol=tol)
        place = np.concatenate([model.weights.ravel(), model.constants])
        above = objective(place) - least
        assert above <= model.gap * least + 1e-6
    assert model.gap < 1e-3
    assert above < 1e-4


def test_rows_for_soft_labels_are_thinned_evenly():
    assert (row_steps(np.array([10, 20])) == 1).all()
    few_large, many_small = row_steps(np.full(10, 8_000)), row_steps(np.full(4_000, 20))
    assert (few_large == 10).all()
    assert set(many_small) == {0, 1}
    assert (many_small > 0).sum() == 400
    codes = np.where(np.arange(24_000) % 3 == 2, -1, np.arange(24_000) % 3)
    rows = chosen_rows(codes, 2)
    assert rows.size == 8_000
    assert (np.bincount(codes[rows]) == 4_000).all()


def test_cuts_accept_the_overall_proportion():
    rng = np.random.default_rng(4)
    decisions, weights = rng.normal(size=(200, 1)), rng.uniform(0.5, 1.5, 200)
    cut = accepting_cut(decisions, weights, np.array([0.13]))
    assert np.average(decisions[:, 0] > cut, weights=weights) == pytest.approx(0.13, abs=0.01)
    several = rng.normal(size=(500, 3)) + np.array([2.0, 0.0, 0.0])
    overall = np.array([0.2, 0.5, 0.3])
    labels = (several - accepting_cut(several, np.ones(500), overall)).argmax(axis=1)
    np.testing.assert_allclose(np.bincount(labels) / 500, overall, atol=0.02)


# The whole.


@pytest.mark.parametrize("kind", BOTH)
def test_probabilities_are_right_under_prior_shift(kind):
    X, _, groups, share = shifted()
    new, truth, *_ = shifted(seed=1)
    bayes = log_loss(truth, expit(true_log_odds(new)))
    model = kind().fit(X, share, groups)
    assert log_loss(truth, model.predict_proba(new)) < bayes + 0.04
    assert log_loss(truth, kind(calibrate="shares").fit(X, share, groups).predict_proba(new)) > 1.0
    # The slope is the part of the labels' variance that the true probabilities explain.
    p = expit(true_log_odds(new))
    assert model.share_slope_ == pytest.approx(p.var() / 0.25, abs=0.1)
    assert model.left_out_loss_["model"] < model.left_out_loss_["constant"]
    assert model.soft_label_gap_ < 1e-3


@pytest.mark.parametrize("kind", BOTH)
def test_several_classes_under_prior_shift(kind):
    X, _, groups, share = shifted(classes=3, distance=2.0)
    new, truth, *_ = shifted(classes=3, distance=2.0, seed=1)
    model = kind().fit(X, share, groups)
    bayes = log_loss(truth, softmax(2.0 * new, axis=1))
    assert log_loss(truth, model.predict_proba(new)) < bayes + 0.1
    np.testing.assert_array_equal(model.predict(new), model.predict_proba(new).argmax(axis=1))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", BOTH)
def test_weights_are_repetitions(kind, kernel):
    X, _, groups, share = shifted(n_groups=20)
    times = np.random.default_rng(1).integers(1, 3, size=len(X))
    again = np.repeat(np.arange(len(X)), times)
    settings = {"kernel": kernel, "tol": 1e-7}
    weighted = kind(**settings).fit(X, share, groups, sample_weight=times)
    repeated = kind(**settings).fit(X[again], share[again], groups[again])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)
    assert weighted.effective_labels_ == pytest.approx(repeated.effective_labels_, rel=1e-2)


def test_a_linear_model_is_its_expansion():
    X, _, groups, share = shifted(n_groups=20)
    model = GroupProbabilitySVM(kernel="linear").fit(X, share, groups)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, atol=1e-3)
    f = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), f)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(f))


@pytest.mark.parametrize("classes", [2, 3])
def test_threshold_moves_labels_and_not_probabilities(classes):
    X, labels, groups, share = shifted(classes=classes)
    rare = labels > 0 if classes == 2 else labels >= 0
    rare &= np.random.default_rng(0).random(labels.size) < 0.2
    kept = np.flatnonzero((labels == 0) | rare)
    table = np.eye(classes)[labels]
    known = np.empty_like(table)
    for group in np.unique(groups):
        own = kept[groups[kept] == group]
        known[groups == group] = table[own].mean(axis=0)
    y = known[:, 1] if classes == 2 else known
    half = GroupProbabilitySVM().fit(X[kept], y[kept], groups[kept])
    cut = GroupProbabilitySVM(threshold="proportion").fit(X[kept], y[kept], groups[kept])
    np.testing.assert_allclose(cut.predict_proba(X), half.predict_proba(X), atol=1e-12)
    share = np.bincount(cut.predict(X[kept]), minlength=classes) / kept.size
    np.testing.assert_allclose(share, table[kept].mean(axis=0), atol=0.03)
    decisions = cut.decision_function(X)
    best = decisions > 0 if classes == 2 else decisions.argmax(axis=1)
    np.testing.assert_array_equal(cut.predict(X), best)


def test_columns_that_say_nothing_are_told():
    _, _, groups, share = shifted()
    said = 0
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(groups.size, 4))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = GroupProbabilitySVM().fit(X, share, groups)
        said += any("may be no better than a constant" in str(each.message) for each in caught)
        assert abs(model.share_slope_) < 0.15
    assert said >= 3


def test_columns_that_say_much_are_not_warned_of():
    X, _, groups, share = shifted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GroupProbabilitySVM().fit(X, share, groups)


def test_groups_that_differ_for_reasons_of_their_own_are_worth_less():
    X, _, groups, share = shifted(size=100)
    plain = GroupProbabilitySVM().fit(X, share, groups)
    own = np.random.default_rng(0).normal(size=(40, 3))[groups]
    moved = GroupProbabilitySVM().fit(X + own, share, groups)
    assert moved.effective_labels_ < 0.5 * plain.effective_labels_


@pytest.mark.parametrize("size", [25, None])
def test_intervals_hold_at_their_level(size):
    inside, widths = [], []
    for seed in range(6):
        X, labels, groups, _ = shifted(n_groups=80, seed=seed)
        if size is None:  # unequal groups: a part of every second one
            kept = (groups % 2 == 0) | (np.arange(groups.size) % 25 < 8)
            X, labels, groups = X[kept], labels[kept], groups[kept]
        counts = np.bincount(groups)
        truth = np.bincount(groups, labels) / counts
        known = groups < 40
        model = GroupProbabilitySVM().fit(X[known], truth[groups[known]], groups[known])
        found = model.predict_share(X[~known], groups[~known], level=0.8)
        assert found.groups == list(range(40, 80))
        inside.append((found.lower <= truth[40:]) & (truth[40:] <= found.upper))
        widths.append(found.upper - found.lower)
        assert np.abs(found.share - truth[40:]).mean() < 0.12
    # 240 groups; the standard error of the coverage is about .03.
    assert 0.72 < np.mean(inside) < 0.9
    assert 0.1 < np.mean(widths) < 0.6


@pytest.mark.parametrize(("known_rows", "new_rows"), [(60, 10), (10, 60)])
def test_intervals_of_groups_of_another_size(known_rows, new_rows):
    inside, half = [], []
    for seed in range(4):
        X, labels, groups, _ = shifted(n_groups=80, size=60, seed=seed)
        known = groups < 40
        kept = np.arange(groups.size) % 60 < np.where(known, known_rows, new_rows)
        X, labels, groups, known = X[kept], labels[kept], groups[kept], known[kept]
        truth = np.bincount(groups, labels) / np.bincount(groups)
        model = GroupProbabilitySVM().fit(X[known], truth[groups[known]], groups[known])
        found = model.predict_share(X[~known], groups[~known], level=0.8)
        inside.append((found.lower <= truth[40:]) & (truth[40:] <= found.upper))
        half.append(np.median(found.upper - found.lower) / 2)
    # 160 groups; the standard error of the coverage is about .03. Larger groups than those of the
    # fit have intervals that are wide enough, smaller ones have not the narrow ones of the fit.
    assert np.mean(inside) > 0.72
    assert np.mean(half) < 0.4


def half_width(model, p, rows):
    """Return the half width of an interval at 80 %, by the formulas, from public attributes."""
    (q, m), sizes = model.left_out_shares_[:, :, 0], model.left_out_sizes_
    slope = np.polyfit(m, q, 1, w=np.sqrt(sizes))[0]
    part = np.clip(slope, 0.0, 1.0)
    mean = np.average(q, weights=sizes)
    # Variance of a label whose probability is known, and of one of which the mean is.
    label = max(slope, 1.0) * (part * np.mean(p * (1.0 - p)) + (1.0 - part) * mean * (1.0 - mean))
    off = []
    for g in range(m.size):
        others = np.arange(m.size) != g
        line = np.polyfit(m[others], q[others], 1, w=np.sqrt(sizes[others]))
        off.append(q[g] - np.polyval(line, m[g]))
    total, sampling = np.mean(np.square(off)), np.mean(label / sizes)
    between, within = max(0.0, total - sampling), label * min(1.0, total / sampling)
    misses = np.sort(np.abs(off) / np.sqrt(between + within / sizes))
    rank = int(np.ceil((m.size + 1) * 0.8))
    return misses[rank - 1] * np.sqrt(between + within / rows)


def test_width_of_an_interval_is_that_of_its_formula():
    X, _, groups, share = shifted()
    kept = (groups % 2 == 0) | (np.arange(groups.size) % 25 < 8)
    X, groups, share = X[kept], groups[kept], share[kept]
    model = GroupProbabilitySVM().fit(X, share, groups)
    near = X[np.argsort(np.abs(model.predict_proba(X)[:, 1] - 0.5))[:12]]  # no end at 0 or 1
    for rows in (3, 12):
        found = model.predict_share(near[:rows], np.zeros(rows, int), level=0.8)
        expected = half_width(model, model.predict_proba(X)[:, 1], rows)
        assert 0 < found.lower[0] < found.upper[0] < 1
        np.testing.assert_allclose(found.upper - found.lower, 2.0 * expected, rtol=1e-6)


def test_few_groups_have_the_whole_range_for_an_interval():
    X, _, groups, share = shifted(n_groups=6)
    model = GroupProbabilitySVM().fit(X, share, groups)
    found = model.predict_share(X, groups, level=0.95)
    assert (found.lower == 0).all()
    assert (found.upper == 1).all()
    with pytest.raises(ValueError, match="level must be a number between 0 and 1, got 2"):
        model.predict_share(X, groups, level=2)
    published = GroupProbabilitySVM(calibrate=None).fit(X, share, groups)
    with pytest.raises(ValueError, match="predict_share needs a fit with calibrate"):
        published.predict_share(X, groups)


def test_two_groups_of_known_proportions_separate_the_classes():
    rng = np.random.default_rng(0)
    labels = np.concatenate([rng.random(200) < 0.2, rng.random(200) < 0.7])
    X = rng.normal(size=(400, 2)) + 2.0 * labels[:, None]
    groups = np.repeat(["a", "b"], 200)
    share = np.repeat([labels[:200].mean(), labels[200:].mean()], 200)
    with pytest.warns(ScarceDataWarning, match="2 groups are too few to check"):
        model = GroupProbabilitySVM().fit(X, share, groups)
    assert (model.predict(X) == labels).mean() > 0.85


def test_few_groups_that_speak_against_the_model_are_told():
    # 8 groups of 20 rows and 15 columns, of which one says a little: the held-out groups have the
    # smaller loss, but their mean probabilities do not follow the proportions.
    rng = np.random.default_rng(20)
    groups, prior = np.repeat(np.arange(8), 20), rng.beta(1, 1, size=8)
    labels = rng.random(160) < prior[groups]
    X = rng.normal(size=(160, 15))
    X[:, 0] += 0.5 * labels
    share = (np.bincount(groups, labels) / 20)[groups]
    with pytest.warns(ScarceDataWarning, match="no better than a constant") as caught:
        model = GroupProbabilitySVM().fit(X, share, groups)
    assert len(caught) == 1
    assert "multiplied" not in str(caught[0].message)  # nine groups shrink nothing
    assert model.shrinkage_ == 1.0
    assert model.left_out_loss_["model"] < model.left_out_loss_["constant"]
    assert abs(model.share_slope_) < 0.1


@pytest.mark.parametrize(("seed", "clear"), [(0, False), (2, True)])
def test_a_shrunken_model_that_is_clearly_better_is_not_warned_of(seed, clear):
    rng = np.random.default_rng(seed)
    groups, prior = np.repeat(np.arange(100), 20), rng.beta(2, 3, size=100)
    labels = rng.random(2000) < prior[groups]
    X = rng.normal(size=(2000, 4)) + 0.6 * labels[:, None]
    share = np.bincount(groups, labels) / 20
    share[:8] = 1.0 - share[:8]  # wrong reports
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GroupProbabilitySVM().fit(X, share[groups], groups)
    assert model.shrinkage_ < 0.8
    given, predicted = model.left_out_shares_[:, :, 0]
    others = (share.sum() - share) / 99  # about the constant: folds leave out 20 groups, not one

    def loss(p):
        return -(given * np.log(p) + (1.0 - given) * np.log(1.0 - p))

    gain = loss(others) - loss(predicted)
    assert (gain.mean() > 2.0 * gain.std(ddof=1) / 10.0) == clear
    assert [each.category for each in caught] == ([] if clear else [ScarceDataWarning])


def test_proportions_within_the_tolerance_of_one_half_are_no_fault_of_soft_labels():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 50)
    labels = np.concatenate([np.arange(50) < count for count in range(15, 35)])  # 0.3 to 0.68
    X = rng.normal(size=(1000, 2)) + 2.0 * labels[:, None]
    share = (np.bincount(groups, labels) / 50)[groups]
    GroupProbabilitySVM(epsilon=0.03).fit(X, share, groups)  # no warning: those are errors here
    # 0.48 and 0.52; one half itself says nothing of a sign.
    with pytest.warns(UserWarning, match="tubes of 2 of 20 groups contain 0"):
        GroupProbabilitySVM(epsilon=0.03, calibrate="shares").fit(X, share, groups)


# Sources, percentages, wrong input.


def test_a_source_with_its_own_scale_is_taken_as_it_is():
    X, labels, groups, share = shifted()
    source = SVC().fit(3.0 * X[:100], labels[:100])
    model = TransferGroupProbabilitySVM(source=source).fit(X, share, groups)
    assert model._gamma == source._gamma
    assert set(model.left_out_loss_) == {"model", "constant", "source"}
    with pytest.raises(ValueError, match="set gamma="):
        TransferGroupProbabilitySVM(source=source, gamma=0.1).fit(X, share, groups)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_good_source_helps_few_groups(kernel):
    X, _, groups, share = shifted(n_groups=10)
    new, truth, *_ = shifted(seed=1)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(len(X), 20))
    wide, wide_new = np.hstack([X, noise]), np.hstack([new, rng.normal(size=(len(new), 20))])
    labels = rng.random(400) < 0.5
    rows = np.hstack(
        [
            rng.normal(size=(400, 3)) + 1.5 * np.eye(3)[labels.astype(int)],
            rng.normal(size=(400, 20)),
        ]
    )
    source = SVC(kernel=kernel).fit(rows, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScarceDataWarning)
        alone = TransferGroupProbabilitySVM(kernel=kernel).fit(wide, share, groups)
        model = TransferGroupProbabilitySVM(kernel=kernel, source=source).fit(wide, share, groups)
    theirs, ours = (log_loss(truth, each.predict_proba(wide_new)) for each in (alone, model))
    assert ours < theirs


def test_common_rows_are_given_the_labels_of_the_source():
    X, _, groups, share = shifted(n_groups=10)
    source = (np.array([-3.0, 3.0, 0.0]), 0.0)
    common = np.random.default_rng(0).normal(size=(200, 3)) * 2.0
    y = np.append(share, np.full(200, np.nan))
    marked = np.append(groups, np.full(200, -1))
    settings = {"source": source, "kernel": "linear"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScarceDataWarning)
        without = TransferGroupProbabilitySVM(**settings).fit(X, share, groups)
        light = TransferGroupProbabilitySVM(C_common=1e-6, **settings)
        light.fit(np.vstack([X, common]), y, marked)
        heavy = TransferGroupProbabilitySVM(C_common=1e3, **settings)
        heavy.fit(np.vstack([X, common]), y, marked)

    def angle(model):
        w = model.coef_[0]
        return w @ source[0] / np.linalg.norm(w) / np.linalg.norm(source[0])

    assert angle(light) == pytest.approx(angle(without), abs=1e-2)
    assert angle(heavy) > max(angle(without), 0.999)


@pytest.mark.parametrize("kind", BOTH)
def test_percentages_are_understood_with_a_note(kind):
    X, _, groups, share = shifted(n_groups=20)
    with pytest.warns(UserWarning, match="taken for percentages and divided by 100"):
        percent = kind().fit(X, 100 * share, groups)
    np.testing.assert_allclose(
        percent.predict_proba(X), kind().fit(X, share, groups).predict_proba(X), atol=1e-6
    )


def test_wrong_proportions_are_told_with_their_groups():
    X, _, groups, share = shifted(n_groups=20)
    names = np.array([f"ward {group}" for group in groups])

    def fit(y):
        GroupProbabilitySVM().fit(X, y, names)

    with pytest.raises(ValueError, match=r"-0\.1 in group 'ward 3'"):
        fit(np.where(groups == 3, -0.1, share))
    with pytest.raises(ValueError, match=r"1\.2 in group 'ward 4'"):
        fit(np.where(groups == 4, 1.2, np.where(groups == 5, -1.0, share)))
    with pytest.raises(ValueError, match=r"y mixes scales: 0\.3 in group 'ward 5'.*percentage"):
        fit(np.where(groups == 5, 0.3, np.round(100 * share)))
    with pytest.raises(ValueError, match=r"group 'ward 6' has NaN"):
        fit(np.where(groups == 6, np.nan, share))
    with pytest.raises(ValueError, match=r"between 0 and 1, got 140 in group 'ward 7'"):
        fit(np.where(groups == 7, 140.0, np.round(100 * share)))
    with pytest.raises(ValueError, match=r"y must hold numbers.*'30%'"):
        fit(np.full(share.size, "30%"))


@pytest.mark.parametrize(
    ("n_groups", "said"),
    [
        (20, r"all 20 groups have the same proportion 0\.4.*Give groups whose proportions differ"),
        (1, r"one group only, with the proportion 0\.4"),
    ],
)
def test_groups_without_contrast_are_told_once(n_groups, said):
    X, _, groups, _ = shifted(n_groups=20)
    rows = groups < n_groups
    with pytest.warns(ScarceDataWarning, match=said) as caught:
        GroupProbabilitySVM().fit(X[rows], np.full(rows.sum(), 0.4), groups[rows])
    assert len(caught) == 1


def test_left_out_groups_are_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    X, _, groups, share = shifted()
    model = GroupProbabilitySVM().fit(X, share, groups)
    display = ShareCalibrationDisplay.from_left_out(model)
    np.testing.assert_allclose(display.given, share[::25])
    assert f"slope {model.share_slope_:.2f}" in display.ax_.get_title()
    assert f"of a constant {model.left_out_loss_['constant']:.3f}" in display.ax_.get_title()
    x, y = display.line_.get_data()
    assert (y[1] - y[0]) / (x[1] - x[0]) == pytest.approx(model.share_slope_)
    # A least squares line of the groups, whose sizes are equal here.
    assert np.polyfit(display.given, display.predicted, 1) == pytest.approx(
        [model.share_slope_, y[0] - model.share_slope_ * x[0]]
    )
    assert display.effective_labels_ == model.effective_labels_
    with pytest.raises(ValueError, match='calibrate="em"'):
        ShareCalibrationDisplay.from_left_out(
            GroupProbabilitySVM(calibrate=None).fit(X, share, groups)
        )


def test_sums_of_exponentials_do_not_overflow():
    logits = np.array([[0.0, 800.0, -800.0], [-900.0, -901.0, -900.0]])
    sums, p = log_sums(logits)
    assert sums == pytest.approx([800.0, -900.0 + np.log(2.0 + np.exp(-1.0))], rel=1e-14)
    assert p == pytest.approx(softmax(logits, axis=1), rel=1e-12)
