"""Sources that are related to a target and others: p-values, moves, and what is left out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from scarce import UOCTSVM, OneClassSVM, ScarceDataWarning, TransferOneClassSVM
from scarce.one_class._task_sample import SourceMoves

N = 12


def tasks(seed=0, shift=2.0):
    """Return a target, a source like it elsewhere, a source of another shape, and new rows."""
    random = np.random.default_rng(seed)
    mixing = np.array([[1.0, 0.9, 0.9], [0.0, 0.3, 0.0], [0.0, 0.0, 0.3]])
    like, target, new = (random.normal(size=(n, 3)) @ mixing for n in (100, N, 500))
    flat = random.uniform(-3.0, 3.0, size=(100, 3)) * np.array([1.0, -1.0, 1.0])
    unlike = np.where(np.abs(flat) < 1.5, 3.0 * np.sign(flat), flat)  # nothing in the middle
    others = random.normal(size=(500, 3))
    return target, like + shift, unlike, new, others


def test_what_helps_is_moved_and_used_and_what_does_not_is_named():
    target, like, unlike, new, others = tasks()
    X = np.r_[target, like, unlike]
    domain = np.r_[np.full(N, -1), np.zeros(100, int), np.full(100, 7)]
    with pytest.warns(ScarceDataWarning, match="source 7 is not used") as told:
        model = TransferOneClassSVM().fit(X, sample_domain=domain)
    assert len(told) == 1
    assert model.domains_.tolist() == [-1, 0]
    assert model.source_p_value_[0] > 0.3 > model.source_p_value_[7]
    np.testing.assert_allclose(model.task_shift_[1], -2.0, atol=1.2)
    np.testing.assert_array_equal(model.task_shift_[0], 0.0)
    truth = np.repeat([1, 0], 500)
    found = roc_auc_score(truth, model.score_samples(np.r_[new, others]))
    alone = OneClassSVM(gamma="neighbors", nu=0.1, offset="left_out").fit(target)
    assert found > roc_auc_score(truth, alone.score_samples(np.r_[new, others]))
    # The source's region is where its rows are.
    inside = model.predict(like, sample_domain=np.zeros(100, int)) == 1
    assert inside.mean() > 0.8
    with pytest.raises(ValueError, match="sample_domain holds"):
        model.predict(unlike, sample_domain=np.full(100, 7))


def test_without_a_source_that_helps_it_is_the_model_of_the_target():
    target, _, unlike, new, _ = tasks()
    X, domain = np.r_[target, unlike], np.r_[np.full(N, -1), np.zeros(100, int)]
    with pytest.warns(ScarceDataWarning, match="source 0 is not used"):
        model = TransferOneClassSVM(gamma=0.5).fit(X, sample_domain=domain)
    alone = TransferOneClassSVM(gamma=0.5).fit(target)
    np.testing.assert_allclose(model.decision_function(new), alone.decision_function(new))


def test_kept_sources_are_the_published_method_and_are_told():
    target, like, unlike, *_ = tasks()
    X, domain = np.r_[target, unlike], np.r_[np.full(N, -1), np.zeros(100, int)]
    for model in (TransferOneClassSVM(relation="keep"), UOCTSVM()):
        with pytest.warns(ScarceDataWarning, match="source 0 looks unrelated to the target"):
            model.fit(X, sample_domain=domain)
        assert model.domains_.tolist() == [-1, 0]
        assert model.task_shift_ is None
        assert model.source_p_value_[0] < 0.1
    X = np.r_[target, like - 2.0]
    model = TransferOneClassSVM(relation="keep").fit(X, sample_domain=domain)
    assert 0.3 < model.source_p_value_[0] < 0.7


def test_p_values_of_one_distribution_are_one_half_and_weights_are_repetition():
    found = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        X = random.normal(size=(150, 3))
        domain = np.r_[np.zeros(100, int), np.full(50, -1)]
        counts = random.integers(1, 3, 150)
        model = TransferOneClassSVM(offset="original", gamma="scale", relation="keep")
        once = model.fit(X, sample_weight=counts, sample_domain=domain).source_p_value_[0]
        often = model.fit(
            np.repeat(X, counts, axis=0), sample_domain=np.repeat(domain, counts)
        ).source_p_value_[0]
        assert often == pytest.approx(once, abs=1e-9)
        found.append(once)
    assert np.mean(found) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("kind", ["sparse", "precomputed"])
def test_rows_that_cannot_be_moved_are_judged_where_they_are(kind):
    target, like, *_ = tasks(shift=0.0)
    X, domain = np.r_[target, like], np.r_[np.full(N, -1), np.zeros(100, int)]
    given = {"gamma": 0.5, "offset": "original"}
    expected = TransferOneClassSVM(relation="keep", **given).fit(X, sample_domain=domain)
    if kind == "sparse":
        model, rows = TransferOneClassSVM(**given), sparse.csr_array(X)
    else:
        model, rows = TransferOneClassSVM(kernel="precomputed", **given), rbf_kernel(X, gamma=0.5)
    model.fit(rows, sample_domain=domain)
    assert model.task_shift_ is None
    np.testing.assert_allclose(
        model.decision_function(rows[:N]), expected.decision_function(X[:N]), atol=1e-5
    )


def test_moves_are_shrunk_by_what_the_mean_is_uncertain_by():
    random = np.random.default_rng(0)
    target, source = random.normal(size=(8, 5)), random.normal(1.0, 2.0, size=(50, 5))
    X, tasks_of = np.r_[target, source], np.repeat([0, 1], [8, 50])
    moves = SourceMoves.of(X, tasks_of, np.ones(58), 2)
    away = target.mean(axis=0) - source.mean(axis=0)
    factor = 1 - np.trace(np.cov(target.T)) / 8 / (away @ away)
    np.testing.assert_allclose(moves.shifts(target, np.ones(8))[1], max(factor, 0.0) * away)
    np.testing.assert_array_equal(moves.shifts(target[:1], np.ones(1)), 0.0)
    same = SourceMoves(np.zeros((2, 5)))
    np.testing.assert_array_equal(same.shifts(target - target.mean(axis=0), np.ones(8)), 0.0)


@pytest.mark.filterwarnings("ignore:source 0 is not used")  # a few draws
def test_rates_with_moved_sources_are_those_wanted():
    # The rows left out have no part in where the source is moved to.
    random = np.random.default_rng(0)
    rates = []
    for _ in range(60):
        X = np.r_[random.normal(size=(10, 3)), random.normal(1.0, 1.0, size=(60, 3))]
        domain = np.r_[np.full(10, -1), np.zeros(60, int)]
        model = TransferOneClassSVM().fit(X, sample_domain=domain)
        rates.append(np.mean(model.predict(random.normal(size=(200, 3))) < 0))
    assert np.mean(rates) == pytest.approx(1 / 11, abs=0.035)


def test_a_source_of_a_few_rows_is_not_used():
    target, like, *_ = tasks()
    X, domain = np.r_[target, like[:3]], np.r_[np.full(N, -1), np.zeros(3, int)]
    with pytest.warns(ScarceDataWarning, match="fewer than 4 distinct rows"):
        model = TransferOneClassSVM().fit(X, sample_domain=domain)
    assert model.domains_.tolist() == [-1]
