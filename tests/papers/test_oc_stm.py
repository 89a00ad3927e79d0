"""The cells of the tensor machine's paper: choices without test labels, the printed figures."""

from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.svm import OneClassSVM

from papers import oc_stm
from papers.data import few_samples_split, load_few_samples_task
from scarce import OneClassSTM
from tests.papers.cells import by_kind, chosen, short_run, table_of, untimed

# The papers' tasks have fewer samples than a rate of one in ten needs, and say so.
pytestmark = pytest.mark.filterwarnings("ignore:rejection=:scarce.ScarceDataWarning")

OURS = " + offset from left-out rows"
PRINTED = {
    *product(("STM", "SVM"), ("selected", "best of grid")),
    *product((f"STM{OURS}", f"SVM{OURS}"), ("selected",)),
}
KINDS = {
    *PRINTED,
    *product(("STM, by columns",), ("selected", "best of grid")),
    ("scarce, untuned", "fixed"),
}
COLLECTION, ACCEPTANCE, FACES = (
    table_of(oc_stm.PAPER, key) for key in ("collection", "acceptance", "faces")
)


@lru_cache
def iris(seed, size=4):
    """Return a cell that several tests look at."""
    methods = oc_stm.METHODS if size == 2 else oc_stm.METHODS[:4]
    return oc_stm.few_samples(seed=seed, task="Iris", size=size, data="iris", methods=methods)


@pytest.mark.parametrize("size", [2, 4])
def test_all_methods_and_protocols(size):
    found = by_kind(iris(0, size))
    assert found.keys() == (KINDS if size == 2 else PRINTED)
    for outcome in found.values():
        assert list(outcome.values) == ["accuracy", "auc"]
        assert all(0 <= value <= 100 for value in outcome.values.values())
        assert outcome.parameters.keys() == (set() if "untuned" in outcome.method else {"nu"})
        assert outcome.seconds > 0
    for method in ("STM", "SVM"):
        best, selected = found[method, "best of grid"], found[method, "selected"]
        assert best.values["accuracy"] >= selected.values["accuracy"]


def test_same_seed_same_outcome():
    np.random.seed(0)  # noqa: NPY002 (what nobody may depend on)
    first = untimed(iris(1, 2))
    np.random.seed(1)  # noqa: NPY002
    assert untimed(iris.__wrapped__(1, 2)) == first
    assert untimed(iris(0, 2)) != first


@pytest.mark.parametrize(("seed", "size"), [(0, 4), (1, 4), (0, 6)])
def test_selected_by_acceptance_of_rows_left_out(seed, size):
    """The vector machine's choice and its figures, by scikit-learn alone."""
    X, is_target = load_few_samples_task("Iris")
    split = few_samples_split(is_target, size, random_state=seed)
    train, test = X[split.train], X[split.test]
    acceptance = []
    for nu in oc_stm.NUS:
        peer = OneClassSVM(kernel="linear", nu=nu, tol=1e-10)
        acceptance.append((cross_val_predict(peer, train, cv=LeaveOneOut()) == 1).sum())
    nu = oc_stm.NUS[int(np.argmax(acceptance))]
    selected = by_kind(iris(seed, size))["SVM", "selected"]
    assert selected.parameters == {"nu": nu}
    peer = OneClassSVM(kernel="linear", nu=nu, tol=1e-10).fit(train)
    scores = peer.decision_function(test)
    assert selected.values["auc"] == pytest.approx(100 * roc_auc_score(split.is_target, scores))
    right = (scores >= 0) == split.is_target
    assert selected.values["accuracy"] == pytest.approx(100 * right.mean())


