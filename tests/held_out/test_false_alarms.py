"""Thresholds, ranges and p-values from left-out scores, against simulation and brute force."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM as Libsvm

from scarce import (
    SVDD,
    UOCTSVM,
    CalibratedOneClass,
    OneClassSTM,
    OneClassSVM,
    ScarceDataWarning,
    TransferOneClassSVM,
)
from scarce.held_out import (
    HeldOutScores,
    SmallSample,
    benjamini_hochberg,
    false_alarm_range,
    lazy_scores,
    left_out_parts,
    unattainable,
)
from scarce.kernels import make_kernel
from scarce.solvers import DenseMatrix, QuadraticProgram, solve

# The order statistic.


def test_the_threshold_is_the_kth_smallest():
    random = np.random.default_rng(0)
    for n in (9, 10, 19, 29, 57, 100):
        for rate in (0.05, 0.1, 0.29, 0.5):
            k = int(np.floor(rate * (n + 1) + 1e-9))
            scores = random.normal(size=n)
            assert HeldOutScores.of(scores).threshold(rate) == np.sort(scores)[max(k, 1) - 1]


def test_weights_are_repetition():
    random = np.random.default_rng(0)
    scores, counts = random.normal(size=30), random.integers(1, 5, 30)
    once, often = HeldOutScores.of(scores, counts), HeldOutScores.of(np.repeat(scores, counts))
    new = np.r_[scores, random.normal(size=50)]
    np.testing.assert_allclose(once.p_values(new), often.p_values(new), rtol=1e-12)
    for rate in (0.01, 0.1, 0.33):
        assert once.threshold(rate) == often.threshold(rate)


def test_rejection_is_a_p_value_up_to_the_rate():
    random = np.random.default_rng(1)
    left_out, new = HeldOutScores.of(random.normal(size=40)), random.normal(size=500)
    rejected = new < left_out.threshold(0.1)
    np.testing.assert_array_equal(rejected, left_out.p_values(new) <= 0.1 + 1e-12)


def test_the_range_of_many_rows_is_that_of_the_order_statistic():
    random = np.random.default_rng(0)
    rates = [HeldOutScores.of(random.uniform(size=4000)).threshold(0.1) for _ in range(2000)]
    np.testing.assert_allclose(
        false_alarm_range(4000, 0.1), np.quantile(rates, [0.05, 0.95]), atol=0.001
    )


@pytest.mark.parametrize("n", [10, 20, 50, 150])
def test_the_range_holds_the_rate_of_nine_fits_in_ten(n):
    # What new rows show has noise too: their number is that of a beta-binomial distribution.
    held = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        spread = np.exp(random.normal(size=4))  # of any shape, with heavy tails
        X = random.standard_t(4, size=(n + 400, 4)) * spread
        model = CalibratedOneClass().fit(X[:n])
        rejected = np.sum(model.predict(X[n:]) < 0)
        k, c = max(1, int(0.1 * (n + 1) + 1e-9)), max(0.15, 1 - 3 / np.sqrt(n))
        np.testing.assert_allclose(
            model.false_alarm_range_, stats.beta.ppf([0.05, 0.95], c * k, c * (n + 1 - k))
        )
        low, high = stats.betabinom.ppf([0.05, 0.95], 400, c * k, c * (n + 1 - k))
        held.append(low <= rejected <= high)
    assert np.mean(held) >= 0.85


def test_the_range_reaches_lower_where_rows_repeat():
    # 108 possible rows: new ones mostly equal a training row, and those are never rejected.
    below, held = 0, []
    for seed in range(20):
        random = np.random.default_rng(seed)
        rows = np.c_[random.integers(0, 3, (650, 3)), random.integers(0, 2, (650, 2))].astype(float)
        rows, new = rows[:150], rows[150:]
        model = CalibratedOneClass().fit(rows)
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        k, c = int(0.1 * (len(distinct) + 1)), 1 - 3 / np.sqrt(len(distinct))
        low = stats.beta.ppf(0.05, c * k, c * (len(distinct) + 1 - k)) * (counts == 1).sum() / 150
        assert model.false_alarm_range_[0] == pytest.approx(low)
        twice = OneClassSVM(gamma="neighbors", nu=0.1, false_alarms=0.1)
        once = twice.fit(distinct, sample_weight=counts).false_alarm_range_
        assert once == pytest.approx(model.false_alarm_range_)
        rejected = np.sum(model.predict(new) < 0)
        below += rejected < 500 * false_alarm_range(150, 0.1)[0]
        held.append(rejected >= stats.binom.ppf(0.05, 500, low))
    assert below >= 15
    assert np.mean(held) >= 0.85


def test_what_unattainable_is_said():
    assert unattainable(8, 0.05) == (
        "false_alarms=0.05 is not attainable with 8 rows: the least is 0.111 (90 % range 0.00 to "
        "0.62); 19 rows are needed"
    )
    assert unattainable(19, 0.05) is None
    assert unattainable(9, 0.1) is None


def test_benjamini_hochberg_is_scipys():
    random = np.random.default_rng(0)
    for _ in range(50):
        p = random.uniform(size=20) ** 2
        expected = stats.false_discovery_control(p) <= 0.2
        np.testing.assert_array_equal(p <= benjamini_hochberg(p, 0.2), expected)


def test_parts_cover_every_row_once():
    for n in (2, 50, 51, 203):
        parts = left_out_parts(n)
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n))
        assert len(parts) == (n if n <= 50 else 10)
        assert all((a == b).all() for a, b in zip(parts, left_out_parts(n), strict=True))


# Which training rows are odd.


@pytest.mark.parametrize("n", [40, 230])  # lazily, and by ten parts
def test_left_out_scores_are_those_of_the_rows_in_their_order(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    weights = np.r_[np.ones(n - 1), 0.0]
    X[3] = X[7]
    model = OneClassSVM(nu=0.2, gamma=0.7, tol=1e-8, offset="left_out").fit(X, None, weights)
    found = model.left_out_scores_
    assert np.isnan(found[-1])
    assert found[3] == found[7]
    if n == 40:
        for row in (0, 3, 11, 25):
            others = [i for i in range(n - 1) if i != row and (i, row) != (7, 3)]
            # The bound of a row stays one, and the sum of the coefficients a fifth of 39.
            nu = 0.2 * (n - 1) / len(others)
            expected = Libsvm(nu=nu, gamma=0.7, tol=1e-8).fit(X[others]).score_samples(X[[row]])
            np.testing.assert_allclose(found[row], expected[0], rtol=1e-5)
    odd = found[:-1] < model.offset_
    assert odd.sum() == np.floor(0.1 * n) - 1  # the threshold is the score of a row, which stays


def test_the_odd_row_of_every_machine_is_named():
    random = np.random.default_rng(0)
    X = random.normal(4.0, 1.0, size=(30, 4))
    X[17] = [9.0, -9.0, 9.0, -9.0]
    domain = np.where(np.arange(30) < 10, 0, -1)
    machines = [
        (CalibratedOneClass(IsolationForest(n_estimators=20, random_state=0), cv=5), {}),
        (CalibratedOneClass(cv=5, method="cv+"), {}),
        (OneClassSTM(), {}),
        (SVDD(offset="left_out"), {}),
        (TransferOneClassSVM(), {"sample_domain": domain}),
    ]
    for machine, given in machines:
        scores = machine.fit(X, **given).left_out_scores_
        assert scores.shape == (30,)
        assert np.nanargmin(scores) == 17
    np.testing.assert_array_equal(np.isnan(scores), domain == 0)


# The lazy rule.


@pytest.mark.parametrize("n", [6, 20, 60])
@pytest.mark.parametrize(("nu", "gamma"), [(0.1, "scale"), (0.1, "neighbors"), (0.6, "neighbors")])
def test_the_lazy_threshold_is_that_of_brute_force(n, nu, gamma):
    for seed in range(4):
        random = np.random.default_rng(seed)
        X, weights = random.normal(size=(n, 3)), random.uniform(0.5, 2.0, n)
        K = make_kernel("rbf", gamma=gamma).settled(X).values(X, X)
        mass = nu * weights.sum()
        alpha = solve(
            QuadraticProgram(DenseMatrix(K), totals=[mass], upper=weights), tol=1e-6
        ).alpha
        small = SmallSample(K, weights, np.zeros(n), alpha, 1e-6, definite=True)
        brute = np.concatenate([small.sums_without(np.array([row])) for row in range(n)])
        calls = []

        def without(part, small=small, calls=calls):
            calls.append(part)
            return small.sums_without(part)

        for rate in (0.05, 0.1, 0.3):
            calls.clear()
            found, known = lazy_scores(
                without,
                scores=K @ alpha,
                coefficients=alpha,
                diagonal=np.ones(n),
                weights=weights,
                false_alarms=rate,
            )
            expected = HeldOutScores.of(brute, weights).threshold(rate)
            assert HeldOutScores.of(found, weights).threshold(rate) == pytest.approx(
                expected, rel=1e-7
            )
            np.testing.assert_allclose(found[known], brute[known], rtol=1e-5, atol=1e-8)
            assert len(calls) < n


def test_an_estimate_that_was_too_high_widens_the_search():
    # Estimates 1, 2, ..., 20; two of them far too high. The rows are left out from below, until no
    # estimate is as low as the threshold: row 0 shows that estimates may be off by 6, and only for
    # that is row 7 looked at, whose true score is the lowest of all.
    n, rate = 20, 0.2
    estimates, truth = np.arange(1.0, n + 1), np.arange(1.0, n + 1)
    truth[[0, 7]] = -5.0, -9.0
    found, known = lazy_scores(
        lambda part: truth[part],
        scores=estimates * (n - 1) / n,  # of equal coefficients, without terms of their own
        coefficients=np.ones(n),
        diagonal=np.zeros(n),
        weights=np.ones(n),
        false_alarms=rate,
    )
    assert HeldOutScores.of(estimates, np.ones(n)).threshold(rate) < estimates[7]
    assert known[7]
    np.testing.assert_array_equal(found[known], truth[known])
    expected = HeldOutScores.of(truth, np.ones(n)).threshold(rate)
    assert HeldOutScores.of(found, np.ones(n)).threshold(rate) == expected


# The machines.

MACHINES = [
    OneClassSVM(nu=0.1, gamma="neighbors", offset="left_out"),
    SVDD(nu=0.1, offset="left_out"),
    TransferOneClassSVM(),
    UOCTSVM(radius=0.0),
    CalibratedOneClass(),
    CalibratedOneClass(method="cv+"),
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: f"{type(m).__name__}")
def test_p_values_of_fresh_rows_are_uniform(machine):
    random = np.random.default_rng(0)
    shares = []
    for _ in range(25):
        X, fresh = random.normal(size=(30, 4)), random.normal(size=(200, 4))
        p = machine.fit(X).p_values(fresh)
        shares.append([np.mean(p <= level + 1e-9) for level in (0.1, 0.3, 0.5, 0.8)])
        np.testing.assert_array_equal(machine.predict(fresh) < 0, p <= 0.1 + 1e-9)
    np.testing.assert_allclose(np.mean(shares, axis=0), [0.1, 0.3, 0.5, 0.8], atol=0.06)


@pytest.mark.parametrize(
    "machine",
    [
        OneClassSVM(nu=0.1, false_alarms=0.1),
        OneClassSVM(nu=0.1, gamma="neighbors", false_alarms=0.1),
        SVDD(nu=0.1, gamma=1.0, false_alarms=0.1),
        CalibratedOneClass(),
        CalibratedOneClass(Libsvm(nu=0.1, gamma=1.0)),
        TransferOneClassSVM(),
    ],
    ids=["wide", "narrow", "ball", "calibrated", "libsvm", "transfer"],
)
def test_p_values_inside_the_class_are_uniform_too(machine):
    # In two columns scores crowd at the margin: with each held-out model's own up to .95 had .75.
    random, shares, levels = np.random.default_rng(0), [], (0.1, 0.25, 0.5, 0.75, 0.9)
    for _ in range(8):
        X, fresh = random.normal(size=(300, 2)), random.normal(size=(700, 2))
        p = machine.fit(X).p_values(fresh)
        shares.append([np.mean(p <= level) for level in levels])
    # The standard error is up to .017.
    np.testing.assert_allclose(np.mean(shares, axis=0), levels, atol=0.055)


def test_tensors_keep_their_word():
    random = np.random.default_rng(0)
    pattern = np.outer(np.sin(np.arange(6)), np.cos(np.arange(5)))
    rates = []
    for _ in range(15):
        X = pattern + 0.7 * random.normal(size=(320, 6, 5))
        model = OneClassSTM(tol=1e-3, max_iter=500).fit(X[:20])
        rates.append(np.mean(model.predict(X[20:]) < 0))
    assert np.mean(rates) == pytest.approx(0.095, abs=0.05)


@pytest.mark.parametrize("approximation", [None, "nystroem"])
def test_many_rows_and_a_wide_kernel(approximation):
    # Scores crowd at the boundary of a wide kernel: a threshold that is a little too high, as of
    # fits of fewer rows with a larger nu, rejects half as many again.
    random = np.random.default_rng(0)
    rates = []
    for _ in range(4):
        model = OneClassSVM(
            nu=0.1, gamma=0.2, offset="left_out", approximation=approximation, n_components=60
        )
        X = random.uniform(size=(12_000, 3))
        rates.append(np.mean(model.fit(X[:2000]).predict(X[2000:]) < 0))
    # The standard deviation of a rate is .007.
    assert np.mean(rates) == pytest.approx(0.1, abs=0.012)


def test_the_share_of_false_discoveries():
    random = np.random.default_rng(0)
    shares, found = [], []
    for _ in range(40):
        model = OneClassSVM(nu=0.1, offset="left_out").fit(random.normal(size=(60, 2)))
        X = np.r_[random.normal(size=(80, 2)), random.normal(6.0, 1.0, size=(20, 2))]
        called = model.select(X, fdr=0.2)
        shares.append(called[:80].sum() / max(1, called.sum()))
        found.append(called[80:].mean())
    assert np.mean(shares) <= 0.2
    assert np.mean(found) > 0.5


@pytest.mark.parametrize("n", [30, 230])
def test_weights_order_and_duplicates(n):
    random = np.random.default_rng(0)
    X, counts = random.normal(size=(n, 3)), random.integers(0, 3, n)
    repeated = random.permutation(np.repeat(np.arange(n), counts))
    fresh = random.normal(size=(100, 3))
    for machine in (MACHINES[0], TransferOneClassSVM(), OneClassSTM()):
        once = machine.fit(X + 2.0, sample_weight=counts)
        expected, p = once.decision_function(fresh + 2.0), once.p_values(fresh + 2.0)
        often = machine.fit(X[repeated] + 2.0)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            often.decision_function(fresh + 2.0), expected, atol=1e-7 * scale
        )
        np.testing.assert_allclose(often.p_values(fresh + 2.0), p, atol=1e-12)


def test_a_rate_that_unattainable_is_a_warning():
    X = np.random.default_rng(0).normal(3.0, 1.0, size=(8, 2))
    for machine in (*MACHINES, OneClassSTM()):
        with pytest.warns(ScarceDataWarning, match="not attainable with 8 rows: the least is 0.11"):
            machine.set_params(false_alarms=0.05).fit(X)
        machine.set_params(false_alarms=0.1)


@pytest.mark.parametrize(
    ("machine", "named"),
    [
        (MACHINES[0], 'offset="training"'),
        (TransferOneClassSVM(), 'offset="original"'),
        (OneClassSTM(), 'offset="training"'),
    ],
)
def test_one_distinct_row_is_an_error(machine, named):
    for X in ([[1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]]):
        with pytest.raises(ValueError, match=r"n_samples=1") as error:
            machine.fit(X)
        assert named in str(error.value)


def test_p_values_need_left_out_scores():
    X = np.random.default_rng(0).normal(3.0, 1.0, size=(20, 2))
    for machine, rule in (
        (OneClassSVM(), "training"),
        (TransferOneClassSVM(offset="original"), "original"),
        (OneClassSTM(offset="training"), "training"),
    ):
        machine.fit(X)
        with pytest.raises(ValueError, match=f"offset=\"left_out\".*with offset='{rule}'"):
            machine.p_values(X)
        with pytest.raises(ValueError, match='offset="left_out"'):
            machine.select(X)
        assert not hasattr(machine, "left_out_scores_")
        assert not hasattr(machine, "false_alarm_range_")


def test_a_narrow_width_with_its_own_offset_is_a_warning():
    with pytest.warns(UserWarning, match='use offset="left_out"'):
        OneClassSVM(gamma="neighbors").fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_domains_given_as_y_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    domain = np.r_[np.zeros(10, int), np.full(10, -1)]
    with pytest.raises(ValueError, match="sample_domain"):
        TransferOneClassSVM().fit(X, domain)
    for y in (None, np.sign(domain + 0.5).astype(int), np.arange(20), np.zeros(20)):
        TransferOneClassSVM().fit(X, y)


# Any detector.


def test_a_scaler_belongs_inside():
    random = np.random.default_rng(0)
    inside, outside = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScarceDataWarning)
        for _ in range(60):
            X, fresh = random.normal(size=(5, 10)), random.normal(size=(100, 10))
            whole = make_pipeline(StandardScaler(), OneClassSVM(gamma="neighbors", nu=0.1))
            inside.append(np.mean(CalibratedOneClass(whole).fit(X).predict(fresh) < 0))
            scaler = StandardScaler().fit(X)
            model = CalibratedOneClass(whole[-1]).fit(scaler.transform(X))
            outside.append(np.mean(model.predict(scaler.transform(fresh)) < 0))
    assert np.mean(inside) < 0.22  # 1/6 is the least that five rows give
    assert np.mean(outside) > 0.28


@pytest.mark.parametrize("method", ["one_model", "cv+"])
def test_another_detector_keeps_its_word(method):
    random = np.random.default_rng(0)
    forest = IsolationForest(n_estimators=30, random_state=0)
    rates = []
    for _ in range(6):
        X, fresh = random.normal(size=(100, 3)), random.normal(size=(500, 3))
        model = CalibratedOneClass(forest, cv=5, method=method).fit(X)
        rates.append(np.mean(model.predict(fresh) < 0))
    assert np.mean(rates) == pytest.approx(0.1, abs=0.05)


def test_groups_stay_together():
    random = np.random.default_rng(0)
    X = np.repeat(random.normal(size=(20, 2)), 3, axis=0) + 1e-3 * random.normal(size=(60, 2))
    groups = np.repeat(np.arange(20), 3)
    alone = CalibratedOneClass(cv=KFold(20, shuffle=True, random_state=0)).fit(X)
    together = CalibratedOneClass(cv=GroupKFold(20)).fit(X, groups=groups)
    assert together.offset_ < alone.offset_


def test_a_splitter_must_leave_every_row_out_once():
    with pytest.raises(ValueError, match="exactly once"):
        CalibratedOneClass(cv=ShuffleSplit(3)).fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_only_rows_of_the_target_are_left_out():
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(60, 2)), random.normal(1.0, 1.0, size=(20, 2))]
    domain = np.r_[np.zeros(60, int), np.full(20, -1)]
    inner = TransferOneClassSVM(offset="original")
    model = CalibratedOneClass(inner).fit(X, sample_domain=domain)
    np.testing.assert_array_equal(np.isnan(model.left_out_scores_), domain == 0)
    direct = TransferOneClassSVM().fit(X, sample_domain=domain)
    np.testing.assert_array_equal(np.isnan(direct.left_out_scores_), domain == 0)
