"""Shares of the columns in a score: against all orders, against hand computation, against moves."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import scarce
from tests.subjects import SUBJECTS

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(60, 4)) @ RANDOM.normal(size=(4, 4))
LABELS = (ROWS[:, 0] * ROWS[:, 1] > 0).astype(int)


def over_all_orders(score, row, baseline):
    """Shapley values by their definition."""
    shares = np.zeros(row.size)
    orders = list(permutations(range(row.size)))
    for order in orders:
        mixed = baseline.copy()
        for column in order:
            before = score(mixed[None, :])[0]
            mixed[column] = row[column]
            shares[column] += (score(mixed[None, :])[0] - before) / len(orders)
    return shares


def nearest_of_all(vectors, wanted, row):
    places = np.flatnonzero(wanted)
    return vectors[places[np.square(vectors[places] - row).sum(axis=1).argmin()]]


class Counted(scarce.SVC):
    asked = 0

    def decision_function(self, X):
        type(self).asked += X.shape[0]
        return super().decision_function(X)


def test_the_baseline_is_the_nearest_of_all_though_few_are_scored(monkeypatch):
    random = np.random.default_rng(3)
    X = random.normal(size=(1500, 3))
    y = X[:, 0] + random.normal(size=1500) > 0
    model = Counted(C=0.01).fit(X, y)
    vectors = model.support_vectors_
    assert len(vectors) > 1000
    decided = model.decision_function(vectors) > 0
    new = np.array([[-2.5, 0.0, 0.0], [0.1, 0.5, 0.0], [-0.1, 0.0, 0.5], [2.0, -1.0, 1.0]])
    found = scarce.explain(model, new)
    for row, score, baseline in zip(new, found.scores, found.baseline, strict=True):
        np.testing.assert_array_equal(
            baseline, nearest_of_all(vectors, decided != (score > 0), row)
        )
    Counted.asked = 0
    scarce.explain(model, new[1:2])
    assert Counted.asked < 100
    monkeypatch.setattr("scarce.inspection._baseline.AT_ONCE", 1)  # as for very many rows
    np.testing.assert_array_equal(scarce.explain(model, new).baseline, found.baseline)


@pytest.mark.parametrize("wanted", [0.5, 1e9])
def test_a_detector_with_far_rows_and_one_that_accepts_nothing(wanted):
    """The nearest accepted one; where none is accepted, the one nearest to being so."""
    X = np.random.default_rng(4).normal(size=(300, 2))
    model = scarce.OneClassSVM(nu=0.9, gamma=0.5).fit(X)
    if wanted > 1.0:
        model.intercept_ = model.intercept_ - wanted
    vectors = model.support_vectors_
    scores = model.decision_function(vectors)
    row = np.array([3.0, 3.0])
    accepted = scores >= 0 if (scores >= 0).any() else scores == scores.max()
    found = scarce.explain(model, row[None])
    np.testing.assert_array_equal(found.baseline[0], nearest_of_all(vectors, accepted, row))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize("machine", [scarce.OneClassSVM, scarce.SVDD, scarce.SVC])
def test_closed_forms_are_means_over_all_orders(kernel, machine):
    model = machine(kernel=kernel).fit(ROWS + 5.0, LABELS)
    new = ROWS[:3] + 4.0
    found = scarce.explain(model, new)
    assert found.exact
    for row, baseline, values in zip(new, found.baseline, found.values, strict=True):
        expected = over_all_orders(model.decision_function, row, baseline)
        np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.scores, model.decision_function(new))
    np.testing.assert_allclose(found.baseline_scores, model.decision_function(found.baseline))


def test_trees_beside_a_kernel_model():
    X = np.r_[ROWS + 1.0, ROWS[::-1] - 1.0, ROWS]
    y = np.repeat([1, 0, 0], len(ROWS))
    model = scarce.PositiveUnlabeledClassifier(n_bags=4, random_state=0).fit(X, y)
    new = ROWS[:3] + 0.5
    found = scarce.explain(model, new)
    assert found.exact
    assert (found.values != 0).any(axis=1).all()
    for row, baseline, values in zip(new, found.baseline, found.values, strict=True):
        expected = over_all_orders(model.decision_function, row, baseline)
        np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(found.baseline_scores, model.decision_function(found.baseline))


def test_other_kernels_are_near_the_mean_over_all_orders():
    model = scarce.OneClassSVM(kernel="poly", coef0=1.0).fit(ROWS)
    new = ROWS[:3] + 2.0
    found = scarce.explain(model, new)
    assert not found.exact
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9 * np.abs(found.scores).max())
    for row, baseline, values in zip(new, found.baseline, found.values, strict=True):
        expected = over_all_orders(model.decision_function, row, baseline)
        np.testing.assert_allclose(values, expected, atol=0.1 * np.abs(expected).sum())


def test_a_linear_model_by_hand():
    model = scarce.SVC(kernel="linear").fit([[-1.0, 3.0], [1.0, 3.0]], [0, 1])  # f(x) = x_0
    found = scarce.explain(model, [[4.0, 7.0]])
    np.testing.assert_allclose(found.baseline, [[-1.0, 3.0]])  # decided otherwise
    np.testing.assert_allclose(found.values, [[5.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose([found.scores, found.baseline_scores], [[4.0], [-1.0]])


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_a_moved_feature_comes_first(load):
    rows, labels = load(return_X_y=True)
    own = rows[labels == 1]
    random = np.random.default_rng(1)
    order = random.permutation(own.shape[0])
    train, fresh = np.array_split(own[order], 2)
    model = make_pipeline(StandardScaler(), scarce.OneClassSVM(gamma="auto", nu=0.1)).fit(train)
    first = []
    for feature in range(rows.shape[1]):
        moved = fresh.copy()
        moved[:, feature] += random.choice([-1, 1], fresh.shape[0]) * 6 * train[:, feature].std()
        names, _ = scarce.explain(model, moved).largest(1)
        first.append(names[:, 0] == f"x{feature}")
        if feature < 2:  # what another method says of the same rows
            both, is_plain = np.r_[fresh, moved], np.repeat([1, 0], len(fresh))
            importance = permutation_importance(
                model, both, is_plain, scoring="roc_auc", n_repeats=3, random_state=0
            )
            assert importance.importances_mean.argmax() == feature
    assert np.mean(first) >= 0.95


def mixed_table(n=80):
    random = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "colour": random.choice(["red", "green", "blue"], n),
            "size": random.normal(50.0, 10.0, n),
            "unused": random.normal(size=n),
            "weight": random.normal(size=n),
        }
    )
    table.loc[::7, "weight"] = np.nan
    return table


def prepared():
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    return make_column_transformer(
        (numbers, ["weight", "size"]),
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["colour"]),
    )


@pytest.mark.parametrize("calibrated", ["no", "around", "inside"])
def test_columns_of_the_table_behind_a_pipeline(calibrated):
    table = mixed_table()
    last = scarce.OneClassSVM(gamma=0.1, nu=0.1)
    if calibrated == "inside":
        last = scarce.CalibratedOneClass(last, cv=3)
    model = make_pipeline(prepared(), last)
    if calibrated == "around":
        model = scarce.CalibratedOneClass(model, cv=3)
    model.fit(table)
    new = table.head(3).assign(size=[50.0, 200.0, 50.0])
    new.loc[2, "colour"] = "mauve"
    found = scarce.explain(model, new)
    assert found.exact
    assert list(found.feature_names) == list(table.columns)
    np.testing.assert_allclose(found.scores, model.decision_function(new))
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)
    np.testing.assert_array_equal(found.values[:, 2], 0.0)
    assert found.largest(1)[0][1] == "size"
    # Against points of the table itself, whose mixtures can be written down.
    against = scarce.explain(model, new, reference=table.iloc[20:21])
    baseline = table.iloc[20].to_numpy(object)

    def score(rows):
        frame = pd.DataFrame(rows, columns=table.columns)
        return model.decision_function(frame.astype(table.dtypes.to_dict()))

    for row, values in zip(new.to_numpy(object), against.values, strict=True):
        np.testing.assert_allclose(values, over_all_orders(score, row, baseline), atol=1e-9)


def test_steps_that_mix_columns():
    model = make_pipeline(StandardScaler(), PCA(2), scarce.OneClassSVM(nu=0.2)).fit(ROWS)
    found = scarce.explain(model, ROWS[:10])
    assert not found.exact
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)
    names = pd.DataFrame(ROWS, columns=list("abcd"))
    named = scarce.explain(clone(model).fit(names), names.iloc[:10])
    assert list(named.feature_names) == list("abcd")
    np.testing.assert_allclose(named.values, found.values, atol=1e-12)


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_estimator_is_explained(subject):
    X, y, *_ = subject.make(40)
    model = subject.new().fit(X, y)
    found = scarce.explain(model, X[:3])
    names = ("decision_function", "score_samples", "predict")
    scores = getattr(model, next(name for name in names if hasattr(model, name)))(X[:3])
    np.testing.assert_allclose(found.scores, scores)
    assert found.values.shape == X[:3].shape
    sums = found.values.reshape(3, -1).sum(axis=1)
    room = 1e-8 * max(1.0, np.abs(scores).max())
    np.testing.assert_allclose(sums, found.scores - found.baseline_scores, atol=room)


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = scarce.SVC().fit(X, y)
    found = scarce.explain(model, X[::40])
    decisions = model.decision_function(X[::40])
    np.testing.assert_array_equal(found.outputs, decisions.argmax(axis=1))
    np.testing.assert_allclose(found.scores, decisions.max(axis=1))
    others = model.decision_function(found.baseline).argmax(axis=1)
    assert (others != found.outputs).all()
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_entries_of_tensors(order):
    random = np.random.default_rng(0)
    rows = 1.0 + random.normal(size=(40, 5))
    model = scarce.OneClassSTM(tensor_shape=(2, 3), order=order).fit(rows)
    found = scarce.explain(model, rows[:4])
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)
    # Without normalisation a score is linear, and an entry's share its slope times the entry.
    linear = clone(model).set_params(normalize=False).fit(rows)
    slopes = linear.decision_function(rows[0] + np.eye(5)) - linear.decision_function(rows[:1])
    shares = scarce.explain(linear, rows[:1]).values
    np.testing.assert_allclose(shares, [slopes * rows[0]], atol=1e-9)
    images = rows[:, :4].reshape(-1, 2, 2)
    found = scarce.explain(scarce.OneClassSTM().fit(images), images[:3], reference=images)
    assert found.values.shape == (3, 2, 2)
    assert found.feature_names[1, 0] == "[1, 0]"
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)


def test_sparse_rows_and_callables():
    from scipy import sparse

    model = scarce.OneClassSVM(gamma=0.2).fit(sparse.csr_array(ROWS))
    dense = scarce.OneClassSVM(gamma=0.2).fit(ROWS)
    np.testing.assert_allclose(
        scarce.explain(model, sparse.csr_array(ROWS[:3])).values,
        scarce.explain(dense, ROWS[:3]).values,
        atol=1e-9,
    )
    called = scarce.OneClassSVM(kernel=lambda A, B: (1.0 + A @ B.T) ** 2).fit(ROWS)
    found = scarce.explain(called, ROWS[:3])
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9 * np.abs(found.scores).max())


def test_columns_are_found_however_they_are_named():
    from scarce.inspection._columns import column_numbers

    names = ["a", "b", "c", "d"]
    for columns, expected in [
        ("b", [1]),
        (["d", "a"], [3, 0]),
        (slice("b", "c"), [1, 2]),
        (slice(None, "b"), [0, 1]),
        (slice(1, None), [1, 2, 3]),
        ([True, False, False, True], [0, 3]),
        ([], []),
        (-1, [3]),
    ]:
        np.testing.assert_array_equal(column_numbers(columns, 4, names), expected)


def test_a_frame_for_a_calibrated_detector_is_explained_without_a_warning():
    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    model = scarce.CalibratedOneClass().fit(frame)
    found = scarce.explain(model, frame[:4].add([0, 0, 9, 0]))
    assert found.feature_names.tolist() == list("abcd")
    lines = repr(found).split("\n")
    assert lines[0] == "Explanation of shape (4, 4), largest values:"
    assert lines[1].startswith("row 0, score ")
    assert ": c -" in lines[1]
    assert lines[4:] == ["..."]


def test_what_cannot_be_explained_is_told():
    model = scarce.OneClassSVM(kernel="precomputed").fit(np.eye(3))
    with pytest.raises(ValueError, match="precomputed"):
        scarce.explain(model, np.eye(3))
    model = scarce.OneClassSVM().fit(ROWS)
    for rows in (ROWS[0], pd.DataFrame(ROWS).iloc[0]):
        with pytest.raises(ValueError, match=r"X must have rows.*got shape \(4,\)"):
            scarce.explain(model, rows)
    with pytest.raises(ValueError, match="reference must have rows"):
        scarce.explain(model, ROWS, reference=ROWS[0])
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        scarce.explain(scarce.OneClassSVM().fit(ROWS), ROWS).largest(0)
