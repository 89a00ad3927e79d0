"""The drift alarm: exact p-values, a capital that is a martingale, attempts to break its bound."""

import json
import warnings
from itertools import permutations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from scarce import CalibratedOneClass, DriftMonitor, OneClassSVM
from scarce.monitoring._betting import MOVES, Capital, bets
from scarce.monitoring._ranks import SeenScores, rounded

pytestmark = pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")


def fitted(n=60, d=2, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return OneClassSVM(nu=0.1, gamma="neighbors", false_alarms=0.1).fit(X)


# P-values.


@pytest.mark.parametrize("values", [[1, 2, 3, 4], [1, 1, 2, 3], [5, 5, 5, 5]])
@pytest.mark.parametrize("ceiling", [np.inf, 3.0, 2.0, 0.0])
def test_p_values_are_independent_and_uniform_over_all_orders(values, ceiling):
    """Two begin, two come: over all orders each pair of ranks is equally likely, ties drawn."""
    grid = (np.arange(12) + 0.5) / 12
    found = []
    for order in permutations(values):
        for drawn in np.array(np.meshgrid(grid, grid)).reshape(2, -1).T:
            seen = SeenScores(np.array(order[:2], float), ceiling=ceiling)
            found.append(seen.p_values(np.array(order[2:], float), drawn))
    first, second = (np.floor(3 * np.array(found)[:, 0]), np.floor(4 * np.array(found)[:, 1]))
    counts = np.histogram2d(first, second, bins=(3, 4))[0] / len(found)
    np.testing.assert_allclose(counts, 1 / 12, rtol=1e-12)


def test_p_values_by_blocks_are_those_of_a_plain_loop():
    random = np.random.default_rng(1)
    start, scores = random.integers(0, 30, 40) / 7.0, random.integers(0, 30, 1300) / 7.0
    drawn = random.random(1300)
    seen = list(rounded(start))
    wanted = []
    for score, u in zip(rounded(scores), drawn, strict=True):
        below, equal = np.sum(np.array(seen) < score), np.sum(np.array(seen) == score) + 1
        wanted.append((below + u * equal) / (len(seen) + 1))
        seen.append(score)
    np.testing.assert_allclose(SeenScores(start).p_values(scores, drawn), wanted, rtol=1e-13)


def test_the_order_of_scores_above_the_ceiling_makes_no_difference():
    """Worked out by hand: of six that began three are below 3; 4 is the first above in place."""
    one, other = (SeenScores([0, 1, 2, 9, 9, high], ceiling=3.0) for high in (4, 50))
    came, drawn = np.array([4.0, 1.5, 5.0]), np.array([0.5, 0.5, 0.25])
    found = one.p_values(came, drawn)
    np.testing.assert_allclose(found, [(3 + 0.5 * 4) / 7, 2.5 / 8, (4 + 1.25 / 2 * 5) / 9])
    np.testing.assert_allclose(other.p_values(came, drawn), found)


def test_memory_stays_small():
    seen = SeenScores(np.zeros(1))
    seen.p_values(1.0 + np.random.default_rng(0).random(100_000), np.zeros(100_000))
    assert seen.values.size <= 2**15 + 2  # 16 digits, the first of which is always 1
    assert seen.counts.sum() == 100_001


# The capital.


def test_bets_are_densities():
    grid = (np.arange(200_000) + 0.5) / 200_000
    np.testing.assert_allclose(bets(grid).mean(axis=0), 1.0, atol=2e-3)
    assert (bets(np.array([0.0, 0.3, 1.0])) >= 0).all()


def test_the_capital_is_that_of_matrix_products():
    p = np.random.default_rng(2).random(50)
    total = 0.0
    for move in MOVES:
        parts = np.full(6, 1 / 18)
        for factors in bets(p):
            stay = (1 - move) * np.eye(6) + move / 6 * np.ones((6, 6))
            parts = factors * (stay @ parts)
        total += parts.sum()
    assert np.isclose(np.exp(Capital().bet(p)[-1]), total, rtol=1e-12)


def ever(scores, start, alpha, random):
    seen = SeenScores(start)
    return Capital().bet(seen.p_values(scores, random.random(scores.size))).max() >= -np.log(alpha)


@pytest.mark.parametrize("kind", ["continuous", "ties", "none before"])
def test_exchangeable_scores_ever_raise_an_alarm_as_rarely_as_promised(kind):
    random, alpha, runs = np.random.default_rng(3), 0.1, 120
    alarms = 0
    for _ in range(runs):
        scores = random.normal(size=220)
        scores = np.round(scores) if kind == "ties" else scores
        start = 0 if kind == "none before" else 20
        alarms += ever(scores[start:], scores[:start], alpha, random)
    assert alarms / runs <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)
    assert alarms > 0  # and it is not that nothing is ever bet


