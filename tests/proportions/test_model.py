"""Weights, several classes, limits, kinds of kernels and rows, large samples, scores."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVR

from scarce.proportions import expand_proportions, group_error, group_proportions
from tests.proportions.published import GroupProbabilitySVM, TransferGroupProbabilitySVM
from tests.proportions.samples import GAMMA, calibrated, problem

BOTH = [GroupProbabilitySVM, TransferGroupProbabilitySVM]


def shares_of(n=120, size=6, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    labels = np.digitize(X[:, 0] + 0.3 * X[:, 1], np.linspace(-0.6, 0.6, n_classes - 1))
    labels = labels if n_classes > 2 else (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
    groups = np.arange(n) // size
    shares = group_proportions(labels, groups, classes=np.arange(n_classes))
    return X, labels, groups, expand_proportions(shares, groups)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_weights_equal_repetition_in_groups(kind, kernel):
    case = problem(kernel, 5 if kind is TransferGroupProbabilitySVM else 0)
    counts = np.random.default_rng(1).integers(0, 4, size=len(case.X))
    often = np.repeat(np.arange(len(case.X)), counts)
    source = {"source": case.source} if kind is TransferGroupProbabilitySVM else {}
    model = kind(**case.settings(), **source)
    once = model.fit(case.X, case.y, case.groups, sample_weight=counts)
    expected = once.decision_function(case.shown)
    objective = once.objective_
    again = model.fit(case.X[often], case.y[often], case.groups[often])
    np.testing.assert_allclose(again.decision_function(case.shown), expected, atol=1e-8)
    assert again.objective_ == pytest.approx(objective, rel=1e-8)


@pytest.mark.filterwarnings("ignore:kernel=.* is not positive semidefinite")
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_the_same_model_from_every_kind_of_rows(kind, kernel):
    X, _, groups, y = shares_of(60)
    settings = {"kernel": kernel, "gamma": 0.2, "coef0": 0.5}
    plain = kind(**settings).fit(X, y, groups)
    expected = plain.decision_function(X)
    stored = kind(**settings).fit(sparse.csr_array(X), y, groups)
    np.testing.assert_allclose(stored.decision_function(sparse.csr_array(X)), expected, atol=1e-7)
    single = X.astype(np.float32)
    narrow = kind(**settings).fit(single, y, groups)
    assert narrow.support_vectors_.dtype == np.float32
    np.testing.assert_allclose(narrow.decision_function(single), expected, atol=1e-4)
    values = plain._fitted_kernel().values(X, X)
    given = kind(kernel="precomputed").fit(values, y, groups)
    np.testing.assert_allclose(given.decision_function(values), expected, atol=1e-7)
    called = kind(kernel=plain._fitted_kernel().values).fit(X, y, groups)
    np.testing.assert_allclose(called.decision_function(X), expected, atol=1e-7)


@pytest.mark.parametrize("kind", BOTH)
def test_a_callable_kernel_of_thousands_of_rows(kind):
    X, _, groups, y = shares_of(1500, 30)
    model = kind(kernel=laplacian_kernel).fit(X, y, groups)
    given = kind(kernel="precomputed").fit(laplacian_kernel(X, X), y, groups)
    np.testing.assert_allclose(
        model.decision_function(X[:50]), given.decision_function(laplacian_kernel(X[:50], X))
    )


def test_libsvm_agrees_on_the_mean_kernel():
    # Equal tubes: shares of 1/4 and 3/4 have the same width.
    X, _, groups, _ = shares_of(64, 8)
    share = np.where(np.arange(8) % 2, 0.75, 0.25)
    model = GroupProbabilitySVM(gamma=GAMMA, epsilon=0.03, C=2.0, tol=1e-8)
    model.fit(X, share[groups], groups)
    average = (groups == np.arange(8)[:, None]) / 8
    K = average @ rbf_kernel(X, gamma=GAMMA) @ average.T
    z, tube = calibrated(share, [8] * 8, 0.03)
    peer = SVR(kernel="precomputed", C=2.0, epsilon=tube[0], tol=1e-10).fit(K, z)
    gamma = np.zeros(8)
    gamma[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(model.group_dual_coef_[0], gamma, atol=1e-7)


def test_offset_is_the_middle_of_the_median_interval():
    X, _, groups, _ = shares_of(36, 9)
    share = np.array([0.1, 0.2, 0.7, 0.9])
    model = GroupProbabilitySVM(C=1e-3).fit(X, share[groups], groups)
    np.testing.assert_allclose(np.abs(model.group_dual_coef_), 1e-3)  # all at their bound
    z, tube = calibrated(share, [9] * 4, 0.01)
    raw = model.decision_function(X) - model.intercept_
    means = np.array([raw[groups == k].mean() for k in range(4)])
    ends = np.sort(np.concatenate([z - tube - means, z + tube - means]))
    assert ends[4] - ends[3] > 0.5  # the fourth and the fifth of eight
    assert model.intercept_[0] == pytest.approx(0.5 * (ends[3] + ends[4]), abs=1e-9)


def test_without_tolerance_one_linear_system():
    case = problem("rbf", 6)
    model = TransferGroupProbabilitySVM(
        source=case.source, C_common=2.0, C_group=3.0, transfer=0.7, epsilon=0.0, **case.settings()
    ).fit(case.X, case.y, case.groups)
    units = np.vstack([case.common, case.means])
    n, m = len(case.common), len(units)
    z, _ = calibrated(case.share, case.size, 0.0)
    at = units @ case.weights
    right = np.concatenate([at[:n] / 1.7 + case.offset, z - 0.7 / 1.7 * at[n:]])
    system = np.ones((m + 1, m + 1))
    system[:m, :m] = units @ units.T / 1.7 + np.diag([1 / 2] * n + [1 / 3] * (m - n))
    system[m, m] = 0.0
    expected = np.linalg.solve(system, np.append(right, 0.0))
    found = np.concatenate([model.common_dual_coef_[0], model.group_dual_coef_[0]])
    np.testing.assert_allclose(found, expected[:m], atol=1e-9)
    assert model.intercept_[0] == pytest.approx(expected[m], abs=1e-9)
    assert model.n_iter_ == 1


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_large_transfer_leaves_only_the_offset(kernel):
    case = problem(kernel, 6)
    model = TransferGroupProbabilitySVM(source=case.source, transfer=1e8, **case.settings())
    model.fit(case.X, case.y, case.groups)
    source = case.source.decision_function(case.shown)
    shift = model.decision_function(case.shown) - source
    assert np.ptp(shift) < 1e-6
    assert abs(shift.mean()) > 1e-3  # the offset is not the source's
    assert abs(model.intercept_[0] - case.offset) > 1e-3


def test_dear_common_rows_have_the_scores_of_the_source():
    case = problem("rbf", 6)
    model = TransferGroupProbabilitySVM(source=case.source, C_common=1e9, **case.settings())
    model.fit(case.X, case.y, case.groups)
    rows = case.X[case.groups == -1]
    np.testing.assert_allclose(
        model.decision_function(rows), case.source.decision_function(rows), atol=1e-5
    )


@pytest.mark.parametrize("kind", BOTH)
def test_several_classes(kind):
    X, labels, groups, y = shares_of(240, 6, n_classes=3)
    assert y.shape == (240, 3)
    names = ["low", "middle", "high"]
    model = kind(classes=names).fit(X, y, groups)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_, names)
    np.testing.assert_array_equal(
        model.predict(X), np.array(names)[model.decision_function(X).argmax(axis=1)]
    )
    assert np.mean(model.predict(X) == np.array(names)[labels]) > 0.7
    # Every class against the rest is the model of two classes.
    for column in range(3):
        alone = kind().fit(X, y[:, column], groups)
        np.testing.assert_allclose(
            model.decision_function(X)[:, column], alone.decision_function(X), atol=1e-8
        )
    assert model.dual_coef_.shape == (3, model.support_.size)
    assert model.intercept_.shape == (3,)
    assert model.score(X, y, groups) == pytest.approx(
        1 - group_error(y, model.predict(X), groups, classes=names)
    )


@pytest.mark.parametrize("kind", BOTH)
def test_two_columns_are_one(kind):
    X, _, groups, y = shares_of()
    one = kind().fit(X, y, groups)
    two = kind(classes=["no", "yes"]).fit(X, np.column_stack([1 - y, y]), groups)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    np.testing.assert_array_equal(two.predict(X), np.array(["no", "yes"])[one.predict(X)])


@pytest.mark.parametrize("kind", BOTH)
def test_soft_labels_of_rows(kind):
    X, labels, _, _ = shares_of(60)
    hard = kind().fit(X, labels)
    soft = kind().fit(X, np.column_stack([1 - labels, labels]))
    np.testing.assert_array_equal(hard.decision_function(X), soft.decision_function(X))
    three = kind().fit(X, np.eye(3)[np.arange(60) % 3])
    assert three.predict_proba(X).shape == (60, 3)


@pytest.mark.parametrize("kind", BOTH)
def test_names_of_classes(kind):
    X, labels, groups, y = shares_of(60)
    with pytest.raises(ValueError, match=r"classes must be 2 different names.*got .'a', 'a'."):
        kind(classes=["a", "a"]).fit(X, y, groups)
    with pytest.raises(ValueError, match="classes must be 2 different names"):
        kind(classes=["a", "b", "c"]).fit(X, y, groups)
    with pytest.raises(ValueError, match=r"the labels in y are \[0, 1\]. Leave classes=None"):
        kind(classes=["a", "b"]).fit(X, labels)
    with pytest.raises(ValueError, match="Proportions of groups need `groups`"):
        kind().fit(X, y + np.linspace(0, 0.1, 60))
    soft = np.eye(2)[np.arange(60) % 2]
    soft[2] = np.nan
    with pytest.raises(ValueError, match="proportions of each row, got NaN in row 2"):
        kind().fit(X, soft)


@pytest.mark.parametrize("kind", BOTH)
def test_score(kind):
    X, labels, groups, y = shares_of()
    model = kind().fit(X, y, groups)
    assert model.score(X, labels) == np.mean(model.predict(X) == labels)
    weights = np.linspace(0.1, 2.0, 120)
    assert model.score(X, y, groups, weights) == pytest.approx(
        1 - group_error(y, model.predict(X), groups, sample_weight=weights)
    )
    assert model.score(X, y, groups) > 0.85
    with pytest.raises(ValueError, match="constant in a group"):
        model.score(X, labels, groups)


@pytest.mark.parametrize("kind", BOTH)
def test_landmarks_for_all_rows_are_exact(kind):
    X, _, groups, y = shares_of(90, 5)
    case = {"gamma": 0.5, "tol": 1e-6}
    exact = kind(**case).fit(X, y, groups)
    full = kind(approximation="nystroem", n_components=90, **case).fit(X, y, groups)
    few = kind(approximation="nystroem", n_components=25, random_state=0, **case)
    few.fit(X, y, groups)
    expected = exact.decision_function(X)
    np.testing.assert_allclose(full.decision_function(X), expected, atol=1e-3)
    assert full.objective_ == pytest.approx(exact.objective_, rel=1e-4)
    assert few.support_.size == 25
    assert np.corrcoef(few.decision_function(X), expected)[0, 1] > 0.99
    stored = kind(approximation="nystroem", n_components=25, random_state=0, **case)
    stored.fit(sparse.csr_array(X), y, groups)
    np.testing.assert_allclose(
        stored.decision_function(sparse.csr_array(X)), few.decision_function(X), atol=1e-6
    )


def test_a_low_rank_transfer_has_the_source_too():
    case = problem("rbf", 6)
    settings = {"source": case.source, "transfer": 2.0, **case.settings()}
    exact = TransferGroupProbabilitySVM(**settings).fit(case.X, case.y, case.groups)
    full = TransferGroupProbabilitySVM(approximation="nystroem", n_components=1000, **settings)
    full.fit(case.X, case.y, case.groups)
    np.testing.assert_allclose(
        full.decision_function(case.shown), exact.decision_function(case.shown), atol=1e-6
    )
    assert full.objective_ == pytest.approx(exact.objective_, rel=1e-7)


@pytest.mark.parametrize("kind", BOTH)
def test_linear_rows_wider_than_units(kind):
    # More features than groups: by the kernel matrix; fewer: by the features.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30)) + 100.0
    groups = np.arange(40) // 5
    y = np.repeat([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 0.6, 0.2], 5)
    linear = kind(kernel="linear", tol=1e-8).fit(X, y, groups)
    given = kind(kernel="precomputed", tol=1e-8).fit((X - 100) @ (X - 100).T, y, groups)
    np.testing.assert_allclose(
        linear.decision_function(X), given.decision_function((X - 100) @ (X - 100).T), atol=1e-6
    )
    np.testing.assert_allclose(
        X @ linear.coef_[0] + linear.intercept_, linear.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("kind", BOTH)
def test_a_group_of_weight_zero_is_not_there(kind):
    X, _, groups, y = shares_of(60)
    weights = (groups != 3).astype(float)
    model = kind().fit(X, y, groups, sample_weight=weights)
    some = groups != 3
    alone = kind().fit(X[some], y[some], groups[some])
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_order_of_rows_and_names_of_groups_do_not_matter(kind):
    X, _, groups, y = shares_of()
    order = np.random.default_rng(0).permutation(120)
    one = kind().fit(X, y, groups)
    other = kind().fit(X[order], y[order], [f"group {19 - g}" for g in groups[order]])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-8)
