"""`scarce export`: the same decisions from a file of operators."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import scarce
from scarce.cli import main

RANDOM = np.random.default_rng(0)


@pytest.fixture
def table(tmp_path):
    """A table as strangers have them, with a gap and a text column."""
    table = pd.DataFrame(
        {
            "size": RANDOM.normal(50.0, 5.0, 60).round(2),
            "weight": RANDOM.normal(size=60).round(3),
            "colour": RANDOM.choice(["red", "green", "blue"], 60),
        }
    )
    table.loc[::9, "weight"] = np.nan
    table.to_csv(tmp_path / "good.csv", index=False)
    return table


def answers(path, table):
    session = onnxruntime.InferenceSession(path.read_bytes())
    feeds = {
        each.name: table[each.name]
        .to_numpy()[:, None]
        .astype(object if each.type == "tensor(string)" else np.float64)
        for each in session.get_inputs()
    }
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def test_what_fit_writes_is_exported(tmp_path, table, capsys):
    assert main(["fit", str(tmp_path / "good.csv"), "--out", str(tmp_path / "m.skops")]) == 0
    out = tmp_path / "m.onnx"
    command = ["export", str(tmp_path / "m.skops"), "--onnx", str(out), "--dtype", "float64"]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "inputs size, weight, colour" in told
    assert "labels, scores" in told
    model = scarce.load(tmp_path / "m.skops")
    found = answers(out, table)
    scores = model.decision_function(table)
    np.testing.assert_allclose(found["scores"], scores, atol=1e-9 * np.ptp(scores))
    np.testing.assert_array_equal(found["labels"], model.predict(table))
    np.testing.assert_allclose(found["p_values"], model.p_values(table))
    assert main(command) == 2  # it is there already
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0


def test_what_cannot_be_exported_is_told_in_one_line(tmp_path, capsys):
    model = make_pipeline(PolynomialFeatures(), scarce.OneClassSVM()).fit(
        RANDOM.normal(size=(9, 2))
    )
    scarce.save(model, tmp_path / "m.skops")
    assert main(["export", str(tmp_path / "m.skops"), "--onnx", str(tmp_path / "m.onnx")]) == 4
    told = capsys.readouterr().err
    assert "PolynomialFeatures cannot be exported" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "m.onnx").exists()