@pytest.mark.parametrize("n", [5, 20])
def test_models_of_few_rows_keep_the_bound(n):
    """Held-out scores of few rows are not quite exchangeable with scores of new ones."""
    alpha, runs, alarms = 0.1, 40, 0
    for seed in range(runs):
        monitor = DriftMonitor(fitted(n, 3, seed), alpha=alpha, random_state=seed)
        monitor.update(np.random.default_rng(1000 + seed).normal(size=(250, 3)))
        alarms += monitor.alarm_ is not None
    assert alarms / runs <= alpha + 2.5 * np.sqrt(alpha * (1 - alpha) / runs)


@pytest.mark.parametrize(
    "model",
    [
        OneClassSVM(nu=0.1, gamma="neighbors", false_alarms=0.1),
        OneClassSVM(
            nu=0.1, false_alarms=0.1, approximation="nystroem", n_components=20, random_state=0
        ),
        CalibratedOneClass(),
    ],
    ids=["narrow", "landmarks", "calibrated"],
)
def test_scores_that_crowd_inside_the_class_keep_the_bound(model):
    """In two columns half of the scores lie at the margin, another one for each held-out model."""
    alpha, runs, alarms = 0.1, 30, 0
    for seed in range(runs):
        random = np.random.default_rng(seed)
        fitted = clone(model).fit(random.normal(size=(300, 2)))
        monitor = DriftMonitor(fitted, alpha=alpha, random_state=seed)
        monitor.update(random.normal(size=(700, 2)))
        alarms += monitor.alarm_ is not None
    assert alarms / runs <= alpha + 2.5 * np.sqrt(alpha * (1 - alpha) / runs)


def test_fits_with_margins_of_their_own_keep_the_bound():
    """With the lower half of their scores in order 10 of these 30 monitors were wrong."""
    alpha, runs, alarms = 0.1, 30, 0
    mixed = np.random.default_rng(7).normal(size=(3, 3))
    for seed in range(runs):
        random = np.random.default_rng([11, seed])
        model = CalibratedOneClass(OneClassSVM(nu=0.1), method="cv+")
        model.fit(random.normal(size=(150, 3)) @ mixed)
        monitor = DriftMonitor(model, alpha=alpha, random_state=seed)
        monitor.update(random.normal(size=(1000, 3)) @ mixed)
        alarms += monitor.alarm_ is not None
    assert alarms / runs <= alpha + 2.5 * np.sqrt(alpha * (1 - alpha) / runs)


def test_of_models_with_landmarks_the_lowest_tenth_is_in_order():
    X = np.random.default_rng(0).normal(size=(99, 3))
    machine = OneClassSVM(nu=0.1, approximation="nystroem", n_components=20, random_state=0)
    alone = clone(machine).set_params(false_alarms=0.1)
    for model in (alone, CalibratedOneClass(machine), CalibratedOneClass()):
        seen = DriftMonitor(model.fit(X))._seen
        exact = type(model) is CalibratedOneClass and model.estimator is None
        share = seen.counts.sum() / (seen.counts.sum() + seen.above)
        np.testing.assert_allclose(share, 0.5 if exact else 0.1, atol=0.02)


@pytest.mark.parametrize("n", [20, 60, 400])
@pytest.mark.parametrize(
    "model",
    [OneClassSVM(nu=0.2, false_alarms=0.1), CalibratedOneClass(OneClassSVM(nu=0.2))],
    ids=["weights", "rows"],
)
def test_rows_that_repeat_keep_the_bound(model, n):
    """Held out together, equal rows score lower than new rows that equal them do."""
    alpha, runs, alarms = 0.1, 40, 0
    for seed in range(runs):
        random = np.random.default_rng(seed)
        model = clone(model).fit(random.integers(0, 3, size=(n, 2)))
        with pytest.warns(UserWarning, match="Rows of the fit repeat"):
            monitor = DriftMonitor(model, alpha=alpha, random_state=seed)
        monitor.update(random.integers(0, 3, size=(250, 2)))
        alarms += monitor.alarm_ is not None
    assert alarms / runs <= alpha + 2.5 * np.sqrt(alpha * (1 - alpha) / runs)


def test_the_proof_needs_exchangeable_rows():
    """A class that wanders, each row near the last, is a change, and told as one."""
    random = np.random.default_rng(0)
    walk = np.cumsum(random.normal(0, 0.2, size=(1500, 2)), axis=0)
    monitor = DriftMonitor(fitted(200))
    monitor.update(walk)
    assert monitor.alarm_ is not None


