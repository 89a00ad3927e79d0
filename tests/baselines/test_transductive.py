"""The transductive machine: every round an optimum, every exchange of labels a gain."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from scarce import SVC, TransductiveSVM
from scarce.baselines._label_switching import first_guesses, growing_costs, pairs_to_switch
from scarce.solvers import QuadraticProgram
from tests.baselines.samples import GAMMA, assert_same, matrix
from tests.oracles.classification import c_svc, transductive_svc
from tests.oracles.convex import feature_map
from tests.versions import NEEDS_CALLBACKS

EXACT = {"gamma": GAMMA, "tol": 1e-8, "unlabeled": -1}
new = np.random.default_rng(99).normal(1.0, 1.5, size=(30, 3))


def sample(seed, n_labelled=8, n_unlabelled=30, ratio=2):
    """Return rows of two classes that overlap, and labels, -1 for those hidden.

    The labelled rows are all from one corner, so that the first guesses are poor.
    """
    random = np.random.default_rng(seed)
    y = (np.arange(n_labelled + n_unlabelled) % ratio == 0).astype(int)
    X = random.normal(size=(y.size, 3)) + 2.0 * y[:, None] * [1.0, 0.5, 0.0]
    X[:n_labelled, 1] *= 3.0
    order = random.permutation(y.size)
    hidden = np.where(np.arange(y.size) < n_labelled, y, -1)
    return X[order], hidden[order]


def value_of(X, y, guesses, kernel, C, cost):
    """Return the optimum of the margin problem for guessed labels, by a generic solver."""
    features, unlabelled = feature_map(matrix(np.r_[X, new], kernel)), y == -1
    part = features[: len(X)]
    primal = transductive_svc(
        part[~unlabelled], 2.0 * y[~unlabelled] - 1, part[unlabelled], guesses, C, cost, cost
    )
    value = primal.solve()
    return value, features[len(X) :] @ primal.weights.value + primal.offsets.value


# Limits.


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("unlabeled", [None, -1, "?"])
def test_without_unlabelled_rows_it_is_an_svc(kernel, unlabeled):
    X, _ = sample(0)
    y, weights = np.arange(len(X)) % 2, np.linspace(0.2, 2.0, len(X))
    plain = SVC(kernel=kernel).fit(X, y, sample_weight=weights)
    model = TransductiveSVM(kernel=kernel, unlabeled=unlabeled).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.decision_function(new), plain.decision_function(new))
    np.testing.assert_array_equal(model.transduction_, y)
    assert model.objective_ == plain.objective_
    assert model.n_rounds_ == 1
    assert model.converged_


def test_unlabelled_rows_that_cost_nothing_change_nothing():
    X, y = sample(1)
    model = TransductiveSVM(C_unlabeled=1e-12, **EXACT).fit(X, y)
    plain = SVC(gamma=GAMMA, tol=1e-8).fit(X[y >= 0], y[y >= 0])
    assert_same(model.decision_function(new), plain.decision_function(new), 1e-6)


# Every round against a generic solver.


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_last_round_is_the_optimum_for_its_labels(kernel, seed):
    X, y = sample(seed)
    model = TransductiveSVM(C=1.3, C_unlabeled=0.7, kernel=kernel, **EXACT).fit(X, y)
    assert model.converged_
    guesses = 2.0 * model.transduction_[y == -1] - 1.0
    value, decisions = value_of(X, y, guesses, kernel, 1.3, 0.7)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert_same(model.decision_function(new), decisions)


def test_every_round_is_the_optimum_for_its_labels_and_costs(monkeypatch):
    programs = []
    record = QuadraticProgram.__init__

    def recorded(self, *args, **kwargs):
        record(self, *args, **kwargs)
        programs.append(self)

    monkeypatch.setattr(QuadraticProgram, "__init__", recorded)
    X, y = sample(3)
    weights = np.linspace(0.5, 2.0, len(X))
    model = TransductiveSVM(C=1.3, C_unlabeled=0.7, **EXACT).fit(X, y, sample_weight=weights)
    features = feature_map(matrix(X, "rbf"))
    assert len(programs) == model.n_rounds_ > 10
    for program, objective, low, high in zip(
        programs,
        model.history_["objective"],
        model.history_["negative_cost"],
        model.history_["positive_cost"],
        strict=True,
    ):
        signs = program.signs
        prices = weights * np.where(y >= 0, 1.3, np.where(signs > 0, high, low))
        np.testing.assert_allclose(program.upper, prices, rtol=1e-12)
        np.testing.assert_array_equal(signs[y >= 0], 2.0 * y[y >= 0] - 1.0)
        assert objective == pytest.approx(c_svc(features, signs, prices).solve(), rel=1e-6)


# Exchanges.


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_objective_falls_with_every_exchange(kernel):
    total = 0
    for seed in range(6):
        X, y = sample(seed, n_labelled=6, n_unlabelled=60)
        history = TransductiveSVM(kernel=kernel, C=5.0, **EXACT).fit(X, y).history_
        rounds = np.array([history[key] for key in ("objective", "negative_cost", "switched")])
        exchanged = np.flatnonzero(rounds[2])
        np.testing.assert_array_equal(rounds[1, exchanged], rounds[1, exchanged - 1])
        assert np.all(rounds[0, exchanged] < rounds[0, exchanged - 1] * (1 - 1e-10))
        total += exchanged.size
    assert total > 5


@pytest.mark.parametrize("seed", range(4))
def test_no_pair_is_left(seed):
    X, y = sample(seed, n_labelled=6, n_unlabelled=60)
    model = TransductiveSVM(C=5.0, **EXACT).fit(X, y)
    hidden = y == -1
    signs = 2.0 * model.transduction_[hidden] - 1.0
    slacks = np.maximum(1.0 - signs * model.decision_function(X[hidden]), 0.0)
    worst = [slacks[signs == sign].max() for sign in (1.0, -1.0)]
    assert min(worst) == 0 or sum(worst) <= 2.0 + 1e-6
    assert max(slacks) > 0  # the classes overlap: the condition is not void


@pytest.mark.parametrize("share", [None, 0.0, 0.2, 0.5, 0.85, 1.0])
def test_the_share_of_positives_is_kept(share):
    X, y = sample(4, n_labelled=9, n_unlabelled=40, ratio=3)
    weights = np.where(y == 1, 2.0, 1.0)
    model = TransductiveSVM(positive_share=share, C=5.0, **EXACT)
    model.fit(X, y, sample_weight=weights)
    labelled = y >= 0
    expected = np.average(y[labelled], weights=weights[labelled]) if share is None else share
    assert (model.transduction_[~labelled] == 1).sum() == round(40 * expected)
    np.testing.assert_array_equal(model.transduction_[labelled], y[labelled])


def test_pairs_gain_at_the_present_plane():
    random = np.random.default_rng(0)
    found = 0
    for _ in range(200):
        n = int(random.integers(2, 12))
        signs = np.where(random.random(n) < 0.5, 1.0, -1.0)
        decisions = random.normal(0.0, 2.0, n)
        weights = random.choice([1.0, 1.0, 3.0], n)
        low, high = random.uniform(0.1, 2.0, 2)

        def cost(signs, weights=weights, low=low, high=high, decisions=decisions):
            prices = weights * np.where(signs > 0, high, low)
            return float(prices @ np.maximum(1.0 - signs * decisions, 0.0))

        ups, downs = pairs_to_switch(
            np.maximum(1.0 - signs * decisions, 0.0),
            signs,
            weights * np.where(signs > 0, high, low),
            weights * np.where(signs > 0, low, high),
            0.0,
        )
        assert np.all(signs[ups] == 1)
        assert np.all(signs[downs] == -1)
        for up, down in zip(ups, downs, strict=True):
            after = signs.copy()
            after[up], after[down] = -1.0, 1.0
            assert cost(after) < cost(signs)
            signs = after
            found += 1
    assert found > 50


def test_a_pair_is_found_where_there_is_one():
    # By the rule of the paper, rows of equal weight: any pair at all.
    random = np.random.default_rng(1)
    for _ in range(300):
        n = int(random.integers(2, 8))
        signs, decisions = np.where(random.random(n) < 0.5, 1.0, -1.0), random.normal(0, 1.2, n)
        slacks = np.maximum(1.0 - signs * decisions, 0.0)
        pairs = itertools.product(np.flatnonzero(signs > 0), np.flatnonzero(signs < 0))
        exists = any(min(slacks[[m, k]]) > 0 and sum(slacks[[m, k]]) > 2 for m, k in pairs)
        ups, _ = pairs_to_switch(slacks, signs, np.ones(n), np.ones(n), 0.0)
        assert (ups.size > 0) == exists


def test_no_labelling_is_better_than_the_best():
    # All labellings of six rows: a lower bound, which is reached where there is a clear gap.
    reached = 0
    for seed in range(4):
        X, y = sample(seed, n_labelled=4, n_unlabelled=6)
        if seed == 0:
            X[:, 0] += np.where(X[:, 0] > np.median(X[:, 0]), 4.0, -4.0)
            y[y >= 0] = X[y >= 0, 0] > 0
            y[np.argmin(X[:, 0])], y[np.argmax(X[:, 0])] = 0, 1
        hidden = np.flatnonzero(y == -1)
        model = TransductiveSVM(C=1.0, kernel="linear", **EXACT).fit(X, y)
        n_positive = int((model.transduction_[hidden] == 1).sum())
        values = []
        for chosen in itertools.combinations(range(hidden.size), n_positive):
            guesses = -np.ones(hidden.size)
            guesses[list(chosen)] = 1.0
            values.append(value_of(X, y, guesses, "linear", 1.0, 1.0)[0])
        assert model.objective_ >= min(values) * (1 - 1e-6)
        assert model.objective_ <= np.median(values)
        best = model.objective_ == pytest.approx(min(values), rel=1e-6)
        assert best or seed > 0
        reached += best
    assert reached >= 2


def test_it_helps_where_a_gap_is_elsewhere():
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1], 60)
    X = np.c_[random.uniform(-1.0, 1.0, 120), random.normal(0.0, 0.3, 120) + 2.0 * truth]
    y = np.full(120, -1)
    y[[np.argmin(X[:60, 0]), 60 + np.argmax(X[60:, 0])]] = [0, 1]  # two corners, on a slant
    plain = SVC(kernel="linear", C=10.0).fit(X[y >= 0], y[y >= 0])
    model = TransductiveSVM(kernel="linear", C=10.0, unlabeled=-1).fit(X, y)
    assert plain.score(X, truth) < 0.99
    assert model.score(X, truth) == 1.0


# Costs.


def test_costs_double_up_to_the_goal():
    costs = list(growing_costs(0.01, 10, 40))
    assert costs[0] == (1e-5, pytest.approx(1e-5 / 3))
    assert costs[-1] == (0.01, 0.01)
    for (low, high), (lower, higher) in itertools.pairwise(costs):
        assert lower in (pytest.approx(2 * low), 0.01)
        assert higher in (pytest.approx(2 * high), 0.01)
    assert sum(pair == (0.01, 0.01) for pair in costs) == 1
    assert list(growing_costs(1e-6, 10, 40)) == [(1e-6, 1e-6)]
    assert list(growing_costs(2.0, 0, 40)) == list(growing_costs(2.0, 40, 40)) == [(2.0, 2.0)]


def test_the_highest_scores_are_positive():
    np.testing.assert_array_equal(first_guesses(np.array([0.1, 3.0, -2.0]), 2), [1, 1, -1])


# Weights.


def test_weights_of_labelled_rows_equal_repetition():
    X, y = sample(5)
    counts = np.where(y >= 0, 1 + np.arange(len(y)) % 3, 1)
    often = np.repeat(np.arange(len(y)), counts)
    once = TransductiveSVM(unlabeled=-1).fit(X, y, sample_weight=counts)
    again = TransductiveSVM(unlabeled=-1).fit(X[often], y[often])
    assert_same(once.decision_function(new), again.decision_function(new), 1e-6)


def test_rows_without_weight_are_only_predicted():
    X, y = sample(6)
    weights = (np.arange(len(y)) % 5 > 0).astype(float)
    model = TransductiveSVM(unlabeled=-1).fit(X, y, sample_weight=weights)
    # Columns of another width would change the kernel: gamma counts weights.
    fewer = TransductiveSVM(unlabeled=-1).fit(X[weights > 0], y[weights > 0])
    assert_same(model.decision_function(new), fewer.decision_function(new), 1e-9)
    out = (weights == 0) & (y == -1)
    assert out.sum() > 3
    np.testing.assert_array_equal(model.transduction_[out], model.predict(X[out]))
    np.testing.assert_array_equal(model.transduction_[weights > 0], fewer.transduction_)


def test_balanced_classes_are_those_of_the_labelled_rows():
    X, y = sample(7, n_labelled=9, ratio=3)
    model = TransductiveSVM(unlabeled=-1, class_weight="balanced").fit(X, y)
    counts = np.bincount(y[y >= 0])
    np.testing.assert_allclose(model.class_weight_, counts.sum() / (2.0 * counts))


# Input.


def test_any_value_may_mark_unlabelled_rows():
    X, y = sample(8)
    plain = TransductiveSVM(unlabeled=-1).fit(X, y)
    words = np.array(["no", "yes", "?"])[y]
    for labels, mark in ((words, "?"), (words.astype(object), "?"), (y + 0.0, -1.0), (y + 3, 2)):
        model = TransductiveSVM(unlabeled=mark).fit(X, labels)
        np.testing.assert_array_equal(model.decision_function(new), plain.decision_function(new))
        np.testing.assert_array_equal(model.classes_, np.unique(labels[y >= 0]))
        assert mark not in model.transduction_


def test_sparse_and_precomputed():
    X, y = sample(9)
    expected = TransductiveSVM(**EXACT).fit(X, y)
    thin = TransductiveSVM(**EXACT).fit(sparse.csr_array(X), y)
    assert_same(
        thin.decision_function(sparse.csr_array(new)), expected.decision_function(new), 1e-8
    )
    given = TransductiveSVM(kernel="precomputed", **EXACT).fit(matrix(X, "rbf"), y)
    values = matrix(np.r_[new, X], "rbf")[: len(new), len(new) :]
    assert_same(given.decision_function(values), expected.decision_function(new), 1e-8)


def test_labels_that_do_not_fit():
    X, y = sample(10)
    with pytest.raises(ValueError, match=r"three values, \[-1, 0, 1\].*set unlabeled=-1"):
        TransductiveSVM().fit(X, y)
    with pytest.raises(ValueError, match="every row of y is unlabeled=-1"):
        TransductiveSVM(unlabeled=-1).fit(X, np.full(len(X), -1))
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        TransductiveSVM(unlabeled=-1).fit(X, np.where(y == 0, -1, y))
    with pytest.raises(ValueError, match="same class"):
        TransductiveSVM(unlabeled=-1).fit(X, y, sample_weight=y != 0)
    with pytest.raises(ValueError, match="C=inf needs a finite C_unlabeled"):
        TransductiveSVM(unlabeled=-1, C=np.inf).fit(X, y)


def test_too_few_rounds_are_said():
    X, y = sample(11)
    with pytest.warns(ConvergenceWarning, match=r"max_rounds=3.*should cost 2\. Raise") as caught:
        model = TransductiveSVM(unlabeled=-1, C=2.0, max_rounds=3).fit(X, y)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert model.n_rounds_ == 3
    assert {len(column) for column in model.history_.values()} == {3}


@NEEDS_CALLBACKS
def test_a_callback_can_stop_between_rounds():
    class Stopper:
        rounds = 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            self.rounds += context.task_name == "round"

        def on_fit_task_end(self, estimator, context):
            return context.task_name == "block" and self.rounds == 4

    X, y = sample(12)
    with pytest.warns(ConvergenceWarning, match="A callback stopped the solver"):
        model = TransductiveSVM(unlabeled=-1).set_callbacks(Stopper()).fit(X, y)
    assert not model.converged_
    assert model.n_rounds_ == 4
    assert np.isfinite(model.decision_function(new)).all()
