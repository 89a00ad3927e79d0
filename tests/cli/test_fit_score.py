"""From a table to a model and to scores: the commands answer what Python answers."""

import io
import json
import re
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import scarce
from scarce import OneClassSVM
from scarce._model_files import read_card
from scarce.cli import main
from scarce.io import Column, ColumnPlan, open_table
from tests.cli.internals import ScoreCounts
from tests.cli.tables import customers, districts, images


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of every kind, and a model of each."""
    folder = tmp_path_factory.mktemp("tables")
    customers(40).to_csv(folder / "good.csv", index=False)
    many = [customers(60, seed=1), customers(140, 25.0, seed=2)]
    pd.concat(many).to_csv(folder / "unknown.csv", index=False, sep=";", decimal=",")
    customers(80, 4.0, seed=3).to_parquet(folder / "related.parquet")
    districts().to_csv(folder / "rows.csv", index=False)
    np.savez(folder / "images.npz", X=images(), name=[f"i{n}" for n in range(10)])
    for kind, options in FITS.items():
        with redirect_stdout(io.StringIO()) as printed:
            fit(folder, *options, "--out", f"{kind}.skops", "--kind", kind)
        (folder / f"{kind}.txt").write_text(printed.getvalue())
    return folder


FITS = {
    "one-class": ["good.csv", "--id", "customer"],
    "transfer": ["good.csv", "--source", "related.parquet"],
    "pu": ["good.csv", "--unlabelled", "unknown.csv", "--set", "n_bags=6"],
    "groups": ["rows.csv", "--group", "district", "--share", "share"],
    "tensor": ["images.npz", "--id", "name", "--set", "tol=0.01"],
}
USES = {"age": "number", "income": "number", "town": "category"}
SCORED = {
    "one-class": "unknown.csv",
    "transfer": "unknown.csv",
    "pu": "unknown.csv",
    "groups": "rows.csv",
    "tensor": "images.npz",
}


def fit(folder, *options):
    assert run(folder, "fit", *options) == 0


def run(folder, *options):
    files = [folder / option if _is_file(option) else option for option in options]
    return main(list(map(str, files)))


def _is_file(option):
    return option.endswith((".csv", ".skops", ".npz", ".parquet", ".feather", ".toml", ".html"))


def rows_of(folder, kind):
    if kind == "tensor":
        return np.load(folder / "images.npz")["X"]
    plan = ColumnPlan.from_dicts(read_card(folder / f"{kind}.skops")["fit"]["columns"])
    return plan.frame(open_table(folder / SCORED[kind]).read())


@pytest.mark.parametrize("kind", FITS)
def test_the_command_answers_as_python_does(folder, kind, capsys):
    command = ["score", f"{kind}.skops", SCORED[kind], "--out", f"{kind}.csv"]
    assert run(folder, *command, "--order", "file", "--raw") == 0
    found = pd.read_csv(folder / f"{kind}.csv")
    model = scarce.load(folder / f"{kind}.skops")
    X = rows_of(folder, kind)
    words = {1: "accepted", -1: "rejected", "positive": "positive", "unlabelled": "not positive"}
    words = {1: "positive", 0: "negative"} if kind == "groups" else words
    assert found["decision"].tolist() == [words[each] for each in model.predict(X)]
    sign = -1 if kind == "pu" else 1  # "positive" sorts before "unlabelled"
    # Near the threshold a score is a small difference of larger numbers.
    expected = sign * model.decision_function(X)
    np.testing.assert_allclose(found["score"], expected, rtol=1e-12, atol=1e-15)
    if kind in ("one-class", "transfer", "tensor"):
        np.testing.assert_allclose(found["p_value"], model.p_values(X), rtol=1e-12)
        if kind != "tensor":
            np.testing.assert_allclose(found["distance_ratio"], model.distance_ratio(X), rtol=1e-7)
    elif kind in ("groups", "pu"):  # of the positive class
        column = 0 if kind == "pu" else 1
        np.testing.assert_allclose(found["probability"], model.predict_proba(X)[:, column])
    else:
        assert list(found) == ["row", "score", "decision"]
    ids = {"one-class": "customer", "tensor": "name"}.get(kind, "row")
    assert next(iter(found)) == ids
    if kind == "transfer":
        assert found["row"].tolist() == list(range(2, 202))  # the header is row 1


def test_score_decision_and_probability_are_one_evaluation(folder, monkeypatch, capsys):
    asked = []
    kind = scarce.PositiveUnlabeledClassifier
    plain = kind.decision_function
    monkeypatch.setattr(
        kind, "decision_function", lambda self, X: asked.append(len(X)) or plain(self, X)
    )
    assert run(folder, "score", "pu.skops", SCORED["pu"], "--out", "once.csv") == 0
    assert sum(asked) == 200


@pytest.mark.parametrize("kind", FITS)
def test_an_exported_model_decides_the_same(folder, kind, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    out = tmp_path / "m.onnx"
    command = ["export", str(folder / f"{kind}.skops"), "--onnx", str(out), "--dtype", "float64"]
    assert main(command) == 0
    session, X = runtime.InferenceSession(out.read_bytes()), rows_of(folder, kind)
    names = [each.name for each in session.get_inputs()]
    if len(names) > 1:
        texts = X.fillna({"town": ""})
        feeds = {name: texts[name].to_numpy()[:, None] for name in names}
    else:
        feeds = {names[0]: np.asarray(X, dtype=np.float64)}
    (labels,) = session.run(["labels"], feeds)
    expected = scarce.load(folder / f"{kind}.skops").predict(X)
    assert labels.astype(str).tolist() == expected.astype(str).tolist()


@pytest.mark.parametrize(
    ("kind", "estimator", "reason"),
    [
        (
            "one-class",
            "OneClassSVM, calibrated by held-out rows",
            "all rows of good.csv belong to one class",
        ),
        ("transfer", "TransferOneClassSVM, calibrated", "good.csv is the target and related"),
        ("pu", "PositiveUnlabeledClassifier", "good.csv holds rows of the class and unknown.csv"),
        ("groups", "GroupProbabilitySVM", "12 groups in column 'district'"),
        ("tensor", "OneClassSTM", "images.npz holds 10 samples of 3 x 4"),
    ],
)
def test_the_first_line_says_what_and_why(folder, kind, estimator, reason, capsys):
    first = (folder / f"{kind}.txt").read_text().splitlines()[0]
    assert first.startswith(estimator)
    assert f"because {reason}" in first
    assert main(["info", str(folder / f"{kind}.skops"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == kind
    assert found["chosen because"] in first


def test_every_column_is_accounted_for(folder, capsys):
    printed = (folder / "transfer.txt").read_text()
    lines = {line.split()[0]: line for line in printed.splitlines() if line}
    assert "looks like an identifier" in lines["customer"]
    assert "missing values filled with the median and flagged" in lines["income"]
    assert "3 values" in lines["town"]
    assert "of new rows of the class will be rejected" in printed
    assert main(["info", str(folder / "transfer.skops")]) == 0
    printed = capsys.readouterr().out
    assert "CalibratedOneClass" in printed
    assert "rows: 120" in printed
    assert "  income: number; " in printed


def test_the_promise_holds_for_the_whole_pipeline(folder):
    model = scarce.load(folder / "one-class.skops")
    assert isinstance(model, scarce.CalibratedOneClass)
    plan = ColumnPlan.from_dicts(read_card(folder / "one-class.skops")["fit"]["columns"])
    customers(2000, seed=9).to_csv(folder / "fresh.csv", index=False)
    X = plan.frame(open_table(folder / "fresh.csv").read())
    low, high = model.false_alarm_range_
    assert low <= np.mean(model.predict(X) == -1) <= high


def test_columns_are_matched_by_name(folder, capsys):
    table = customers(30, seed=4)
    table.to_csv(folder / "plain.csv", index=False)
    table[["town", "income", "customer", "age"]].assign(more=1).to_parquet(folder / "moved.parquet")
    for name in ("plain.csv", "moved.parquet"):
        assert run(folder, "score", "one-class.skops", name, "--out", "s.parquet", "--force") == 0
        found = pd.read_parquet(folder / "s.parquet")
        if name == "plain.csv":
            first = found
    pd.testing.assert_frame_equal(found, first)
    assert "ignored: more" in capsys.readouterr().out
    table.drop(columns=["age", "town"]).to_csv(folder / "less.csv", index=False)
    assert run(folder, "score", "one-class.skops", "less.csv", "--out", "x.csv") == 3
    assert "less.csv has no columns 'age', 'town'" in capsys.readouterr().err
    assert not (folder / "x.csv").exists()


def test_new_values_and_gaps_are_counted(folder, capsys):
    table = customers(20, seed=4).assign(town=["Rom"] * 5 + ["Bonn"] * 15, age=np.nan)
    table.to_csv(folder / "new.csv", index=False)
    assert run(folder, "score", "one-class.skops", "new.csv", "--out", "new-s.csv") == 0
    printed = capsys.readouterr().out
    assert "column 'town', unknown to the model: 'Rom' 5" in printed
    assert "age 20" in printed


@pytest.mark.parametrize(("option", "ascending"), [("--top", False), ("--bottom", True)])
def test_the_ends_of_the_list(folder, option, ascending, monkeypatch):
    monkeypatch.setattr("scarce.io._tables.BLOCK", 1000)  # several batches
    command = ["score", "pu.skops", "unknown.csv", "--raw", "--force", "--out"]
    run(folder, *command, "all.csv", "--order", "file")
    run(folder, *command, "ends.csv", option, "7")
    whole, ends = pd.read_csv(folder / "all.csv"), pd.read_csv(folder / "ends.csv")
    assert len(whole) == 200
    expected = whole.sort_values("score", ascending=ascending, kind="stable").head(7)
    assert ends.pop("rank").tolist() == list(range(1, 8))
    pd.testing.assert_frame_equal(ends, expected.reset_index(drop=True))
    if option == "--top":
        assert set(ends["decision"]) == {"positive"}


def test_reasons(folder):
    table = customers(30, seed=4)
    table.loc[3, "age"] = 400.0
    table.to_csv(folder / "odd.csv", index=False)
    command = ["score", "one-class.skops", "odd.csv", "--out", "odd-s.csv", "--explain", "2"]
    assert run(folder, *command) == 0
    found = pd.read_csv(folder / "odd-s.csv").set_index("customer")
    assert re.fullmatch(r"age 400 \(-\S+\)", found["reason_1"]["c4-3"])
    assert {text.split()[0] for text in found["reason_2"].dropna()} <= {"age", "income", "town"}


def test_drift(folder, capsys):
    for seed in range(5):
        customers(50, seed=20 + seed).to_csv(folder / "same.csv", index=False)
        command = ["score", "one-class.skops", "same.csv", "--out", "d.csv", "--force"]
        assert run(folder, *command, "--fail-on-drift") == 0
    customers(200, 25.0, seed=30).to_csv(folder / "other.csv", index=False)
    command[2] = "other.csv"
    capsys.readouterr()
    assert run(folder, *command) == 0
    assert "warning: drift" in capsys.readouterr().err
    assert run(folder, *command, "--fail-on-drift") == 6
    assert (folder / "d.csv").exists()  # the scores are written all the same


def test_the_chance_of_a_number_of_low_scores_is_that_of_all_orders():
    """Held-out and new rows in any order: hypergeometric, of a sixth fewer or twice as many."""
    random = np.random.default_rng(0)
    ours, level = random.permutation(81.0 + np.arange(81)), 81.0 + 8
    for below, up_to in ((12, 12), (60, 60), (120, 150), (3, 3), (0, 0), (0, 30)):
        new = np.r_[np.full(below, 0.0), np.full(up_to - below, level), np.full(300 - up_to, 500.0)]
        counts = ScoreCounts(ours)
        counts.add(new[:100], 1)
        counts.add(new[100:], 2)
        more, fewer = int(np.ceil(below / 1.2)), int(np.floor(up_to / 0.5))
        at_least = hypergeom.cdf(8, 81 + 300, 81, more + 8) if more else 1.0
        at_most = hypergeom.sf(8, 81 + 300, 81, min(fewer, 300) + 9)
        assert counts.chance() == pytest.approx(min(2 * min(at_least, at_most), 1.0))


@pytest.mark.parametrize("kernel", ["narrow", "wide"])
@pytest.mark.parametrize("n", [300, 1000])
def test_many_rows_of_the_class_are_not_called_drifted(kernel, n):
    # Of so many rows a small difference would show; with a narrow kernel rows of the fit do.
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 2))
    gamma = "neighbors" if kernel == "narrow" else "scale"
    model = OneClassSVM(nu=0.1, gamma=gamma, false_alarms=0.1).fit(X)
    for rows, found in (
        (random.normal(size=(20_000, 2)), False),
        (random.normal(1.0, size=(20_000, 2)), True),
        (X, kernel == "narrow"),
    ):
        scores = model.score_samples(rows)
        counts = ScoreCounts(model.left_out_scores_)
        counts.add(scores, int(np.sum(scores < model.offset_)))
        assert (counts.drift() is not None) == found
        assert not (rows is X and found) or "the model was fitted to" in counts.drift()


def test_parameters(folder, capsys):
    (folder / "p.toml").write_text('nu = 0.3\nkernel = "laplacian"\n')
    options = ["good.csv", "--params", "p.toml", "--set", "nu=0.2", "--set", "gamma=scale"]
    fit(folder, *options, "--out", "p.skops", "--false-alarms", "0.2")
    model = scarce.load(folder / "p.skops")
    estimator = model.estimator_[-1]
    assert (estimator.nu, estimator.kernel, estimator.gamma) == (0.2, "laplacian", "scale")
    assert model.false_alarms == 0.2


def test_labels_in_one_table(folder, capsys):
    table = pd.concat([customers(40), customers(60, 25.0, seed=2)])
    table["state"] = ["good"] * 20 + ["?"] * 80
    table.to_csv(folder / "one.csv", index=False)
    options = ["one.csv", "--label", "state", "--positive", "good", "--set", "n_bags=4"]
    fit(folder, *options, "--out", "one.skops", "--drop", "customer")
    model = scarce.load(folder / "one.skops")
    assert model[-1].pos_label_ == "good"
    assert set(model.classes_) == {"good", "unlabelled"}


def test_shares_in_a_table_of_their_own_and_a_source(folder, capsys):
    rows = districts(seed=1)
    rows.drop_duplicates("district")[["district", "share"]].to_csv(folder / "sh.csv", index=False)
    rows = rows.drop(columns="share")
    rows.loc[:3, "district"] = None  # common rows
    rows.to_csv(folder / "no-shares.csv", index=False)
    options = ["no-shares.csv", "--group", "district", "--shares", "sh.csv"]
    fit(folder, *options, "--source-model", "groups.skops", "--out", "with-source.skops")
    assert capsys.readouterr().out.startswith("TransferGroupProbabilitySVM, because 12 groups")
    model, source = (scarce.load(folder / f"{name}.skops") for name in ("with-source", "groups"))
    X = rows[["a", "b"]]
    np.testing.assert_array_equal(model[0].transform(X), source[0].transform(X))
    assert model.predict_proba(X).shape == (240, 2)
    assert run(folder, "fit", *options, "--out", "y.skops") == 3  # no group, no source
    assert "row 2, column 'district': no group" in capsys.readouterr().err


def test_domains_and_radii_in_columns(folder):
    table = pd.concat([customers(20), customers(40, 3.0, seed=3)]).assign(err=0.1)
    table["task"] = ["target"] * 20 + ["north"] * 30 + ["south"] * 10
    table.to_csv(folder / "tasks.csv", index=False)
    options = ["tasks.csv", "--domain", "task", "--radius", "err", "--out", "tasks.skops"]
    fit(folder, *options)
    estimator = scarce.load(folder / "tasks.skops").estimator_[-1]
    assert estimator.domains_.tolist() == [-1, 0, 1]
    np.testing.assert_array_equal(estimator.radii_, 0.1)


@pytest.mark.parametrize("kind", ["one-class", "groups", "tensor", "pu"])
def test_tuning(folder, kind, capsys, tmp_path):
    if kind == "one-class":
        customers(80, seed=5).to_csv(folder / "eighty.csv", index=False)
    options = ["eighty.csv"] if kind == "one-class" else FITS[kind]
    fit(folder, *options, "--tune", "--out", str(tmp_path / "t.skops"))
    assert "tuned: " in capsys.readouterr().out


def test_files_that_are_there_stay(folder, capsys):
    (folder / "mine.skops").write_text("mine")
    assert run(folder, "fit", "good.csv", "--out", "mine.skops") == 2
    assert "--force" in capsys.readouterr().err
    assert (folder / "mine.skops").read_text() == "mine"
    (folder / "mine.csv").write_text("mine")
    assert run(folder, "score", "one-class.skops", "good.csv", "--out", "mine.csv") == 2
    assert (folder / "mine.csv").read_text() == "mine"


def test_equal_rows_with_text_are_left_out_together():
    rows = pd.concat([customers(12)] * 2, ignore_index=True).drop(columns="customer")
    plan = ColumnPlan(tuple(Column(name, use) for name, use in USES.items()))
    pipeline = Pipeline([("columns", plan.transformer()), ("machine", scarce.OneClassSVM(nu=0.5))])
    model = scarce.CalibratedOneClass(pipeline, false_alarms=0.2).fit(rows)
    without = clone(pipeline).set_params(machine__gamma=model.estimator_[-1]._gamma)
    without.fit(rows.drop(index=[3, 15]))
    expected = without.score_samples(rows.iloc[[3]])[0] / without[-1].dual_coef_.sum()
    own, margin = (
        machine.offset_[0] / machine.dual_coef_.sum()
        for machine in (without[-1], model.estimator_[-1])
    )
    expected *= 1 + (margin / own - 1) * min(expected / own, 1) ** 2
    np.testing.assert_allclose(model.left_out_scores_[[3, 15]], expected, rtol=1e-9)
