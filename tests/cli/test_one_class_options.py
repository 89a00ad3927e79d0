"""What `scarce fit` and `scarce score` do with rows that may not belong to the class."""

import json

import numpy as np
import pandas as pd
import pytest

import scarce
from scarce.cli import main
from tests.cli.tables import images


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of one class, some rows of which are of another, and far rows."""
    folder = tmp_path_factory.mktemp("dirty")
    random = np.random.default_rng(0)
    values = np.r_[random.normal(size=(95, 2)), random.normal(6.0, 0.1, size=(5, 2))]
    table = pd.DataFrame(values, columns=["a", "b"])
    table.insert(0, "name", [f"n{number:03d}" for number in range(100)])
    table.to_csv(folder / "dirty.csv", index=False)
    far = pd.DataFrame({"a": [0.0, 60.0, 1e6, 600.0], "b": [0.0, 60.0, 1e6, 600.0]})
    far.to_csv(folder / "far.csv", index=False)
    return folder


def run(folder, *options):
    names = (".csv", ".skops", ".html", ".npz")
    return main([str(folder / each) if each.endswith(names) else each for each in options])


@pytest.mark.parametrize("given", ["0.05", "auto"])
def test_odd_rows_are_left_out_counted_and_listed(folder, given, capsys):
    command = ["fit", "dirty.csv", "--id", "name", "--out", "m.skops", "--report", "m.html"]
    assert run(folder, *command, "--contamination", given, "--force") == 0
    printed = capsys.readouterr().out
    model = scarce.load(folder / "m.skops")
    names = [f"n{row:03d}" for row in model.dropped_]
    of_cluster = set(range(95, 100)) & set(model.dropped_.tolist())
    assert len(of_cluster) == 5 if given != "auto" else len(of_cluster) >= 4
    line = next(each for each in printed.splitlines() if "not learnt from" in each)
    assert line.startswith(f"{len(names)} of 100 rows may not belong to the class")
    assert f"name {', '.join(names[:8])}" in line
    page = (folder / "m.html").read_text()
    assert "Rows that were not learnt from" in page
    assert ", ".join(names) in page
    assert run(folder, "info", "m.skops", "--json") == 0
    assert json.loads(capsys.readouterr().out)["learnt from"]["rows left out"] == names
    if given != "auto":
        both = pd.DataFrame({"a": [6.0, 0.0], "b": [6.0, 0.0]})
        assert model.predict(both).tolist() == [-1, 1]


def test_nothing_is_left_out_unasked(folder, capsys):
    assert run(folder, "fit", "dirty.csv", "--out", "n.skops", "--report", "n.html") == 0
    assert "not learnt from" not in capsys.readouterr().out
    assert "not learnt from" not in (folder / "n.html").read_text()
    model = scarce.load(folder / "n.skops")
    assert model.dropped_.size == 0
    # Far rows have one score, and keep their order all the same.
    assert run(folder, "score", "n.skops", "far.csv", "--out", "s.csv", "--report", "s.html") == 0
    found = pd.read_csv(folder / "s.csv")
    assert found["row"].tolist() == [4, 5, 3, 2]  # by the header, the first is row 2
    assert found["score"][:3].nunique() == 1
    ratio = found["distance_ratio"].to_numpy()
    assert ratio[3] < 1  # inside
    # 1e6 and 600 are away from the class nearly in proportion.
    assert ratio[0] / ratio[1] == pytest.approx(1e6 / 600, rel=0.02)
    assert f">{ratio[0]:.3g}<" in (folder / "s.html").read_text()
    held_out = (folder / "n.html").read_text()
    assert 'data-name="distance">' in held_out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--contamination", "0.5"], "must be 0, auto or a proportion below 0.5, got 0.5"),
        (["--contamination", "some"], "must be 0, auto or a proportion, got 'some'"),
        (
            ["--contamination", "0.1", "--label", "a", "--kind", "regress"],
            "--contamination is for one-class and transfer, not for regress",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(folder, options, message, capsys):
    try:
        code = run(folder, "fit", "dirty.csv", "--out", "x.skops", *options)
    except SystemExit as exit_:  # of argparse
        code = exit_.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert not (folder / "x.skops").exists()


def test_images_are_compared_by_their_pixels(tmp_path, capsys):
    X = images(30)
    np.savez(tmp_path / "images.npz", X=X, name=[f"i{number}" for number in range(30)])
    odd = X[:4].copy()
    odd[0, 1, 2] += 3.0
    np.savez(tmp_path / "new.npz", X=odd)
    command = ["fit", "images.npz", "--id", "name", "--out", "m.skops", "--report", "m.html"]
    assert run(tmp_path, *command) == 0
    printed = capsys.readouterr().out
    first = "OneClassSVM, calibrated by held-out rows, because images.npz holds 30 samples of 3 x 4"
    assert printed.startswith(first)
    assert "--kind tensor" in printed
    command = ["score", "m.skops", "new.npz", "--out", "s.csv", "--explain", "1"]
    assert run(tmp_path, *command) == 0
    found = pd.read_csv(tmp_path / "s.csv")
    assert found["row"][0] == 1
    assert found["decision"][0] == "rejected"
    assert found["reason_1"][0].startswith("[1, 2] ")
    model = scarce.load(tmp_path / "m.skops")
    again = found.sort_values("row")["score"]
    np.testing.assert_allclose(again, model.decision_function(odd.reshape(4, -1)), rtol=1e-3)
    np.savez(tmp_path / "wide.npz", X=odd[:, :, :2])
    assert run(tmp_path, "score", "m.skops", "wide.npz", "--out", "w.csv") == 3
    assert "holds samples of (3, 2), the model takes (3, 4)" in capsys.readouterr().err
    assert run(tmp_path, "export", "m.skops", "--onnx", str(tmp_path / "m.onnx")) == 0


def test_few_rows_promise_no_more_than_they_can(folder, capsys):
    pd.read_csv(folder / "dirty.csv").head(4).to_csv(folder / "four.csv", index=False)
    assert run(folder, "fit", "four.csv", "--id", "name", "--out", "four.skops") == 0
    printed = capsys.readouterr()
    # The lowest of four held-out scores is the threshold: one new row in five lies below.
    assert "about 20% of new rows of the class will be rejected" in printed.out
    assert "not attainable with 4 rows: the least is 0.2 " in printed.err
