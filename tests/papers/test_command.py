import json
import os
import sys

import pytest

from papers import PAPERS
from papers._command import main
from papers.data import DatasetNotFoundError
from tests.papers.toy import explode, toy


@pytest.fixture
def toy_paper(monkeypatch):
    monkeypatch.setitem(PAPERS, "uoct", toy())


def test_tables_report_and_cells_are_left_behind(toy_paper, tmp_path, capsys):
    assert main(["uoct", "--jobs", "1", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "| size 3" in printed.out
    assert "2 of 6 repetitions were run" in printed.out
    assert (tmp_path / "report.html").as_uri() in printed.out
    assert "toy: 4 of 4 cells" in printed.err
    assert len(list((tmp_path / "cells").rglob("*.json"))) == 4
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["command"].startswith("python -m papers uoct --quick --jobs 1 --seed 0")
    assert results["papers"][0]["tables"][0]["scores"]
    assert "| size 3" in (tmp_path / "toy.md").read_text()
    assert "Sizes" in (tmp_path / "report.html").read_text()


def test_the_command_of_all_papers_can_be_given_again(monkeypatch, tmp_path):
    for name in PAPERS:
        monkeypatch.setitem(PAPERS, name, toy())
    assert main(["all", "--jobs", "1", "--out", str(tmp_path)]) == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["command"] == "python -m papers all --quick --jobs 1 --seed 0"
    assert len(results["papers"]) == len(PAPERS)


def test_each_data_set_is_looked_for_once(monkeypatch, tmp_path):
    looked = []
    monkeypatch.setattr("papers._command.load_dataset", looked.append)
    settings = {f"size {size}": {"size": size, "data": "letter"} for size in (3, 7)}
    monkeypatch.setitem(PAPERS, "uoct", toy(settings=settings))
    assert main(["uoct", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert looked == ["letter"]


def test_nothing_at_hand_is_an_error(monkeypatch, tmp_path, capsys):
    def fail(name):
        raise DatasetNotFoundError(f"{name} is nowhere")

    monkeypatch.setattr("papers._command.load_dataset", fail)
    monkeypatch.setitem(PAPERS, "uoct", toy(needs=("letter",)))
    assert main(["uoct", "--jobs", "1", "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert "Sizes: letter is nowhere" in printed.out
    assert "nothing was run" in printed.err.splitlines()[-1]


def test_files_are_written_before_the_tables_are_printed(toy_paper, monkeypatch, tmp_path):
    def hang_up(text):
        raise BrokenPipeError

    monkeypatch.setattr("papers._output.paper_as_text", lambda *args, **options: "text")
    monkeypatch.setattr("papers._output.print", hang_up, raising=False)
    monkeypatch.setattr("papers._command.Progress", lambda: lambda *step: None)
    with pytest.raises(BrokenPipeError):
        main(["uoct", "--traceback", "--jobs", "1", "--out", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} >= {"toy.md", "results.json", "report.html"}


def test_tables_fit_the_terminal_and_files_keep_their_form(
    toy_paper, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    assert main(["uoct", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert "| size 3 | plain " in capsys.readouterr().out
    assert "| size 3 | plain " not in (tmp_path / "toy.md").read_text()


def test_full_runs_every_cell(toy_paper, tmp_path, capsys):
    assert main(["uoct", "--full", "--jobs", "2", "--out", str(tmp_path)]) == 0
    assert len(list((tmp_path / "cells").rglob("*.json"))) == 18


def test_an_error_in_a_cell_is_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(
        PAPERS, "uoct", toy(settings={"size 3": {}}, quick_settings=(), run=explode)
    )
    assert main(["uoct", "--jobs", "1", "--out", str(tmp_path)]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error == "papers: error: sizes, size 3, repetition 0: no such luck"


def test_data_folder(toy_paper, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SCARCE_DATA", "")  # so that what the command sets is taken back
    arguments = ["uoct", "--jobs", "1", "--out", str(tmp_path / "out"), "--data"]
    assert main([*arguments, str(tmp_path / "nowhere")]) == 1
    assert "--data names no folder" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path)]) == 0
    assert os.environ["SCARCE_DATA"] == str(tmp_path)


def test_folder_of_an_earlier_run(toy_paper, tmp_path, capsys):
    arguments = ["uoct", "--jobs", "1", "--out", str(tmp_path / "out"), "--earlier"]
    assert main([*arguments, str(tmp_path / "nowhere")]) == 1
    assert "--earlier names no folder" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path)]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["nobody"],
        [],
        ["uoct", "--jobs", "0"],
        ["uoct", "--quick", "--full"],
        ["uoct", "--seed", "x"],
    ],
)
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m papers" in capsys.readouterr().err