def test_selected_does_not_see_the_truth(monkeypatch):
    """With the truth of tested rows turned over, everything chosen stays, all figures change."""
    splits = []

    def turned_over(*args, **options):
        splits.append(few_samples_split(*args, **options))
        return replace(splits[-1], is_target=~splits[-1].is_target)

    cells = [iris(seed) for seed in range(2)]
    monkeypatch.setattr(oc_stm, "few_samples_split", turned_over)
    moved = set()
    for seed, honest in enumerate(cells):
        false = iris.__wrapped__(seed)
        assert chosen(false, "selected") == chosen(honest, "selected")
        for one, other in zip(honest, false, strict=True):
            if one.protocol == "selected":
                total = one.values["accuracy"] + other.values["accuracy"]
                assert total == pytest.approx(100.0)
        best = chosen(honest, "best of grid"), chosen(false, "best of grid")
        moved |= {method for method in ("STM", "SVM") if best[0][method] != best[1][method]}
    assert moved == {"STM", "SVM"}  # so the truth was what this test took it for
    assert len(splits) == 2  # all methods of a cell have one split


@pytest.mark.parametrize(
    ("rows", "values"),
    [(1, (1,)), (2, (1, 6, 7, 8, 9)), (5, (1, 3, 4, 5, 6, 7, 8, 9)), (3, (1, 4, 5, 6, 7, 8, 9))],
)
def test_values_of_nu_that_differ(rows, values):
    assert oc_stm._different(rows) == [value / 10 for value in values]


def test_faces_of_one_person(monkeypatch):
    random = np.random.default_rng(0)
    person = np.repeat(np.arange(5), 6)
    means = random.normal(3.0, 1.0, size=(5, 3, 3))
    images = means[person] + 0.3 * random.normal(size=(30, 3, 3))
    monkeypatch.setattr(oc_stm, "_images", lambda data: (images, person))
    targets = set()

    def noted(is_target, *args, **options):
        (number,) = np.unique(person[is_target])
        targets.add(int(number))
        assert is_target.sum() == 6
        return few_samples_split(is_target, *args, **options)

    monkeypatch.setattr(oc_stm, "few_samples_split", noted)
    for seed in range(3):
        found = oc_stm.faces(seed=seed, size=2, data="orl", methods=("STM", "SVM"))
        assert {outcome.method for outcome in found} == {"STM", "SVM"}
    assert len(targets) > 1
    again = oc_stm.faces(seed=2, size=2, data="orl", methods=("STM", "SVM"))
    assert untimed(again) == untimed(found)


def test_real_faces(scarce_data):
    assert by_kind(oc_stm.faces(seed=0, size=2, data="yale")).keys() == KINDS
    images, _ = oc_stm._images("yale")
    assert (images.min(), images.max()) == (-1.0, 1.0)


def test_acceptance_of_all_data_sets(scarce_data):
    found = by_kind(oc_stm.acceptance(seed=0, nu=0.5))
    assert found.keys() == {(name, "fixed") for name in ("STM", "SVM", "STM, by columns")}
    for outcome in found.values():
        assert outcome.values.keys() == ACCEPTANCE.metrics.keys()
        assert len(outcome.values) == 8  # each set in one reading
    X, is_target = load_few_samples_task("Sonar")
    split = few_samples_split(is_target, 8, random_state=0)
    peer = OneClassSVM(kernel="linear", nu=0.5, tol=1e-10).fit(X[split.train])
    rate = (peer.decision_function(X[split.test][split.is_target]) >= 0).mean()
    assert found["SVM", "fixed"].values["Sonar"] == pytest.approx(100 * rate)


@pytest.mark.parametrize(
    ("setting", "method", "metric", "value"),
    [
        ("Iris, 2 rows", "STM", "accuracy", 84.00),
        ("Sonar, 4 rows", "SVM", "accuracy", 62.14),
        ("Cancer-Wpbc, 6 rows", "STM", "accuracy", 59.36),
        ("Imports, 6 rows", "STM", "auc", 75.44),
        ("Heart, 4 rows", "SVM", "auc", 79.02),
        ("Arrhythmia, 8 rows", "SVM", "auc", 73.80),
    ],
)
def test_printed_figures(setting, method, metric, value):
    assert COLLECTION.printed[setting, method, metric] == value


