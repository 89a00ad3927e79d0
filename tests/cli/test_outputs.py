"""Outputs that end, are closed or full: nothing is half done, and no traceback. Real processes."""

import json
import os
import signal
import subprocess
import zipfile

import numpy as np
import pandas as pd
import pytest

import scarce as library
from scarce.cli import main
from tests.cli.processes import COMMAND, errors_of, scarce, small_disk, started
from tests.cli.tables import customers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    customers(60).to_csv(folder / "good.csv", index=False)
    assert main(["fit", str(folder / "good.csv"), "--out", str(folder / "model.skops")]) == 0
    return folder


def test_ctrl_c_while_it_learns(folder):
    rows = np.random.default_rng(0).normal(size=(4000, 8)).round(6)
    table = pd.DataFrame(rows, columns=list("abcdefgh"))
    table.to_csv(folder / "long.csv", index=False)
    (folder / "old.skops").write_text("old")
    with started("fit", "long.csv", "--out", "old.skops", "--force", cwd=folder) as process:
        for line in process.stdout:  # the plan is printed before the fits begin
            if line.startswith("h "):
                break
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert errors_of(process.stderr.read()) == "scarce: interrupted\n"
    assert (folder / "old.skops").read_text() == "old"
    assert not list(folder.glob(".*"))


def test_ctrl_c_while_it_scores(folder):
    table = pd.concat([customers(1000)] * 200)
    table.assign(more=1).to_csv(folder / "many.csv", index=False)
    process = started("score", "model.skops", "many.csv", "--out", "s.csv", cwd=folder)
    with process:
        assert "the model does not know" in process.stdout.readline()  # before the first row
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert errors_of(process.stderr.read()) == "scarce: interrupted\n"
    assert not (folder / "s.csv").exists()
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at the first line"])
def test_a_reader_that_left_does_not_stop_the_work(folder, unbuffered):
    out = folder / f"read{unbuffered}.skops"
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with started("fit", "good.csv", "--out", out.name, cwd=folder, env=environment) as process:
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert errors_of(process.stderr.read()) == ""
    library.load(out)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_outputs(folder, closed):
    line = f"{' '.join(COMMAND)} info model.skops {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    line = f"{' '.join(COMMAND)} info nowhere.skops {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_a_full_output_is_one_line(folder):
    line = f"{' '.join(COMMAND)} info model.skops > /dev/full"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 3
    assert done.stderr == b"scarce: error: standard output: No space left on device\n"


def test_a_report_that_cannot_be_written_leaves_no_model(folder):
    words = ["fit", "good.csv", "--out", "both.skops", "--report", "both.html"]
    scarce(*words, cwd=folder)
    model, report = folder / "both.skops", folder / "both.html"
    assert model.stat().st_size < report.stat().st_size
    between = (model.stat().st_size + report.stat().st_size) // 2
    model.unlink()
    report.write_text("old")
    _, error = scarce(*words, "--force", cwd=folder, code=3, before=small_disk(between))
    assert error == "scarce: error: both.html: File too large\n"
    assert not model.exists()
    assert report.read_text() == "old"
    assert not list(folder.glob(".*"))


def test_a_model_that_cannot_be_written_leaves_no_report(folder, monkeypatch, capsys):
    def full(*arguments):
        raise OSError(28, "No space left on device", "m.skops")

    monkeypatch.chdir(folder)
    monkeypatch.setattr("scarce._model_files._files.write_whole", full)
    assert main(["fit", "good.csv", "--out", "m.skops", "--report", "r.html"]) == 3
    assert errors_of(capsys.readouterr().err) == "scarce: error: m.skops: No space left on device\n"
    assert not (folder / "r.html").exists()
    assert not list(folder.glob(".*"))


def test_scores_and_their_page_are_written_together(folder):
    words = ["score", "model.skops", "good.csv", "--out", "u.csv", "--report", "u.html"]
    scarce(*words, cwd=folder)
    sizes = [(folder / name).stat().st_size for name in ("u.csv", "u.html")]
    (folder / "u.csv").unlink()
    (folder / "u.html").unlink()
    limit = small_disk(sum(sizes) // 2)
    _, error = scarce(*words, cwd=folder, code=3, before=limit)
    assert error == "scarce: error: u.html: File too large\n"
    assert not (folder / "u.csv").exists()


CELLS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "plain", "-12.5", "+49"]


def test_cells_that_a_spreadsheet_would_run(folder):
    table = customers(len(CELLS), seed=3).assign(customer=CELLS)
    table.to_csv(folder / "cells.csv", index=False)
    words = ["score", "model.skops", "cells.csv", "--id", "customer", "--order", "file"]
    scarce(*words, "--out", "safe.csv", cwd=folder)
    safe = pd.read_csv(folder / "safe.csv", dtype=str)["customer"].tolist()
    assert safe == [*(f"'{cell}" for cell in CELLS[:5]), *CELLS[5:]]
    for more, reader in (
        (["--out", "raw.csv", "--raw"], pd.read_csv),
        (["--out", "p.parquet"], None),
    ):
        scarce(*words, *more, cwd=folder)
        path = folder / more[1]
        found = reader(path, dtype=str) if reader else pd.read_parquet(path)
        assert found["customer"].tolist() == CELLS


def test_nothing_in_a_file_reaches_the_terminal_as_a_command(folder):
    title, clear = "\x1b]0;owned\x07", "\x9b2J"
    table = customers(30).rename(columns={"age": f"age{title}{clear}"})
    table.to_csv(folder / "named.csv", index=False)
    out, _ = scarce("fit", "named.csv", "--out", "named.skops", cwd=folder)
    assert r"age\x1b]0;owned\x07\x9b2J" in out
    with zipfile.ZipFile(folder / "named.skops") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    card = json.loads(members["scarce.json"])
    card["fit"]["why"] = f"{title}because\r"
    members["scarce.json"] = json.dumps(card).encode()
    with zipfile.ZipFile(folder / "named.skops", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    out, _ = scarce("info", "named.skops", cwd=folder)
    assert r"chosen because: \x1b]0;owned\x07because\x0d" in out
    card["libraries"]["scarce"], card["format"] = title, 99
    members["scarce.json"] = json.dumps(card).encode()
    with zipfile.ZipFile(folder / "named.skops", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    _, err = scarce("info", "named.skops", cwd=folder, code=4)
    assert r"written by a newer scarce (\x1b]0;owned\x07)" in err
