"""`scarce score --monitor`: evidence of a change from one table to the next."""

import json

import numpy as np
import pandas as pd
import pytest

from scarce.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("monitor")
    random = np.random.default_rng(0)
    for name, n, moved in (("good", 150, 0.0), ("week1", 80, 0.0), ("week2", 200, 1.5)):
        rows = pd.DataFrame(random.normal(moved, 1.0, size=(n, 3)), columns=["a", "b", "c"])
        rows.to_csv(folder / f"{name}.csv", index=False)
    main(["fit", str(folder / "good.csv"), "--out", str(folder / "m.skops")])
    main(["fit", str(folder / "week1.csv"), "--out", str(folder / "other.skops")])
    return folder


def score(folder, table, *more, model="m"):
    paths = [str(folder / f"{model}.skops"), str(folder / f"{table}.csv")]
    return main(["score", *paths, "--out", str(folder / "list.csv"), "--force", *more])


def test_evidence_is_kept_between_tables(folder, capsys):
    state = folder / "state.json"
    option = ("--monitor", str(state))
    assert score(folder, "week1", *option) == 0
    assert "monitor: 80 rows so far, evidence of a change" in capsys.readouterr().out
    assert json.loads(state.read_text())["n_rows"] == 80
    assert score(folder, "week2", *option, "--fail-on-drift") == 6
    assert "alarm at row" in capsys.readouterr().err
    kept = json.loads(state.read_text())
    assert kept["n_rows"] == 280
    assert kept["alarm"] >= 80


def test_what_cannot_be_monitored_is_said(folder, capsys, tmp_path):
    state = tmp_path / "state.json"
    assert score(folder, "week1", "--monitor", str(state)) == 0
    assert score(folder, "week1", "--monitor", str(state), model="other") == 2
    assert "another model" in capsys.readouterr().err
    state.write_text("{broken")
    assert score(folder, "week1", "--monitor", str(state)) == 2
    assert "--monitor" in capsys.readouterr().err
