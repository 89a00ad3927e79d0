"""Parts of a run: one table, one setting, some methods, another grid."""

import json

import pytest

from papers import PAPERS
from papers._choice import narrowed, with_methods
from papers._command import main
from tests.papers.toy import run_toy, toy


@pytest.mark.parametrize(
    ("paper", "only", "settings"),
    [
        ("svmc", "table1/letter_A", ["letter A"]),
        ("svmc", "table-1/course", ["course"]),  # the whole name before beginnings
        ("uoct", "noise/RT.people(1), 80 % noisy", ["RT.people(1), 80 % noisy"]),
        ("oc-stm", "acceptance/ν = 0.3", ["ν = 0.3"]),
    ],
)
def test_one_setting(paper, only, settings):
    (experiment,) = narrowed(PAPERS[paper], only).experiments
    assert list(experiment.settings) == settings
    assert not experiment.quick_settings
    assert {key[0] for key in experiment.printed} <= set(settings)


def test_beginnings_and_whole_tables():
    (levels,) = narrowed(PAPERS["uoct"], "noise/rt.people(1)").experiments
    assert len(levels.settings) == 5
    (table,) = narrowed(PAPERS["tgplm"], "moons").experiments
    assert len(table.settings) == 10
    assert narrowed(PAPERS["tgplm"], None) is PAPERS["tgplm"]


@pytest.mark.parametrize(
    ("only", "reason"), [("tables", "must name a table"), ("sizes/9", "must name a setting")]
)
def test_names_that_are_not_there(only, reason):
    with pytest.raises(ValueError, match=f"{reason} of .*; got"):
        narrowed(toy(), only)
    with pytest.raises(ValueError, match="plain; better; got 'nobody'"):
        with_methods(toy(), ["nobody"])


def test_methods_are_added_to_the_files(tmp_path):
    first = run_toy(tmp_path, methods=["plain"])
    assert {score.method for score in first.tables[0].scores} == {"plain"}
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    again = run_toy(tmp_path, methods=["plain"])
    assert again.tables == first.tables
    assert files == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    both = run_toy(tmp_path)
    assert both.tables == run_toy(tmp_path / "at once").tables
    content = json.loads(next(iter(files)).read_text())
    assert set(content["methods"]) == {"plain", "better"}


def test_grids_have_files_of_their_own(tmp_path):
    quick, whole = run_toy(tmp_path), run_toy(tmp_path, grid="paper")
    means = [
        {s.setting: s.mean for s in result.tables[0].scores if s.protocol == "best of grid"}
        for result in (quick, whole)
    ]
    assert means[1]["size 3"] == pytest.approx(means[0]["size 3"] + 7.0)  # 9 instead of 2
    assert run_toy(tmp_path).tables == quick.tables


def test_command(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(PAPERS, "uoct", toy())
    options = ["--only", "sizes/size5", "--methods", "plain", "--grid", "paper"]
    assert main(["uoct", *options, "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert len(list((tmp_path / "cells").rglob("*-paper.json"))) == 2
    command = json.loads((tmp_path / "results.json").read_text())["command"]
    assert command.endswith("--only sizes/size5 --grid paper --methods plain")
