"""The README is short, its examples print what it shows, and its commands are where CI looks."""

import re
from pathlib import Path

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
