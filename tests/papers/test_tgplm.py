"""The cells of the paper on group probabilities: no target label but through shares."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from sklearn.svm import SVC

from papers import tgplm
from papers.data import group_transfer_split
from scarce.datasets import make_rotated_moons
from tests.papers.cells import by_kind, chosen, short_run, table_of, untimed

METHODS = ("SVM", "TSVM", "LMPROJ", "LWE", "IC-SVM", "TGPLM-CD")
OURS = ("LWE, RBF models", "weighted SVM")
KINDS = {
    *product((*METHODS, *OURS), ("selected", "best of grid")),
    ("scarce, untuned", "fixed"),
}
MOONS, LAMBDA, FACES, UCI = (
    table_of(tgplm.PAPER, key) for key in ("moons", "lambda", "faces", "uci")
)
# 63 rows in ten groups of six: three are left over.
small_moons = partial(make_rotated_moons, n_samples=63, n_groups=10)


def relabelled(**options):
    """Return the same problem with labels exchanged inside groups and turned over outside."""
    problem = small_moons(**options)
    y = np.where(problem.groups < 0, 1 - problem.y_target, problem.y_target)
    random = np.random.default_rng(0)
    for group in range(problem.shares.size):
        members = np.flatnonzero(problem.groups == group)
        y[members] = random.permutation(y[members])
    other = replace(problem, y_target=y)
    np.testing.assert_array_equal(other.shares, problem.shares)
    assert (y != problem.y_target).sum() > 15
    return other


def shorten(patch):
    """Leave a few values of the grid."""
    patch.setattr(tgplm, "WIDTHS", (0.25, 4.0))
    patch.setattr(tgplm, "COSTS", (1.0, 32.0))
    patch.setattr(tgplm, "TRANSFERS", (0.01, 100.0))


def moons_cell(make=small_moons, seed=0):
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        patch.setattr(tgplm, "make_rotated_moons", make)
        return tgplm.moons(seed=seed, angle=40, common=0.1)


@pytest.fixture(scope="module")
def cell():
    return moons_cell()


def test_all_methods_and_protocols(cell):
    found = by_kind(cell)
    assert found.keys() == KINDS
    for method in METHODS:
        best, selected = found[method, "best of grid"], found[method, "selected"]
        assert 100 >= best.values["accuracy"] >= selected.values["accuracy"] >= 0
        assert selected.seconds > 0
    assert found["TGPLM-CD", "selected"].parameters.keys() == {"gamma", "C", "transfer"}


def test_same_seed_same_outcome(cell):
    assert untimed(moons_cell()) == untimed(cell)


def test_selected_does_not_see_the_truth(cell):
    """Only shares of labels may matter: everything chosen stays, though the labels change."""
    other = moons_cell(relabelled)
    assert chosen(other, "selected") == chosen(cell, "selected")
    before, after = by_kind(cell), by_kind(other)
    changed = {kind for kind in KINDS if before[kind].values != after[kind].values}
    assert changed == KINDS
    assert chosen(other, "best of grid") != chosen(cell, "best of grid")


def test_all_methods_have_the_same_problem():
    problems = []

    def counted(**options):
        problems.append(options)
        return small_moons(**options)

    moons_cell(counted, seed=5)
    assert problems == [{"angle": 40, "common": 0.1, "random_state": 5}]


def test_reading_of_the_moons_has_its_noise_and_parameters(monkeypatch):
    asked = []

    def counted(**options):
        asked.append(options)
        return small_moons(**options)

    monkeypatch.setattr(tgplm, "make_rotated_moons", counted)
    found = {o.method: o for o in tgplm.moons_read(seed=2, angle=40, common=0.1)}
    assert asked == [{"angle": 40, "common": 0.1, "noise": 0.15, "random_state": 2}]
    problem = small_moons(**asked[0])
    unit = np.mean(np.sum(problem.X_source**2, axis=1))
    assert found.keys() == {*METHODS, OURS[0]} - {"LWE"}
    for method, outcome in found.items():
        width = 2.0 if method == "TSVM" else 1.0
        assert outcome.parameters["gamma"] == pytest.approx(1.0 / (width * unit))
        assert 40.0 < outcome.values["accuracy"] <= 100.0
    peer = SVC(C=1024.0, gamma=1.0 / unit, tol=1e-8).fit(problem.X_source, problem.y_source)
    accuracy = 100 * np.mean(peer.predict(problem.X_target) == problem.y_target)
    assert found["SVM"].values["accuracy"] == pytest.approx(accuracy)


def test_source_svm_is_chosen_by_its_error_on_groups(cell):
    """The choice and its accuracy, by scikit-learn and a loop over the groups."""
    problem = small_moons(angle=40, common=0.1, random_state=0)
    unit = np.mean(np.sum(problem.X_source**2, axis=1))
    errors = {}
    for width, C in product((0.25, 4.0), (1.0, 32.0)):
        peer = SVC(C=C, gamma=1 / (width * unit), tol=1e-8).fit(problem.X_source, problem.y_source)
        found = peer.predict(problem.X_target)
        differences = [
            abs(found[problem.groups == g].mean() - problem.y_target[problem.groups == g].mean())
            for g in range(10)
        ]
        accuracy = 100 * np.mean(found == problem.y_target)
        errors[1 / (width * unit), C] = np.mean(differences), accuracy
    (gamma, C), (_, accuracy) = min(errors.items(), key=lambda item: item[1][0])
    selected = by_kind(cell)["SVM", "selected"]
    assert selected.parameters == pytest.approx({"gamma": gamma, "C": C})
    assert selected.values["accuracy"] == pytest.approx(accuracy)


class Recorder:
    """A model that learns nothing and notes what it was given."""

    def __init__(self, with_source):
        self.fits, self.asked = [], []
        if with_source:
            self.source = None

    def fit(self, X, y, groups):
        self.fits.append((X, y, groups))
        return self

    def predict(self, X):
        self.asked.append(X)
        return np.ones(len(X), int)


@pytest.mark.parametrize("with_source", [False, True])
def test_groups_that_judge_were_left_out(with_source):
    problem = small_moons(angle=40, common=0.2, random_state=1)
    model = Recorder(with_source)
    criterion, _ = tgplm._by_groups(model, problem)
    # All rows are predicted positive, so that the error of a group is its share of negatives.
    folds = []
    for (X, y, groups), asked in zip(model.fits[:3], model.asked[:3], strict=True):
        judges = {
            int(problem.groups[np.flatnonzero((problem.X_target == row).all(axis=1))[0]])
            for row in asked
        }
        learnt = set(groups[groups >= 0].tolist())
        assert judges | learnt == set(range(10))
        assert not judges & learnt
        assert len(asked) == 6 * len(judges)
        np.testing.assert_array_equal(np.isnan(y), groups == -1)
        assert (groups == -1).sum() == (problem.is_common.sum() if with_source else 0)
        assert len(X) == len(groups)
        folds.append(judges)
    assert sorted(group for fold in folds for group in fold) == list(range(10))
    by_hand = np.mean([np.mean([1 - problem.shares[g] for g in fold]) for fold in folds])
    assert criterion == pytest.approx(-by_hand)
    assert len(model.fits) == 4
    assert set(model.fits[3][2]) - {-1} == set(range(10))  # the model that is tested has them all


def test_effect_of_lambda():
    weak, strong = (by_kind(tgplm.strength(seed=0, transfer=t)) for t in (1e-4, 1e4))
    assert weak.keys() == strong.keys() == {(method, "fixed") for method in LAMBDA.methods}
    for method in ("SVM", "IC-SVM"):
        assert weak[method, "fixed"].values == strong[method, "fixed"].values
    assert weak["TGPLM-CD", "fixed"].values != strong["TGPLM-CD", "fixed"].values


def test_effect_of_lambda_elsewhere_has_its_own_width_and_cost():
    usual, same, other = (
        by_kind(tgplm.strength(seed=0, transfer=1.0, **pair))
        for pair in ({}, {"width": 4.0, "C": 32.0}, {"width": 16.0, "C": 1.0})
    )
    for kind, outcome in usual.items():
        assert same[kind].values == outcome.values
        assert other[kind].parameters["C"] == 1.0
        ratio = outcome.parameters["gamma"] / other[kind].parameters["gamma"]
        assert ratio == pytest.approx(4.0)


def test_rotated_faces(monkeypatch):
    shorten(monkeypatch)
    random = np.random.default_rng(0)
    person = np.arange(48) % 2
    images = random.random((2, 4, 4))[person] + 0.2 * random.normal(size=(48, 4, 4))
    monkeypatch.setattr(tgplm, "_faces", lambda data: (images, person))
    assert by_kind(tgplm.faces(seed=0, angle=10, data="pie")).keys() == KINDS


def test_a_real_data_set(scarce_data, monkeypatch):
    shorten(monkeypatch)
    problems = []

    def noted(*args, **options):
        problems.append(group_transfer_split(*args, **options))
        return problems[-1]

    monkeypatch.setattr(tgplm, "group_transfer_split", noted)
    assert by_kind(tgplm.uci(seed=0, task="Sonar", data="sonar")).keys() == KINDS
    (problem,) = problems
    # 30 % of 208 rows each, 20 % of them common, groups of eight.
    assert len(problem.X_source) == len(problem.X_target) == 62
    assert problem.is_common.sum() == 12
    assert problem.shares.size == 7


@pytest.mark.parametrize(
    ("experiment", "setting", "method", "value"),
    [
        (MOONS, "10 % common, 30°", "SVM", 81.20),
        (MOONS, "20 % common, 20°", "LMPROJ", 94.66),
        (MOONS, "20 % common, 40°", "LWE", 81.10),
        (MOONS, "10 % common, 40°", "TGPLM-CD", 89.95),
        (FACES, "10°", "LMPROJ", 77.63),
        (FACES, "30°", "LWE", 72.87),
        (FACES, "50°", "IC-SVM", 71.96),
        (UCI, "Australia", "LWE", 81.16),
        (UCI, "Heart-c", "LMPROJ", 86.10),
        (UCI, "Sonar", "TGPLM-CD", 88.93),
    ],
)
def test_printed_figures(experiment, setting, method, value):
    assert experiment.printed[setting, method, "accuracy"] == value


@pytest.mark.parametrize(("experiment", "settings"), [(MOONS, 10), (FACES, 3), (UCI, 6)])
def test_every_figure_of_the_paper_is_there(experiment, settings):
    assert experiment.methods[:6] == METHODS
    assert len(experiment.settings) == settings
    columns = (*METHODS, "LWE, RBF models")
    assert experiment.printed.keys() == set(product(experiment.settings, columns, ("accuracy",)))


def test_grid_is_within_the_papers_ranges():
    assert set(tgplm.WIDTHS) <= {2.0**power for power in range(-6, 7)}
    assert {*tgplm.COSTS, tgplm.SOURCE_COST} <= {2.0**power for power in range(-10, 11)}
    assert set(tgplm.TRANSFERS) <= {10.0**power for power in range(-10, 11)}


def test_figures(tmp_path, monkeypatch):
    shorten(monkeypatch)
    monkeypatch.setattr(tgplm, "make_rotated_moons", small_moons)
    settings = tuple(f"10 % common, {angle}°" for angle in (0, 40))
    result = short_run(tmp_path, replace(MOONS, methods=METHODS), settings)
    assert len({figure.key for figure in result.figures}) == len(result.figures)
    curves = {figure.key: figure for figure in result.figures}
    for protocol in ("selected", "best of grid"):
        series = curves[f"moons-10-{protocol}"].series
        assert [line.name for line in series] == list(METHODS)
        assert all(line.x == (0.0, 40.0) for line in series)
    assert all(min(line.y) > 0 for line in curves["moons-time"].series)


def test_figure_of_lambda(tmp_path):
    settings = tuple(LAMBDA.settings)
    (figure,) = short_run(tmp_path, LAMBDA, settings[::5]).figures
    assert [line.name for line in figure.series] == list(LAMBDA.methods)
    assert all(line.x == (1e-4, 10.0, 1e6) for line in figure.series)


def decimals(figures):
    return [f"{figure:.2f}".partition(".")[2] for figure in figures]


@pytest.mark.parametrize("method", ["SVM", "TSVM"])
def test_printed_tables_share_their_decimals(method):
    """So they are not independent measurements, and the captions say so."""
    tables = (
        [table.printed[setting, method, "accuracy"] for setting in list(table.settings)[:3]]
        for table in (FACES, UCI)
    )
    faces, uci = map(decimals, tables)
    assert faces == uci
    for table in (FACES, UCI):
        assert "not independent measurements" in table.caption


def test_the_whole_grid_has_the_papers_ranges():
    problem = small_moons(random_state=0)
    points = tgplm._grid(problem, "paper", C=tgplm.COSTS, transfer=tgplm.TRANSFERS)
    assert len(points) == 13 * 21 * 21
    assert len(tgplm._grid(problem, "paper", C=tgplm.COSTS[:1])) == 13  # one value stays


def test_equal_weights_are_the_plain_svm():
    problem = small_moons(common=0.0, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        patch.setattr(tgplm, "SOURCE_SHARES", (1.0,))
        weighted, plain = (run(problem, "quick")[1] for run in (tgplm._weighted, tgplm._svm))
    assert weighted.values == plain.values
