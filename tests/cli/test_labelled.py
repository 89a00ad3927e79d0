"""Labelled tables without Python: two or several classes, and numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

import scarce as library
from tests.cli.processes import scarce
from tests.cli.tables import customers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled")
    parts = [customers(50, shift, seed).drop(columns="customer") for seed, shift in
             enumerate((0.0, 18.0, -30.0))]  # fmt: skip
    table = pd.concat(parts, ignore_index=True)
    table["kind"] = np.repeat(["x", "y", "z"], 50)
    table.loc[[3, 60], "kind"] = None
    table.to_csv(folder / "three.csv", index=False)
    table[table["kind"] != "z"].to_csv(folder / "two.csv", index=False)
    return folder


@pytest.mark.parametrize("name", ["two", "three"])
def test_classes(folder, name):
    words = ["fit", f"{name}.csv", "--label", "kind", "--kind", "classify"]
    more = ["--out", f"{name}.skops", "--report", f"{name}.html"]
    out, _ = scarce(*words, *more, cwd=folder)
    n_classes = 2 if name == "two" else 3
    assert out.startswith(f"SVC, because column 'kind' has {n_classes} classes\n")
    assert "note: 2 rows without a label are left out\n" in out
    table = pd.read_csv(folder / f"{name}.csv").dropna(subset="kind")
    model, columns = library.load(folder / f"{name}.skops"), ["age", "income", "town"]
    right = 0
    split = StratifiedKFold(5, shuffle=True, random_state=0).split(table, table["kind"])
    for seen, held_out in split:
        other = clone(model).fit(table[columns].iloc[seen], table["kind"].iloc[seen])
        right += (
            other.predict(table[columns].iloc[held_out]) == table["kind"].iloc[held_out]
        ).sum()
    largest = table["kind"].value_counts().iloc[0] / len(table)
    assert (
        f"right for {right / len(table):.0%} of held-out rows; the largest class alone would be "
        f"right for {largest:.0%}\n" in out
    )
    assert "Which class a row belongs to" in (folder / f"{name}.html").read_text()
    command = ["score", f"{name}.skops", "three.csv", "--raw", "--order", "file", "--explain", "1"]
    scarce(*command, "--out", f"{name}-s.csv", cwd=folder)
    found = pd.read_csv(folder / f"{name}-s.csv")
    rows = pd.read_csv(folder / "three.csv")[columns]
    assert found["decision"].tolist() == model.predict(rows).tolist()
    scores = model.decision_function(rows)
    if n_classes == 3:
        best = np.sort(scores, axis=1)
        scores = best[:, -1] - best[:, -2]
    np.testing.assert_allclose(found["score"], scores, rtol=1e-9, atol=1e-12)
    assert found["reason_1"].str.contains("age|income|town").all()


def test_numbers(folder):
    words = ["fit", "three.csv", "--label", "age", "--kind", "regress", "--drop", "kind"]
    out, _ = scarce(*words, "--out", "n.skops", "--report", "n.html", cwd=folder)
    assert out.startswith("SVR, because column 'age' holds numbers from ")
    table = pd.read_csv(folder / "three.csv")
    model, rows = library.load(folder / "n.skops"), table[["income", "town"]]
    error = 0.0
    for seen, held_out in KFold(5, shuffle=True, random_state=0).split(rows):
        other = clone(model).fit(rows.iloc[seen], table["age"].iloc[seen])
        error += np.abs(other.predict(rows.iloc[held_out]) - table["age"].iloc[held_out]).sum()
    plain = (table["age"] - table["age"].median()).abs().mean()
    assert (
        f"off by {error / 150:.3g} on average on held-out rows; the median alone would be off by "
        f"{plain:.3g}\n" in out
    )
    scarce("score", "n.skops", "three.csv", "--raw", "--out", "n.csv", cwd=folder)
    found = pd.read_csv(folder / "n.csv")
    assert list(found) == ["rank", "row", "prediction"]
    assert found["prediction"].is_monotonic_decreasing
    np.testing.assert_allclose(found.sort_values("row")["prediction"], model.predict(rows))


def test_the_scale_of_the_label_changes_nothing(folder):
    table = pd.read_csv(folder / "three.csv")
    table.assign(age=1000 * table["age"]).to_csv(folder / "scaled.csv", index=False)
    for name in ("three", "scaled"):
        words = ["fit", f"{name}.csv", "--label", "age", "--kind", "regress", "--drop", "kind"]
        scarce(*words, "--out", "l.skops", "--force", cwd=folder)
        scarce("score", "l.skops", "three.csv", "--raw", "--out", f"{name}-l.csv", cwd=folder)
    found = [pd.read_csv(folder / f"{name}-l.csv")["prediction"] for name in ("three", "scaled")]
    np.testing.assert_allclose(found[1], 1000 * found[0], rtol=1e-2)


def test_a_choice_of_parameters(folder):
    for kind, label in (("classify", "kind"), ("regress", "income")):
        words = ["fit", "two.csv", "--label", label, "--kind", kind, "--tune", "--force"]
        out, _ = scarce(*words, "--out", "t.skops", cwd=folder)
        assert "tuned: C " in out


@pytest.mark.parametrize("options", [[], ["--tune"]], ids=["plain", "tuned"])
def test_one_row_of_a_class_cannot_be_held_out(folder, options):
    table = pd.read_csv(folder / "two.csv").dropna(subset="kind")
    few = pd.concat([table[table["kind"] == "x"], table[table["kind"] == "y"].head(1)])
    few.to_csv(folder / "lonely.csv", index=False)
    words = ["fit", "lonely.csv", "--label", "kind", "--kind", "classify", "--force", *options]
    out, _ = scarce(*words, "--out", "lonely.skops", cwd=folder)
    assert "too few rows to hold some out and judge by them\n" in out
    assert ("tuned: nothing; there are too few rows, or one row of a class" in out) == bool(options)
    assert library.load(folder / "lonely.skops").classes_.tolist() == ["x", "y"]