# What it is for.


@pytest.mark.parametrize(
    "changed",
    [
        lambda random: random.normal(0.7, 1.0, size=(1000, 2)),  # moved
        lambda random: random.normal(0.0, 1.6, size=(1000, 2)),  # wider
        lambda random: random.normal(0.0, 0.4, size=(1000, 2)),  # narrower: too normal
        lambda random: random.normal(size=(1000, 2)) + 9.0 * (random.random((1000, 1)) < 0.1),
    ],
    ids=["moved", "wider", "narrower", "outliers"],
)
def test_changes_are_found_after_a_long_quiet_time(changed):
    random = np.random.default_rng(5)
    monitor = DriftMonitor(fitted(200), alpha=0.01)
    monitor.update(random.normal(size=(1500, 2)))
    assert monitor.alarm_ is None
    capital = monitor.update(changed(random))
    assert 1500 <= monitor.alarm_ < 2500
    assert capital[monitor.alarm_ - 1500] >= 100 > capital[monitor.alarm_ - 1501]
    assert monitor.n_rows_ == 2500
    before = monitor.alarm_
    monitor.update(random.normal(size=(500, 2)))
    assert monitor.alarm_ == before


def test_rows_that_are_too_normal_from_the_first_on_are_found():
    """The lower half of the held-out scores tells that; the lowest tenth would not."""
    found = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        monitor = DriftMonitor(CalibratedOneClass().fit(random.normal(size=(200, 3))))
        monitor.update(random.normal(0.0, 0.5, size=(300, 3)))
        found.append(300 if monitor.alarm_ is None else monitor.alarm_)
    assert np.median(found) < 100


def test_how_rows_are_divided_over_calls_makes_no_difference():
    X = np.round(np.random.default_rng(6).normal(size=(700, 2)), 1)
    model = fitted()
    whole, parts = DriftMonitor(model), DriftMonitor(model)
    capital = whole.update(X)
    found = np.concatenate([parts.update(X[i:j]) for i, j in ((0, 1), (1, 400), (400, 700))])
    np.testing.assert_allclose(found, capital, rtol=1e-9)
    assert np.isclose(parts.rejected_proportion_, whole.rejected_proportion_)
    assert parts.history_["n_rows"] == [1, 400, 700]


def test_a_monitor_says_what_it_has_seen():
    monitor = DriftMonitor(fitted(30), alpha=0.05)
    assert monitor.update_scores([], []).size == 0
    assert repr(monitor).endswith("alpha=0.05): 0 rows seen, capital 1")


def test_the_moving_average_is_one():
    model = fitted()
    X = np.r_[np.zeros((50, 2)), np.full((50, 2), 9.0)]
    monitor = DriftMonitor(model)
    monitor.update(X)
    rate = 0.1
    for rejected in model.predict(X) == -1:
        rate = 0.99 * rate + 0.01 * rejected
    assert np.isclose(monitor.rejected_proportion_, rate)
    assert rate > 0.3


def test_pipelines_and_calibrated_detectors_are_watched():
    random = np.random.default_rng(7)
    X = random.normal(size=(80, 3)) * [1.0, 10.0, 100.0]
    chain = CalibratedOneClass(make_pipeline(StandardScaler(), OneClassSVM(nu=0.1)), cv=5).fit(X)
    plain = make_pipeline(Normalizer(), OneClassSVM(nu=0.1, false_alarms=0.1)).fit(X)
    forest = CalibratedOneClass(IsolationForest(n_estimators=20, random_state=0), cv=5).fit(X)
    for model in (chain, plain, forest):
        monitor = DriftMonitor(model)
        monitor.update(X[:40] * [1.0, 0.1, -1.0] + [0.0, 500.0, 0.0])
        assert monitor.alarm_ is not None


def test_a_scaler_that_has_seen_all_rows_keeps_the_bound():
    """New rows are wider than rows that were scaled on themselves: 13 of 20 monitors were wrong."""
    alpha, runs, alarms = 0.1, 30, 0
    for seed in range(runs):
        random = np.random.default_rng([7, seed])
        chain = make_pipeline(StandardScaler(), OneClassSVM(nu=0.1, false_alarms=0.1))
        chain.fit(random.standard_t(1.5, size=(30, 60)))
        with pytest.warns(UserWarning, match=r"StandardScaler was fitted to all rows.*Calibrated"):
            monitor = DriftMonitor(chain, alpha=alpha, random_state=seed)
        monitor.update(random.standard_t(1.5, size=(300, 60)))
        alarms += monitor.alarm_ is not None
    assert alarms / runs <= alpha + 2.5 * np.sqrt(alpha * (1 - alpha) / runs)


