"""Models for each class, or for each value of a column, without Python."""

import numpy as np
import pandas as pd
import pytest

import scarce as library
from tests.cli.processes import scarce

COLUMNS = ["heat", "load", "noise"]


def readings(pump, n, level, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3)) + level
    return pd.DataFrame(X, columns=COLUMNS).assign(pump=pump)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    parts = [readings("p1", 60, 0.0, 0), readings("p2", 60, 9.0, 1), readings("p3", 5, 0.0, 2)]
    pd.concat(parts, ignore_index=True).to_csv(folder / "rows.csv", index=False)
    new = pd.DataFrame(
        [[0.0, 0.0, 0.0, "p1"], [0.0, 0.0, 0.0, "p2"], [9.0, 9.0, 9.0, "p2"], [4.0] * 3 + ["p1"]],
        columns=[*COLUMNS, "pump"],
    )
    new.to_csv(folder / "new.csv", index=False)
    new.assign(pump=["p1", None, "p2", "p1"]).to_csv(folder / "gaps.csv", index=False)
    new.drop(columns="pump").to_csv(folder / "nameless.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def per_pump(folder):
    out, _ = scarce("fit", "rows.csv", "--per", "pump", "--out", "pumps.skops", cwd=folder)
    return out


def test_a_model_for_each_value(folder, per_pump):
    assert per_pump.startswith("OneClassSVM, calibrated by held-out rows, 3 models, because ")
    assert "2 groups with a model of their own, 1 with fewer than 20 rows share" in per_pump
    assert "about 10% of new rows of a group will be rejected\n" in per_pump
    scarce("score", "pumps.skops", "new.csv", "--out", "list.csv", "--order", "file", cwd=folder)
    found = pd.read_csv(folder / "list.csv")
    assert found["decision"].tolist() == ["accepted", "rejected", "accepted", "rejected"]
    assert found["group"].tolist() == ["p1", "p2", "p2", "p1"]
    model, new = library.load(folder / "pumps.skops"), pd.read_csv(folder / "new.csv")
    wanted = model.p_values(new[COLUMNS], groups=new["pump"])
    np.testing.assert_allclose(found["p_value"], wanted, rtol=1e-3)
    scarce("score", "pumps.skops", "new.csv", "--out", "ranked.csv", cwd=folder)
    ranked = pd.read_csv(folder / "ranked.csv")["p_value"]
    assert ranked.tolist() == sorted(ranked)
    new.assign(pump=["p1", "p8", "p9", "p8"]).to_csv(folder / "unseen.csv", index=False)
    out, _ = scarce("score", "pumps.skops", "unseen.csv", "--out", "unseen-list.csv", cwd=folder)
    assert "groups that the fit did not see, judged by the model of all: 'p8' 2, 'p9' 1\n" in out


@pytest.mark.usefixtures("per_pump")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["score", "pumps.skops", "gaps.csv"], 3, "column 'pump': missing; --per needs a value"),
        (["score", "pumps.skops", "nameless.csv"], 3, "pump"),
        (["score", "pumps.skops", "new.csv", "--explain", "2"], 2, "not for models of groups"),
        (["fit", "rows.csv", "--per", "pump", "--tune"], 2, "--per is for one-class models"),
        (["fit", "rows.csv", "--per", "nobody"], 3, "nobody"),
        (["fit", "gaps.csv", "--per", "pump"], 3, "column 'pump': missing; --per needs a value"),
    ],
)
def test_what_is_refused(folder, words, code, message):
    out = "out.csv" if words[0] == "score" else "out.skops"
    _, error = scarce(*words, "--out", out, cwd=folder, code=code)
    assert message in error
    assert not (folder / out).exists()


def test_known_classes_or_none_of_them(folder):
    known = pd.concat([readings("p1", 60, 0.0, 0), readings("p2", 60, 9.0, 1)])
    known.to_csv(folder / "known.csv", index=False)
    words = ["fit", "known.csv", "--label", "pump", "--kind", "open-set", "--false-alarms", "0.1"]
    out, _ = scarce(*words, "--out", "open.skops", cwd=folder)
    assert out.startswith("OpenSetClassifier, because column 'pump' has 2 classes\n")
    assert "about 10% of new rows of a known class, or less, will be called unknown\n" in out
    new = pd.DataFrame([[0.0] * 3, [9.0] * 3, [-9.0] * 3], columns=COLUMNS)
    new.to_csv(folder / "three.csv", index=False)
    scarce("score", "open.skops", "three.csv", "--out", "open.csv", "--order", "file", cwd=folder)
    assert pd.read_csv(folder / "open.csv")["decision"].tolist() == ["p1", "p2", "unknown"]
    scarce("score", "open.skops", "three.csv", "--out", "first.csv", cwd=folder)
    assert pd.read_csv(folder / "first.csv")["decision"][0] == "unknown"
    pd.concat([known, readings("p9", 1, 20.0, 3)]).to_csv(folder / "lonely.csv", index=False)
    words = ["fit", "lonely.csv", "--label", "pump", "--kind", "open-set", "--out", "l.skops"]
    _, error = scarce(*words, cwd=folder, code=5)
    assert "class 'p9' has one row; a class needs two" in error
