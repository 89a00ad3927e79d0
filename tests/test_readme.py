"""The README is short, its examples print what it shows, and its commands are where CI looks."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scarce import ScarceDataWarning
from scarce.cli import main

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text("utf-8"), re.M | re.S)


def test_python_examples_print_what_is_shown(capsys):
    assert blocks("python")
    for code, printed in zip(blocks("python"), blocks("text"), strict=True):
        exec(code, {})
        assert capsys.readouterr().out == printed


def test_the_readme_is_short():
    assert len(README.read_text("utf-8").splitlines()) <= 120


def test_page_one_has_the_same_example():
    page = (README.parent / "docs" / "index.md").read_text("utf-8")
    for shown in blocks("python") + blocks("text"):
        assert shown in page


def test_first_two_shell_blocks_run_the_demo_and_the_tests():
    run, test, *_ = blocks("shell")
    assert run.splitlines()[-1].startswith("scarce ")
    assert test.splitlines()[-1] == "pytest"


@pytest.mark.filterwarnings("ignore", category=ScarceDataWarning)
def test_commands_on_tables_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.normal(size=(240, 3)), columns=["a", "b", "c"])
    rows[:60].to_csv("good.csv", index=False)
    (rows[60:] + 1.0).to_csv("unknown.csv", index=False)
    rows[:30].to_csv("new.csv", index=False)
    ward = np.arange(240) % 24
    ill = np.bincount(ward, rows["a"] > 0) / 10
    rows.assign(ward=[f"ward {each}" for each in ward], ill=ill[ward]).to_csv(
        "rows.csv", index=False
    )
    commands = [shlex.split(line, comments=True) for line in blocks("shell")[2].splitlines()]
    assert [command[:2] for command in commands] == [["scarce", "fit"]] * 3 + [["scarce", "score"]]
    for _, *command in commands:
        assert main([*command, "--force"]) == 0
    assert len(pd.read_csv("scores.csv")) == 30