class Doubled:
    """A step without the tags of scikit-learn."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2.0 * X


def test_a_step_that_does_not_say_whether_it_is_fitted_may_be():
    X = np.random.default_rng(9).normal(size=(60, 2))
    chain = make_pipeline(Doubled(), OneClassSVM(nu=0.1, false_alarms=0.1)).fit(X)
    with pytest.warns(UserWarning, match="Doubled was fitted to all rows"):
        DriftMonitor(chain)


# Kept between processes.


def test_a_stored_monitor_goes_on():
    X = np.random.default_rng(8).normal(0.3, 1.0, size=(600, 2))
    model = fitted()
    whole, first = DriftMonitor(model, alpha=0.05, random_state=3), None
    capital = whole.update(X)
    first = DriftMonitor(model, alpha=0.05, random_state=3)
    first.update(X[:250])
    second = DriftMonitor.from_state(model, json.loads(json.dumps(first.to_state())))
    np.testing.assert_allclose(second.update(X[250:]), capital[250:], rtol=1e-9)
    assert (second.alarm_, second.n_rows_, second.alpha) == (whole.alarm_, 600, 0.05)


def test_states_of_another_model_and_damaged_ones_are_refused():
    state = DriftMonitor(fitted()).to_state()
    with pytest.raises(ValueError, match="another model"):
        DriftMonitor.from_state(fitted(seed=1), state)
    with pytest.raises(ValueError, match="version"):
        DriftMonitor.from_state(fitted(), {**state, "version": 99})
    shape = np.shape(state["parts"])
    for name, value in (
        ("parts", [[1.0]]),
        ("parts", np.full(shape, 1e308).tolist()),  # their sum is infinite
        ("parts", np.zeros(shape).tolist()),
        ("counts", state["counts"][1:]),
        ("counts", [1e308] * len(state["counts"])),
        ("scores", state["scores"][::-1]),
        ("log_capital", float("nan")),
        ("log_capital", 10**400),
        ("n_rows", -1),
        ("n_rows", 10**400),
        ("alarm", "now"),
        ("alarm", ""),
        ("alpha", 2.0),
        ("rejected_proportion", 7.0),
        ("history", None),
        ("history", {"capital": "x"}),
        ("history", {"capital": [None]}),
        ("history", {"other": []}),
    ):
        with pytest.raises(ValueError, match="damaged"):
            DriftMonitor.from_state(fitted(), {**state, name: value})
    with pytest.raises(ValueError, match="damaged"):
        DriftMonitor.from_state(fitted(), {k: v for k, v in state.items() if k != "counts"})


def test_bad_input():
    model = fitted()
    with pytest.raises(ValueError, match=r"alpha .* got 1\.5"):
        DriftMonitor(model, alpha=1.5)
    with pytest.raises(ValueError, match=r"random_state .* got None"):
        DriftMonitor(model, random_state=None)
    with pytest.raises(ValueError, match="IsolationForest has none"):
        DriftMonitor(IsolationForest().fit(np.zeros((5, 1))))
    with pytest.raises(ValueError, match='offset="left_out"'):
        DriftMonitor(OneClassSVM().fit(np.eye(3)))
    monitor = DriftMonitor(model)
    with pytest.raises(ValueError, match="one value per row"):
        monitor.update_scores(np.zeros(3), np.zeros(2, bool))
    with pytest.raises(ValueError, match=r"rejected must be True or False .* got int64 \[-1\]"):
        monitor.update_scores(np.zeros(2), model.predict(np.full((2, 2), 99.0)))
    with pytest.raises(ValueError, match="NaN"):
        monitor.update_scores(np.full(1, np.nan), np.zeros(1, bool))
    with pytest.raises(ValueError, match="features"):
        monitor.update(np.zeros((2, 5)))
    assert monitor.n_rows_ == 0


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_model_without_a_direction_is_refused(wrapped, seed):
    """Its scores are rounding errors, and 21 of 30 monitors raised a false alarm."""
    X = np.random.default_rng([9, 15, seed]).normal(size=(15, 4))
    model = OneClassSVM(kernel="linear", nu=0.2, false_alarms=0.2)
    model = CalibratedOneClass(model, false_alarms=0.2) if wrapped else model
    with pytest.warns(UserWarning, match="The solution is trivial"):
        model.fit(X)
    with pytest.raises(ValueError, match="weight vector of zero"):
        DriftMonitor(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        away = OneClassSVM(kernel="linear", nu=0.2, false_alarms=0.2).fit(X + 4.0)
    assert DriftMonitor(away).capital_ == 1.0
