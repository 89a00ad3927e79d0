"""`scarce info`: what a model file holds, and one line when it holds none."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import scarce
from scarce.cli import main


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.skops"
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["age", "debt"])
    model = scarce.OneClassSVM(nu=0.2, offset="left_out")
    scarce.save(make_pipeline(MinMaxScaler(), model).fit(table), path)
    return path


def test_everything_is_there_for_programs(path, capsys):
    assert main(["info", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    model = scarce.load(path)[-1]
    assert found["estimator"] == "OneClassSVM"
    assert found["steps before it"] == ["MinMaxScaler"]
    assert found["learnt from"] == {
        "rows": 60,
        "columns": ["age", "debt"],
        "support vectors": len(model.support_),
    }
    assert found["parameters"]["nu"] == 0.2
    assert found["certificate"]["kkt_violation_"] == model.kkt_violation_
    assert found["calibration"]["false_alarm_range_"] == list(model.false_alarm_range_)
    assert found["libraries"]["scarce"] == scarce.__version__
    assert found["types of scarce in it"] == ["scarce.OneClassSVM"]


def test_people_get_lines(path, capsys):
    assert main(["info", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "estimator: OneClassSVM\n" in printed
    assert "  nu: 0.2\n" in printed


def test_numbers_that_json_has_no_word_for(tmp_path, capsys):
    path = tmp_path / "model.skops"
    K = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 3.0], [0.0, 3.0, 0.0]])
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        model = scarce.OneClassSVM(kernel="precomputed", nu=2 / 3).fit(K)
    scarce.save(model, path)
    assert main(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"]["dual_gap_"] == "nan"


def test_errors_are_one_line_and_a_code(tmp_path, capsys):
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n")
    for path, code in ((table, 4), (tmp_path / "nowhere.skops", 3), (tmp_path, 3)):
        assert main(["info", str(path)]) == code
        printed = capsys.readouterr().err
        assert printed.startswith("scarce: error: ")
        assert printed.count("\n") == 1
        assert str(path) in printed


def test_columns_that_nobody_scaled(tmp_path, capsys):
    random = np.random.default_rng(0)
    rows = random.normal(9.0, size=(40, 2)) * [1.0, 5000.0]
    table = tmp_path / "rows.csv"
    pd.DataFrame(rows, columns=["x0", "x1"]).to_csv(table, index=False)
    for name, model in {
        "wide": scarce.OneClassSVM(nu=0.2),
        "linear": scarce.OneClassSVM(nu=0.2, kernel="linear"),
        "scaled": make_pipeline(StandardScaler(), scarce.OneClassSVM(nu=0.2)),
    }.items():
        path = tmp_path / f"{name}.skops"
        scarce.save(model.fit(rows), path)
        assert (
            main(["score", str(path), str(table), "--out", str(tmp_path / "s.csv"), "--force"]) == 0
        )
        warned = "differ in spread by a factor of" in capsys.readouterr().err
        assert warned == (name == "wide")
        assert main(["info", str(path), "--json"]) == 0
        assert ("warning" in json.loads(capsys.readouterr().out)) == warned