def test_every_figure_of_the_paper_is_there():
    assert len(COLLECTION.settings) == (8 + 1) * 4  # Imports in two readings
    machines = ("STM", "SVM", "STM, by columns")
    assert COLLECTION.printed.keys() == set(
        product(COLLECTION.settings, machines, ("accuracy", "auc"))
    )
    assert len(ACCEPTANCE.printed) == 3 * 2  # by rows and by columns
    assert COLLECTION.repetitions == ACCEPTANCE.repetitions == 50
    assert list(ACCEPTANCE.settings) == [f"ν = 0.{step}" for step in range(1, 10)]
    assert not FACES.printed


def test_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(oc_stm, "NUS", (0.1, 0.5))
    result = short_run(tmp_path, COLLECTION, ("Iris, 2 rows", "Iris, 4 rows"))
    accuracy, auc, times = result.figures
    assert len({figure.key for figure in result.figures}) == 3
    assert [series.name for series in times.series] == list(COLLECTION.methods)
    assert all(min(series.y) > 0 for series in times.series)  # the axis is logarithmic
    printed = {series.name: series.y for series in accuracy.series if series.printed}
    assert printed == {
        "STM": (84.00, 89.47),
        "SVM": (83.64, 89.22),
        "STM, by columns": (84.00, 89.47),
    }
    assert all(series.x == (2.0, 4.0) for series in (*accuracy.series, *auc.series))


def test_by_columns_is_the_transposed_matrix():
    shape = (3, 2)
    X = np.random.default_rng(0).normal(1.0, 1.0, size=(6, 6))
    turned = X.reshape(6, *shape[::-1]).transpose(0, 2, 1).reshape(6, -1)  # to be read by rows
    filled = oc_stm._machine("STM, by columns", shape).fit(X)
    rows = oc_stm._machine("STM", shape).fit(turned)
    np.testing.assert_allclose(filled.decision_function(X), rows.decision_function(turned))


def test_order_is_one_nu_of_the_table():
    methods = ("STM", "SVM", "STM, by columns")
    found = by_kind(oc_stm.order(seed=0, task="Iris", data="iris", methods=methods))
    assert found.keys() == {(method, "fixed") for method in methods}
    X, is_target = load_few_samples_task("Iris")
    split = few_samples_split(is_target, 8, random_state=0)
    theirs = OneClassSVM(kernel="linear", nu=0.1, tol=1e-8).fit(X[split.train])
    accuracy = 100.0 * np.mean((theirs.predict(X[split.test]) == 1) == split.is_target)
    assert found["SVM", "fixed"].values["accuracy"] == pytest.approx(accuracy, abs=1.0)
    assert "Imports, 8 rows" in table_of(oc_stm.PAPER, "order").settings


@pytest.mark.parametrize("name", ["by rows", "by columns", "random order 3"])
def test_orders_of_imports_are_those_of_their_names(name):
    table = table_of(oc_stm.PAPER, "order-random")
    (found,) = oc_stm.shuffled(seed=0, **table.settings[name])
    X, is_target = load_few_samples_task("Imports")
    order = np.arange(25)
    if name == "by columns":
        order = order.reshape(5, 5).T.ravel()
    elif name != "by rows":
        order = np.random.default_rng([3]).permutation(25)
    split = few_samples_split(is_target, 8, random_state=0)
    model = OneClassSTM(
        tensor_shape=(5, 5), nu=0.1, rank=1, normalize=False, offset="training", random_state=0
    ).fit(X[split.train][:, order])
    accuracy = 100.0 * np.mean((model.predict(X[split.test][:, order]) == 1) == split.is_target)
    assert found.values["accuracy"] == pytest.approx(accuracy)


def test_two_equal_rows_have_the_offset_of_training():
    # Nothing can be held out, and the library says so; the table goes on.
    X = np.vstack([np.ones((2, 4)), np.random.default_rng(0).normal(size=(20, 4))])
    split = replace(
        few_samples_split(np.arange(22) < 12, 2, random_state=0),
        train=np.array([0, 1]),
        test=np.arange(2, 22),
        is_target=np.arange(2, 22) < 12,
    )
    outcomes = oc_stm._machines(X, split, (2, 2), ("scarce, untuned",))
    assert [o.method for o in outcomes] == ["scarce, untuned"]
    assert 0 <= outcomes[0].values["accuracy"] <= 100
