"""What a user reads, and how long the short commands take."""

import numpy as np
import pandas as pd
import pytest

import scarce as library
from tests.cli.processes import packages_loaded, scarce
from tests.cli.tables import customers, images


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    customers(60).to_csv(folder / "good.csv", index=False)
    scarce("fit", "good.csv", "--out", "m.skops", cwd=folder)
    np.savez(folder / "images.npz", X=images())
    return folder


def test_one_is_singular(folder):
    table = pd.read_csv(folder / "good.csv")[["age"]]
    pd.concat([table] * 3).to_csv(folder / "one.csv", index=False)
    out, _ = scarce("fit", "one.csv", "--out", "one.skops", cwd=folder)
    assert "learnt from 180 rows and 1 column in" in out


def test_files_that_are_not_there(folder):
    for words in (
        ["fit", "nowhere.csv", "--out", "x.skops"],
        ["score", "nowhere.csv", "good.csv", "--out", "x.csv"],
        ["score", "m.skops", "nowhere.csv", "--out", "x.csv"],
        ["info", "nowhere.csv"],
        ["export", "nowhere.csv", "--onnx", "x.onnx"],
    ):
        _, error = scarce(*words, cwd=folder, code=3)
        assert error == "scarce: error: nowhere.csv: no such file or folder\n"


def test_both_causes_of_a_drift_are_named(folder):
    table = pd.concat([customers(200, seed=3), customers(120, 60.0, seed=4)])
    table.to_csv(folder / "faults.csv", index=False)  # many of the rows are true faults
    _, error = scarce("score", "m.skops", "faults.csv", "--out", "f.csv", cwd=folder)
    found = pd.read_csv(folder / "f.csv")
    rejected = (found["decision"] == "rejected").mean()
    assert "Either the class has changed, or this batch holds many rows that do not" in error
    assert f"({rejected:.0%} are rejected)" in error


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["info", "m.skops"], 0),
        (["info", "good.csv"], 4),
        (["fit", "nowhere.csv", "--out", "x.skops"], 3),
        (["fit", "broken.csv", "--out", "x.skops"], 3),
        (["fit", "good.csv", "--label", "nothing", "--out", "x.skops"], 3),
        (["fit", "good.csv", "--label", "town", "--positive", "Rom", "--out", "x.skops"], 3),
        (["fit", "good.csv", "--group", "town", "--share", "age", "--out", "x.skops"], 3),
        (["score", "m.skops", "broken.csv", "--out", "x.csv"], 3),
        (["score", "m.skops", "less.csv", "--out", "x.csv"], 3),
        (["score", "good.csv", "good.csv", "--out", "x.csv"], 4),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_short_answers_load_little(folder, words, code):
    table = pd.read_csv(folder / "good.csv")
    table.drop(columns="age").to_csv(folder / "less.csv", index=False)
    table.astype({"age": object}).replace({"age": {table["age"][20]: "old"}}).to_csv(
        folder / "broken.csv", index=False
    )
    loaded = packages_loaded(*words, cwd=folder, code=code)
    assert "json" in loaded
    assert not loaded & {"pandas", "sklearn", "scipy", "skops", "matplotlib"}


def test_help_lists_what_there_is(folder):
    out, _ = scarce("--help", cwd=folder)
    assert "reproduce" not in out
    for command in ("demo", "fit", "score", "info", "export"):
        assert f"    {command} " in out


def test_export_comes_with_the_command():
    import tomllib
    from importlib.metadata import requires
    from pathlib import Path

    project = Path(library.__file__).parents[2] / "pyproject.toml"
    if not project.exists():
        pytest.skip(f"installed, not a clone: {requires('scarce')[:1]}")
    extras = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    assert any("onnx" in line for line in extras["cli"])


def test_what_is_proved_of_models_that_are_not_convex(folder):
    out, _ = scarce(
        "fit", "images.npz", "--kind", "tensor", "--set", "tol=0.01", "--out", "t.skops", cwd=folder
    )
    assert "\nthe last convex step is solved to optimality, duality gap " in out
    assert "\nsolved to optimality" not in out
    assert "no solution is better" not in out
    out, _ = scarce("fit", "good.csv", "--out", "c.skops", cwd=folder)
    assert "\nsolved to optimality, duality gap " in out
    out, _ = scarce("info", "c.skops", cwd=folder)
    assert "kkt_violation_" in out


def test_a_commands_model_in_python_takes_columns_by_name(folder):
    table = pd.read_csv(folder / "good.csv")
    model = library.load(folder / "m.skops")
    own = table[["age", "income", "town"]]
    expected = model.decision_function(own)
    for rows in (table, own.assign(more=1), own[["town", "age", "income"]]):
        np.testing.assert_array_equal(model.decision_function(rows), expected)
        np.testing.assert_array_equal(model.predict(rows), model.predict(own))
        np.testing.assert_array_equal(model.p_values(rows), model.p_values(own))
        found = library.explain(model, rows.head(3))
        assert found.feature_names.tolist() == list(own)
        np.testing.assert_array_equal(found.values, library.explain(model, own.head(3)).values)
    with pytest.raises(ValueError, match=r"columns are missing.*town"):
        model.predict(own.drop(columns="town"))
